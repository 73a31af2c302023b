"""Gateway bots of several libraries, each unchanged in a process of its own, so that it can be killed like one."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from harness import number
from libraries import node_modules

HERE = Path(__file__).parent


class GatewayBot:
    """A running bot, and all that its library told so far."""

    library: str

    def __init__(self, base: str, token: str, **options) -> None:
        self.arguments = [self.library, base, token, json.dumps(options)]
        self.events: list[dict] = []

    def command(self) -> list[str]:
        raise NotImplementedError

    async def __aenter__(self) -> "GatewayBot":
        self.changed = asyncio.Event()
        self.process = await asyncio.create_subprocess_exec(
            *self.command(), *self.arguments,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 27,
            env={**os.environ, "NODE_PATH": node_modules()},
        )  # fmt: skip
        self.reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.process.returncode is None:
            self.process.stdin.close()
            try:
                await asyncio.wait_for(self.process.wait(), 20)
            except TimeoutError:
                self.process.kill()
        await self.reader

    async def _read(self) -> None:
        async for line in self.process.stdout:
            self.events.append(json.loads(line))
            self.changed.set()

    async def kill(self) -> None:
        """As a crash, or an operator in a hurry."""
        self.process.kill()
        await self.process.wait()
        await self.reader

    def tell(self, call: str, argument: object = None) -> None:
        self.process.stdin.write(json.dumps({"call": call, "argument": argument}).encode() + b"\n")

    def of(self, event: str) -> list[dict]:
        return [one for one in self.events if one["event"] == event]

    def texts(self) -> list[int]:
        """The numbers of the messages that it was shown, in its order."""
        return [number(one["text"]) for one in self.of("message")]

    def sequence(self, shard: int = 0) -> list[int]:
        """The numbers of all dispatches that it read."""
        return [one["s"] for one in self.of("raw") if one.get("shard", 0) == shard]

    async def until(self, holds, real_seconds: float = 60) -> None:
        """Waits until it holds of what was told; with all that was told in the error where it never does."""
        async def wait():
            while not holds():
                self.changed.clear()
                if holds():
                    return
                await asyncio.wait_for(self.changed.wait(), 1) if self.process.returncode is None else None
                assert self.process.returncode is None or holds(), f"it ended: {self.events[-20:]}"

        deadline = asyncio.get_running_loop().time() + real_seconds
        while True:
            try:
                return await wait()
            except TimeoutError:
                assert asyncio.get_running_loop().time() < deadline, f"it never came to that: {self.events[-20:]}"

    async def ready(self, shards: int = 1, real_seconds: float = 60) -> None:
        await self.until(lambda: len({one["shard"] for one in self.of("ready")}) >= shards, real_seconds)


class DiscordJsBot(GatewayBot):
    """discord.js: HELLO, IDENTIFY, and a new connection 15 s after an IDENTIFY without READY."""

    library = "discord.js"

    def command(self):
        return ["node", str(HERE.parent / "node" / "gateway_bot.cjs")]


class OceanicJsBot(DiscordJsBot):
    """oceanic.js: cuts its socket on op 7, IDENTIFYs on the same connection after op 9."""

    library = "oceanic.js"


class DiscordPyBot(GatewayBot):
    """discord.py: zlib-stream, a heartbeat before IDENTIFY, two addresses."""

    library = "discord.py"

    def command(self):
        return [sys.executable, str(HERE / "py_bot.py")]


GATEWAY_LIBRARIES = {"discord_js": DiscordJsBot, "discord_py": DiscordPyBot, "oceanic_js": OceanicJsBot}
