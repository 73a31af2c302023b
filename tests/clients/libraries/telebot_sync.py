"""pyTelegramBotAPI with threads. Its addresses and its way of sending are globals of the module `apihelper`, so a
process has one of it."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import requests
import telebot
from telebot import apihelper
from telebot.types import InputMediaPhoto, InputPollOption

from . import Failed, Library, Refused


class TelebotSync(Library):
    name = "pyTelegramBotAPI"

    def __init__(self, base, token, patient=False) -> None:
        super().__init__(base, token, patient)
        apihelper.API_URL = base + "/bot{0}/{1}"
        apihelper.FILE_URL = base + "/file/bot{0}/{1}"
        apihelper.CUSTOM_REQUEST_SENDER = self._with_headers if patient else None
        apihelper.READ_TIMEOUT = 300 if patient else 30
        self.bot = telebot.TeleBot(token, threaded=False)
        self.threads = ThreadPoolExecutor(max_workers=400)

    async def __aexit__(self, *_):
        self.threads.shutdown(wait=False, cancel_futures=True)
        apihelper.CUSTOM_REQUEST_SENDER = None

    def _with_headers(self, method, url, **kwargs):
        kwargs["headers"] = {**(kwargs.get("headers") or {}), **self.headers}
        return requests.request(method, url, **kwargs)

    async def _call(self, call, *args, **kwargs):
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self.threads, lambda: call(*args, **kwargs))
        except apihelper.ApiTelegramException as error:
            if error.error_code == 429:
                raise Refused(error.result_json["parameters"]["retry_after"]) from error
            raise Failed(f"{error.error_code}: {error.description}") from error
        except requests.RequestException as error:
            raise Failed(f"{type(error).__name__}: {error}") from error

    async def me(self):
        return (await self._call(self.bot.get_me)).to_dict()

    async def send(self, chat, text):
        return (await self._call(self.bot.send_message, chat, text)).message_id

    async def send_and_leave(self, chat, text, after: float):
        """A thread cannot be cancelled: this one leaves by the library's own timeout of a call."""
        return await self._call(self.bot.send_message, chat, text, timeout=after)

    async def edit(self, chat, message, text):
        await self._call(self.bot.edit_message_text, text, chat_id=chat, message_id=message)

    async def delete(self, chat, message):
        await self._call(self.bot.delete_message, chat, message)

    async def typing(self, chat, thread=None):
        return await self._call(self.bot.send_chat_action, chat, "typing", message_thread_id=thread)

    async def document(self, chat, name, content):
        return (await self._call(self.bot.send_document, chat, content, visible_file_name=name)).message_id

    async def poll(self, chat, question, options):
        options = [InputPollOption(option) for option in options]
        return (await self._call(self.bot.send_poll, chat, question, options)).message_id

    async def album(self, chat, photos):
        media = [InputMediaPhoto(photo) for photo in photos]
        return [message.message_id for message in await self._call(self.bot.send_media_group, chat, media)]

    async def updates(self):
        return await self._call(self.bot.get_updates, long_polling_timeout=0)

    async def answer_callback(self, query):
        return await self._call(self.bot.answer_callback_query, query)

    async def download(self, file_id):
        file = await self._call(self.bot.get_file, file_id)
        return await self._call(self.bot.download_file, file.file_path)
