"""grammY, in a Node process of its own."""

from __future__ import annotations

import base64

from . import Library
from .told import NodeBot


class Grammy(NodeBot, Library):
    name = "grammY"
    program = "grammy_bot.cjs"

    async def me(self):
        return await self._call("getMe")

    async def send(self, chat, text):
        return (await self._call("sendMessage", chat_id=chat, text=text))["message_id"]

    async def edit(self, chat, message, text):
        await self._call("editMessageText", chat_id=chat, message_id=message, text=text)

    async def delete(self, chat, message):
        await self._call("deleteMessage", chat_id=chat, message_id=message)

    async def typing(self, chat, thread=None):
        args = {} if thread is None else {"message_thread_id": thread}
        return await self._call("sendChatAction", chat_id=chat, action="typing", **args)

    async def document(self, chat, name, content):
        encoded = base64.b64encode(content).decode()
        return (await self._call("document", chat=chat, name=name, content=encoded))["message_id"]

    async def poll(self, chat, question, options):
        return (await self._call("poll", chat=chat, question=question, options=options))["message_id"]

    async def album(self, chat, photos):
        encoded = [base64.b64encode(photo).decode() for photo in photos]
        return [message["message_id"] for message in await self._call("album", chat=chat, photos=encoded)]

    async def updates(self):
        return await self._call("getUpdates", timeout=0)

    async def answer_callback(self, query):
        return await self._call("answerCallbackQuery", callback_query_id=query)

    async def download(self, file_id):
        return base64.b64decode(await self._call("download", file_id=file_id))
