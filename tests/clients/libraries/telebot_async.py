"""pyTelegramBotAPI with asyncio. Its addresses are globals of the module `asyncio_helper`."""

from __future__ import annotations

import asyncio

import aiohttp
from telebot import asyncio_helper
from telebot.async_telebot import AsyncTeleBot
from telebot.types import InputMediaPhoto, InputPollOption

from . import Failed, Library, Refused


class TelebotAsync(Library):
    name = "pyTelegramBotAPI async"
    connections = 50

    def __init__(self, base, token, patient=False) -> None:
        super().__init__(base, token, patient)
        asyncio_helper.API_URL = base + "/bot{0}/{1}"
        asyncio_helper.FILE_URL = base + "/file/bot{0}/{1}"
        self.bot = AsyncTeleBot(token)

    async def __aenter__(self):
        # The session is a global of the library and belongs to one event loop.
        asyncio_helper.session_manager.session = None
        session = await asyncio_helper.session_manager.get_session()
        session.headers.update(self.headers)
        return self

    async def __aexit__(self, *_):
        await asyncio_helper.session_manager.session.close()
        asyncio_helper.session_manager.session = None

    async def _call(self, call):
        try:
            return await call
        except asyncio_helper.ApiTelegramException as error:
            if error.error_code == 429:
                raise Refused(error.result_json["parameters"]["retry_after"]) from error
            raise Failed(f"{error.error_code}: {error.description}") from error
        except (asyncio_helper.RequestTimeout, aiohttp.ClientError, asyncio.TimeoutError) as error:
            raise Failed(f"{type(error).__name__}: {error}") from error

    async def me(self):
        return (await self._call(self.bot.get_me())).to_dict()

    async def send(self, chat, text):
        return (await self._call(self.bot.send_message(chat, text))).message_id

    async def edit(self, chat, message, text):
        await self._call(self.bot.edit_message_text(text, chat_id=chat, message_id=message))

    async def delete(self, chat, message):
        await self._call(self.bot.delete_message(chat, message))

    async def typing(self, chat, thread=None):
        return await self._call(self.bot.send_chat_action(chat, "typing", message_thread_id=thread))

    async def document(self, chat, name, content):
        return (await self._call(self.bot.send_document(chat, content, visible_file_name=name))).message_id

    async def poll(self, chat, question, options):
        options = [InputPollOption(option) for option in options]
        return (await self._call(self.bot.send_poll(chat, question, options))).message_id

    async def album(self, chat, photos):
        media = [InputMediaPhoto(photo) for photo in photos]
        return [message.message_id for message in await self._call(self.bot.send_media_group(chat, media))]

    async def updates(self):
        return await self._call(self.bot.get_updates(timeout=0))

    async def answer_callback(self, query):
        return await self._call(self.bot.answer_callback_query(query))

    async def download(self, file_id):
        file = await self._call(self.bot.get_file(file_id))
        return await self._call(self.bot.download_file(file.file_path))
