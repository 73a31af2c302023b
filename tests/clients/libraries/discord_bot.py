"""One face for the Discord libraries, each unchanged and with its own defaults and its own limiter."""

from __future__ import annotations

import asyncio
import base64
import re
from abc import ABC, abstractmethod
from collections import defaultdict
from io import BytesIO

import aiohttp
import discord
from discord.http import HTTPClient, Route, handle_message_parameters
from discord.webhook.async_ import AsyncWebhookAdapter, interaction_response_params

from harness import number

from . import Failed, Refused, twilight_bot
from .told import NodeBot, ToldBot


class DiscordBot(ABC):
    """A bot of one library; ids are numbers."""

    # Calls of one bucket that it sends at once: these race each other.
    at_once: int

    def __init__(self, base: str, token: str) -> None:
        self.base, self.token, self.headers = base, token, {}
        # The numbers of the texts for each channel, in the order in which the library sent them.
        self.sent: dict[int, list[int]] = defaultdict(list)

    @abstractmethod
    async def login(self) -> None:
        """GET /users/@me, as a bot does that starts."""

    @abstractmethod
    async def send(self, channel: int, text: str) -> int:
        """The id of the message."""

    @abstractmethod
    async def edit(self, channel: int, message: int, text: str) -> None: ...

    @abstractmethod
    async def delete(self, channel: int, message: int) -> None: ...

    @abstractmethod
    async def react(self, channel: int, message: int, emoji: str) -> None: ...

    @abstractmethod
    async def unreact(self, channel: int, message: int, emoji: str) -> None: ...

    @abstractmethod
    async def upload(self, channel: int, text: str, name: str, content: bytes) -> int: ...

    @abstractmethod
    async def callback(self, interaction: int, token: str) -> None:
        """Answers an interaction."""


class ToldDiscordBot(ToldBot, DiscordBot):
    """One in a process of its own, which sends one call of a route and channel at a time, as they are asked for."""

    at_once = 1

    async def login(self):
        await self._call("login")

    async def send(self, channel, text):
        self.sent[channel].append(number(text))
        return int((await self._call("send", channel=str(channel), text=text))["id"])

    async def edit(self, channel, message, text):
        self.sent[channel].append(number(text))
        await self._call("edit", channel=str(channel), message=str(message), text=text)

    async def delete(self, channel, message):
        await self._call("delete", channel=str(channel), message=str(message))

    async def react(self, channel, message, emoji):
        await self._call("react", channel=str(channel), message=str(message), emoji=emoji)

    async def unreact(self, channel, message, emoji):
        await self._call("unreact", channel=str(channel), message=str(message), emoji=emoji)

    async def upload(self, channel, text, name, content):
        encoded = base64.b64encode(content).decode()
        return int((await self._call("upload", channel=str(channel), text=text, name=name, content=encoded))["id"])

    async def callback(self, interaction, token):
        await self._call("callback", interaction=str(interaction), token=token)


class DiscordJs(NodeBot, ToldDiscordBot):
    """@discordjs/rest, what discord.js sends with."""

    program = "discord_bot.cjs"


class Twilight(ToldDiscordBot):
    """twilight-http."""

    def command(self):
        return [twilight_bot()]


class DiscordPy(DiscordBot):
    """discord.py's HTTP client, and its webhook adapter, which answers interactions."""

    at_once = 5

    async def __aenter__(self):
        Route.BASE = f"{self.base}/api/v10"
        trace = aiohttp.TraceConfig()
        trace.on_request_chunk_sent.append(self._leaves)
        self.http = HTTPClient(asyncio.get_running_loop(), http_trace=trace)
        self.adapter = AsyncWebhookAdapter()
        self.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        await self.http.static_login(self.token)
        return self

    async def __aexit__(self, *_):
        await self.http.close()
        await self.session.close()

    async def _leaves(self, _session, _context, call):
        channel = re.search(r"/channels/(\d+)/messages", call.url.path)
        if channel and (told := re.search(rb'"content":\s*"[^"]*#(\d+)', call.chunk)):
            self.sent[int(channel[1])].append(int(told[1]))

    async def _run(self, call):
        try:
            return await call
        except discord.HTTPException as error:
            if error.status == 429:
                raise Refused(float(error.response.headers["Retry-After"])) from error
            raise Failed(str(error), error.status) from error

    async def login(self):
        await self._run(self.http.request(Route("GET", "/users/@me")))

    async def send(self, channel, text):
        with handle_message_parameters(text) as params:
            return int((await self._run(self.http.send_message(channel, params=params)))["id"])

    async def edit(self, channel, message, text):
        with handle_message_parameters(text) as params:
            await self._run(self.http.edit_message(channel, message, params=params))

    async def delete(self, channel, message):
        await self._run(self.http.delete_message(channel, message))

    async def react(self, channel, message, emoji):
        await self._run(self.http.add_reaction(channel, message, emoji))

    async def unreact(self, channel, message, emoji):
        await self._run(self.http.remove_own_reaction(channel, message, emoji))

    async def upload(self, channel, text, name, content):
        with handle_message_parameters(text, file=discord.File(BytesIO(content), name)) as params:
            return int((await self._run(self.http.send_message(channel, params=params)))["id"])

    async def callback(self, interaction, token):
        params = interaction_response_params(5)
        await self._run(self.adapter.create_interaction_response(interaction, token, session=self.session, params=params))


DISCORD_LIBRARIES = {"discordjs": DiscordJs, "discordpy": DiscordPy, "twilight": Twilight}
