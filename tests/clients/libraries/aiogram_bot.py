"""aiogram."""

from __future__ import annotations

import asyncio
from io import BytesIO

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import AiogramError, TelegramRetryAfter
from aiogram.types import BufferedInputFile, InputMediaPhoto

from . import Failed, Library, Refused


class WithHeaders(AiohttpSession):
    """The library's own session, with headers of ours on every call."""

    def __init__(self, added: dict[str, str], **session) -> None:
        super().__init__(**session)
        self.added = added

    async def create_session(self):
        session = await super().create_session()
        session.headers.update(self.added)
        return session


class Aiogram(Library):
    name = "aiogram"
    connections = 100

    def __init__(self, base, token, patient=False) -> None:
        super().__init__(base, token, patient)
        api = TelegramAPIServer.from_base(base)
        session = WithHeaders(self.headers, api=api, timeout=300) if patient else AiohttpSession(api=api)
        self.bot = Bot(token, session=session)

    async def __aexit__(self, *_):
        await self.bot.session.close()

    async def _call(self, call):
        try:
            return await call
        except TelegramRetryAfter as error:
            raise Refused(error.retry_after) from error
        except (AiogramError, asyncio.TimeoutError) as error:
            raise Failed(f"{type(error).__name__}: {error}") from error

    async def me(self):
        return (await self._call(self.bot.get_me())).model_dump()

    async def send(self, chat, text):
        return (await self._call(self.bot.send_message(chat, text))).message_id

    async def edit(self, chat, message, text):
        await self._call(self.bot.edit_message_text(text, chat_id=chat, message_id=message))

    async def delete(self, chat, message):
        await self._call(self.bot.delete_message(chat, message))

    async def typing(self, chat, thread=None):
        return await self._call(self.bot.send_chat_action(chat, "typing", message_thread_id=thread))

    async def document(self, chat, name, content):
        return (await self._call(self.bot.send_document(chat, BufferedInputFile(content, name)))).message_id

    async def poll(self, chat, question, options):
        return (await self._call(self.bot.send_poll(chat, question, options))).message_id

    async def album(self, chat, photos):
        media = [InputMediaPhoto(media=BufferedInputFile(photo, f"{at}.png")) for at, photo in enumerate(photos)]
        return [message.message_id for message in await self._call(self.bot.send_media_group(chat, media))]

    async def updates(self):
        return await self._call(self.bot.get_updates(timeout=0))

    async def answer_callback(self, query):
        return await self._call(self.bot.answer_callback_query(query))

    async def download(self, file_id):
        file = await self._call(self.bot.get_file(file_id))
        content = BytesIO()
        await self._call(self.bot.download_file(file.file_path, content))
        return content.getvalue()
