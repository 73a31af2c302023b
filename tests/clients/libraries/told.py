"""A library of another language's, in a process of its own: one JSON object a line each way."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from pathlib import Path

from . import Failed, Refused, node_modules

PROGRAMS = Path(__file__).parent.parent / "node"


class ToldBot:
    """Mixed into a bot whose calls another program makes."""

    def command(self) -> list[str]:
        """That program; the address, the token and the headers to add are its arguments."""
        raise NotImplementedError

    async def __aenter__(self):
        self.answers: dict[int, asyncio.Future] = {}
        self.ids = itertools.count(1)
        self.process = await asyncio.create_subprocess_exec(
            *self.command(), self.base, self.token, json.dumps(self.headers),
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
                waiting.set_exception(Failed("its process ended"))

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
            return answer.get("ok")
        if "retry_after" in answer:
            raise Refused(answer["retry_after"])
        raise Failed(answer["error"], answer.get("status"))


class NodeBot(ToldBot):
    """Of Node's: it names its `program`."""

    program: str

    def command(self):
        return ["node", str(PROGRAMS / self.program)]
