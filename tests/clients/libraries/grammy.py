"""grammY, in a Node process of its own."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
from pathlib import Path

from . import Failed, Library, Refused, node_modules

PROGRAM = Path(__file__).parent.parent / "node" / "grammy_bot.cjs"


class Grammy(Library):
    name = "grammY"

    async def __aenter__(self):
        self.answers: dict[int, asyncio.Future] = {}
        self.ids = itertools.count(1)
        self.process = await asyncio.create_subprocess_exec(
            "node", str(PROGRAM), self.base, self.token, json.dumps(self.headers),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 27,
            env={**os.environ, "NODE_PATH": node_modules()},
        )  # fmt: skip
        self.reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_):
        self.process.stdin.close()
        await self.process.wait()
        await self.reader

    async def _read(self):
        async for line in self.process.stdout:
            answer = json.loads(line)
            waiting = self.answers.pop(answer["id"], None)
            if waiting is not None and not waiting.done():
                waiting.set_result(answer)
        for waiting in self.answers.values():
            if not waiting.done():
                waiting.set_exception(Failed("the Node process ended"))

    def _tell(self, line: dict) -> None:
        self.process.stdin.write(json.dumps(line).encode() + b"\n")

    async def _call(self, call: str, **args):
        number = next(self.ids)
        waiting = self.answers[number] = asyncio.get_running_loop().create_future()
        self._tell({"id": number, "call": call, "args": args})
        try:
            answer = await waiting
        except asyncio.CancelledError:
            self._tell({"leave": number})
            raise
        if "error" not in answer:
            return answer["ok"]
        if "retry_after" in answer:
            raise Refused(answer["retry_after"])
        raise Failed(answer["error"])

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

    async def album(self, chat, photos):
        encoded = [base64.b64encode(photo).decode() for photo in photos]
        return [message["message_id"] for message in await self._call("album", chat=chat, photos=encoded)]

    async def updates(self):
        return await self._call("getUpdates", timeout=0)

    async def answer_callback(self, query):
        return await self._call("answerCallbackQuery", callback_query_id=query)

    async def download(self, file_id):
        return base64.b64decode(await self._call("download", file_id=file_id))
