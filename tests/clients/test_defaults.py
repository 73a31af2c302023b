"""What a bot does in one group on an ordinary day, with its library at every default and the platform at its real
periods: the platform alone would take it all, so no call of it may end in an exception."""

from __future__ import annotations

import asyncio
from collections import Counter

from harness import GROUP, TOKEN, House


def test_sends_edits_a_document_and_a_poll_each_awaited(library):
    async def scenario(house: House):
        async with library(house.base, TOKEN) as bot:
            messages = [await bot.send(GROUP, f"hello #{i}") for i in range(5)]
            for i in range(3):
                await bot.edit(GROUP, messages[-1], f"edit #{i}")
            await bot.document(GROUP, "small.txt", b"small")
            await bot.poll(GROUP, "Which?", ["this", "that"])

    with House(scale=1) as house:
        asyncio.run(scenario(house))
        house.assert_no_refusal()
        calls = house.log(chat=GROUP)
        methods = Counter(call.method for call in calls if call.accepted)
        assert methods == Counter(sendMessage=5, editMessageText=3, sendDocument=1, sendPoll=1)
        assert house.texts("sendMessage", GROUP) == [f"hello #{i}" for i in range(5)]
        assert house.texts("editMessageText", GROUP) == [f"edit #{i}" for i in range(3)]
        assert [call.method for call in calls[-2:]] == ["sendDocument", "sendPoll"]


def test_six_edits_each_awaited_behind_a_spent_burst(library):
    """Nine calls are half of a group's minute: only tidegate's own pacing is in their way, and it refuses nothing."""

    async def scenario(house: House):
        async with library(house.base, TOKEN) as bot:
            messages = [await bot.send(GROUP, f"hello #{i}") for i in range(3)]
            for i in range(6):
                await bot.edit(GROUP, messages[-1], f"edit #{i}")

    with House(scale=1) as house:
        asyncio.run(scenario(house))
        house.assert_no_refusal()
        assert house.texts("editMessageText", GROUP) == [f"edit #{i}" for i in range(6)]
