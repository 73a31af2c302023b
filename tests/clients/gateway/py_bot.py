"""A discord.py bot on the Gateway: tells what its library shows it, one JSON object a line, and does what it is told.

py_bot.py LIBRARY BASE TOKEN OPTIONS
"""

from __future__ import annotations

import asyncio
import json
import sys

import discord
import yarl

BASE, TOKEN, OPTIONS = sys.argv[2], sys.argv[3], json.loads(sys.argv[4])


def tell(event: str, **what) -> None:
    print(json.dumps({"event": event, **what}), flush=True)


def client() -> discord.Client:
    """At its defaults, with the two addresses that this library has."""
    discord.http.Route.BASE = f"{BASE}/api/v10"
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(BASE.replace("http", "ws", 1) + "/")
    intents = discord.Intents(guilds=True, guild_messages=True, message_content=True, members=OPTIONS.get("members", False))
    if "shards" in OPTIONS:
        return Sharded(intents=intents, shard_ids=OPTIONS["shards"], shard_count=OPTIONS["count"], **settings())
    return Single(intents=intents, **settings())


def settings() -> dict:
    return {"enable_debug_events": True, "chunk_guilds_at_startup": False}


class Told:
    """What both kinds of client tell."""

    async def on_ready(self):
        if not isinstance(self, discord.AutoShardedClient):
            tell("ready", shard=0)

    async def on_shard_ready(self, shard):
        tell("ready", shard=shard)

    async def on_resumed(self):
        if not isinstance(self, discord.AutoShardedClient):
            tell("resumed", shard=0)

    async def on_shard_resumed(self, shard):
        tell("resumed", shard=shard)

    async def on_disconnect(self):
        if not isinstance(self, discord.AutoShardedClient):
            tell("disconnect", shard=0)

    async def on_shard_disconnect(self, shard):
        tell("disconnect", shard=shard)

    async def on_message(self, message):
        tell("message", text=message.content, channel=str(message.channel.id))

    async def on_socket_raw_receive(self, text):
        payload = json.loads(text)
        if payload.get("s") is not None:
            tell("raw", t=payload["t"], s=payload["s"])


class Single(Told, discord.Client):
    pass


class Sharded(Told, discord.AutoShardedClient):
    pass


async def obey(bot: discord.Client) -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async for line in reader:
        told = json.loads(line)
        match told["call"]:
            case "presence":
                await bot.change_presence(activity=discord.Game(told["argument"]))
            case "members":
                members = await bot.guilds[0].query_members(query="a", limit=1, cache=False)
                tell("members", count=len(members))
            case "drop":
                # The library has no call that loses a connection, so its socket is cut from below.
                bot.ws.socket._response.connection.transport.abort()
            case "end":
                await bot.close()
    await bot.close()


async def main() -> None:
    bot = client()
    obeying = asyncio.create_task(obey(bot))
    try:
        await bot.start(TOKEN)
    except Exception as error:  # The test is told, whatever it is.
        tell("failed", text=f"{type(error).__name__}: {error}", code=getattr(error, "code", None))
    obeying.cancel()


asyncio.run(main())
