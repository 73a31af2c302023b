"""python-telegram-bot at its limits: two thousand tasks at once, and an agent that streams its answer."""

from __future__ import annotations

import asyncio
import os

import pytest
from telegram.ext import AIORateLimiter, ExtBot

from harness import GROUP, TOKEN, House, assert_in_order, number
from libraries import Refused
from libraries.ptb import PythonTelegramBot

TASKS, CHATS = 2000, 50
# By hand: CLIENTS_SCALE=1 measures in real time (docs/performance.md).
SCALE = float(os.environ.get("CLIENTS_SCALE", "0.25"))
# On a machine that does other things at the same time the client itself is the slow part.
ROOM = 1.05 if SCALE == 1 else 1.5
# Two thousand at once keep the library's one thread busy for longer than its timeouts of a few seconds.
POOL = {"connection_pool_size": 2048, "connect_timeout": 60, "write_timeout": 60, "pool_timeout": 60}


async def at_once(bot, tasks: int) -> list:
    sends = (bot.send(1 + i % CHATS, f"task #{i // CHATS}") for i in range(tasks))
    return await asyncio.gather(*sends, return_exceptions=True)


@pytest.mark.long(70)
def test_two_thousand_tasks_over_fifty_chats():
    async def scenario(house: House):
        async with PythonTelegramBot(house.base, TOKEN, patient=True, **POOL) as bot:
            failed = [error for error in await at_once(bot, TASKS) if isinstance(error, Exception)]
            assert not failed, f"{len(failed)} failed, the first: {failed[0]!r}"

    with House(scale=SCALE) as house:
        asyncio.run(scenario(house))
        house.assert_no_refusal()
        calls = house.log("sendMessage")
        took = calls[-1].at - calls[0].at
        print(f"2,000 tasks took {took:.1f} s of platform time")
        assert len(calls) == TASKS
        for chat in range(1, CHATS + 1):
            arrived = [number(text) for text in house.texts("sendMessage", chat)]
            assert sorted(arrived) == list(range(TASKS // CHATS)), f"chat {chat} has each once"
            assert_in_order(arrived, race=0 if SCALE == 1 else 5)
        assert took <= 80 * ROOM


def test_tasks_at_once_without_tidegate_are_refused():
    """Three hundred of them are enough: so the test above is known to test something."""

    async def scenario(house: House):
        async with PythonTelegramBot(house.base, TOKEN) as bot:
            await at_once(bot, 300)

    with House(serve=False) as house:
        asyncio.run(scenario(house))
        assert any(call.status == 429 for call in house.log("sendMessage"))


@pytest.mark.alone
def test_two_thousand_tasks_with_the_librarys_own_limiter():
    """At every default: a 5 s read timeout, and AIORateLimiter doing what it does with a 429. In real time, since that
    limiter knows no other."""

    async def scenario(house: House):
        limiter = AIORateLimiter(max_retries=20)
        base = {"base_url": f"{house.base}/bot", "base_file_url": f"{house.base}/file/bot"}
        async with ExtBot(TOKEN, rate_limiter=limiter, **base) as bot:
            sends = (bot.send_message(1 + i % CHATS, f"task #{i // CHATS}") for i in range(TASKS))
            outcomes = await asyncio.gather(*sends, return_exceptions=True)
            failed = [error for error in outcomes if isinstance(error, Exception)]
            assert not failed, f"{len(failed)} failed, the first: {failed[0]!r}"

    with House(scale=1) as house:
        asyncio.run(scenario(house))
        house.assert_no_refusal()
        calls = house.log("sendMessage")
        print(f"2,000 tasks took {calls[-1].at - calls[0].at:.1f} s")
        for chat in range(1, CHATS + 1):
            arrived = [number(text) for text in house.texts("sendMessage", chat)]
            assert sorted(arrived) == list(range(TASKS // CHATS)), f"chat {chat} has each once"


@pytest.mark.alone
def test_an_agents_stream_into_a_group():
    """250 edits, ten a second: what was asked for last is out within 1.2 s, with previews on the way, wherever the end
    falls between two of them: an edit that comes soon after the one before it is the end of a stream."""

    async def scenario(house: House):
        # getMe, straight to the platform, stamps its log with the moment at which the last edit is asked for.
        async with (
            PythonTelegramBot(house.base, TOKEN) as bot,
            PythonTelegramBot(house.platform, TOKEN) as clock,
        ):
            message = await bot.send(GROUP, "thinking #0")
            edits = []
            for i in range(1, 251):
                if i == 250:
                    await clock.me()
                edits.append(asyncio.create_task(bot.edit(GROUP, message, f"answer #{i}")))
                await house.sleep(0.1)
            *previews, last = await asyncio.gather(*edits, return_exceptions=True)
            # A preview that must wait longer than the library can is refused; the end never is.
            assert last is None, repr(last)
            assert all(outcome is None or isinstance(outcome, Refused) for outcome in previews)

    with House(scale=max(SCALE, 0.5)) as house:
        asyncio.run(scenario(house))
        house.assert_no_refusal()
        edits = [call for call in house.log("editMessageText", GROUP) if call.accepted]
        asked = house.log("getMe")[0].at
        late = edits[-1].at - asked
        print(f"{len(edits) - 1} previews, the last text {late:.2f} s after it was asked for")
        assert number(edits[-1].text) == 250
        assert len(edits) - 1 >= 7
        assert late <= (1.2 if SCALE == 1 else 1.7)
