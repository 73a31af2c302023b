"""A bot that IDENTIFYs in a tight loop, for three minutes alone and for three behind tidegate: what Discord sees.

    CLIENTS_BIN=target/release/tidegate target/venv/bin/python tests/clients/storm.py

Prints the rows of the table in docs/storms.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from pathlib import Path

import aiohttp

sys.path.insert(0, str(Path(__file__).parent))

from discord_house import TOKEN  # noqa: E402
from gateway_house import GatewayHouse  # noqa: E402

SECONDS = 180
IDENTIFY = {"op": 2, "d": {"token": TOKEN, "intents": 513, "properties": {}}}


async def loop(url: str) -> tuple[int, float | None]:
    """Dials, IDENTIFYs, hangs up at the first word after that, again and again; its dials and when it got a 4004."""
    dials, reset, began = 0, None, time.monotonic()
    async with aiohttp.ClientSession() as session:
        while time.monotonic() - began < SECONDS:
            dials += 1
            # The intents are others each time: nothing of the session before can be given to it again.
            identify = {**IDENTIFY, "d": {**IDENTIFY["d"], "intents": 513 + (dials % 512 << 1)}}
            left = SECONDS - (time.monotonic() - began)
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                async with asyncio.timeout(left), session.ws_connect(url) as ws:
                    await ws.receive()
                    await ws.send_str(json.dumps(identify))
                    message = await ws.receive()
                    while message.type == aiohttp.WSMsgType.TEXT and json.loads(message.data)["op"] == 11:
                        message = await ws.receive()
                    if ws.close_code == 4004 and reset is None:
                        reset = time.monotonic() - began
    return dials, reset


def row(name: str, through: bool) -> str:
    with GatewayHouse() as house:
        base = house.base if through else house.platform
        dials, reset = asyncio.run(loop(base.replace("http", "ws", 1) + "/?v=10&encoding=json"))
        stats = house.control("gateway/stats")
        resets = f"{reset:.0f} s" if reset is not None and stats["token_resets"] else "never"
    return (
        f"| {name} | {dials:,} | {stats['connections']:,} | {stats['identifies']:,} | {stats['spacing_violations']:,} "
        f"| {resets} |"
    )


if __name__ == "__main__":
    print("| | the bot's dials | connections to Discord | IDENTIFY | too close together | token reset after |")
    print("|---|--:|--:|--:|--:|--:|")
    print(row("alone", False), flush=True)
    print(row("behind tidegate", True), flush=True)
