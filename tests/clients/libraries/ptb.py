"""python-telegram-bot."""

from __future__ import annotations

from telegram import Bot, InputMediaPhoto
from telegram.error import RetryAfter, TelegramError
from telegram.request import HTTPXRequest

from . import Failed, Library, Refused


class PythonTelegramBot(Library):
    name = "python-telegram-bot"

    def __init__(self, base, token, patient=False, **request) -> None:
        super().__init__(base, token, patient)
        if patient:
            request = {"read_timeout": 300, "httpx_kwargs": {"headers": self.headers}, **request}
        self.bot = Bot(
            token,
            base_url=f"{base}/bot",
            base_file_url=f"{base}/file/bot",
            request=HTTPXRequest(**request) if request else None,
        )

    async def __aenter__(self):
        # Not Bot.initialize: that calls getMe, and a scenario starts with no call made.
        for request in self.bot._request:
            await request.initialize()
        return self

    async def __aexit__(self, *_):
        for request in self.bot._request:
            await request.shutdown()

    async def _call(self, call):
        try:
            return await call
        except RetryAfter as error:
            told = error.retry_after
            raise Refused(told if isinstance(told, (int, float)) else told.total_seconds()) from error
        except TelegramError as error:
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
        return (await self._call(self.bot.send_document(chat, content, filename=name))).message_id

    async def poll(self, chat, question, options):
        return (await self._call(self.bot.send_poll(chat, question, options))).message_id

    async def album(self, chat, photos):
        media = [InputMediaPhoto(photo) for photo in photos]
        return [message.message_id for message in await self._call(self.bot.send_media_group(chat, media))]

    async def updates(self):
        return list(await self._call(self.bot.get_updates(timeout=0)))

    async def answer_callback(self, query):
        return await self._call(self.bot.answer_callback_query(query))

    async def download(self, file_id):
        file = await self._call(self.bot.get_file(file_id))
        return bytes(await self._call(file.download_as_bytearray()))
