"""What every client library must live through unchanged, each with its own defaults."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from harness import GROUP, SCALE, TOKEN, House, assert_in_order, most_in_any, number
from libraries import Failed, Refused, until_taken

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e221bc33"
    "0000000049454e44ae426082"
)


def test_plain_calls(library):
    async def scenario(house: House):
        async with library(house.base, TOKEN) as bot:
            assert (await bot.me())["is_bot"]
            first = await bot.send(7, "hello #1")
            second = await bot.send(GROUP, "hello group #1")
            await bot.edit(7, first, "hello again #2")
            await bot.delete(GROUP, second)
            assert await bot.typing(7)
            assert await bot.updates() == []
            assert await bot.answer_callback("42")
            photos = await bot.album(GROUP, [PNG, PNG, PNG])
            assert len(photos) == 3
            assert len(await bot.download("size_100000")) == 100_000

    with House() as house:
        asyncio.run(scenario(house))
        house.assert_no_refusal()
        seen = Counter(call.method for call in house.log() if call.accepted)
        methods = "getMe editMessageText deleteMessage sendChatAction getUpdates answerCallbackQuery sendMediaGroup getFile"
        assert seen == Counter({method: 1 for method in methods.split()}) + Counter({"sendMessage": 2})


def test_an_error_of_the_platform_comes_back_as_it_is(library):
    async def scenario(house: House):
        async with library(house.base, TOKEN) as bot:
            try:
                await bot.edit(7, 999_999, "no such message")
            except Refused:
                raise
            except Failed as error:
                assert "message to edit not found" in str(error).lower()
            else:
                raise AssertionError("an edit of no message went well")
            await bot.send(7, "and the connection lives")

    with House() as house:
        asyncio.run(scenario(house))


async def sixty_and_thirty(bot, scale: float) -> None:
    group = [until_taken(bot.send, GROUP, f"group #{i}", scale=scale) for i in range(60)]
    others = [until_taken(bot.send, 1000 + i, f"to {i} #1", scale=scale) for i in range(30)]
    await asyncio.gather(*group, *others)


def assert_sixty_and_thirty(house: House, before: int = 0) -> None:
    """`before`: how many of the group's had left as the thirty were asked for."""
    house.assert_no_refusal()
    arrived = [number(text) for text in house.texts("sendMessage", GROUP)]
    assert sorted(arrived) == list(range(60)), "each message once"
    for i in range(30):
        assert len(house.texts("sendMessage", 1000 + i)) == 1
    group = [call.at for call in house.log("sendMessage", GROUP)]
    others = [call.at for call in house.log("sendMessage") if call.chat != str(GROUP)]
    # The group needs three minutes for its 60; nobody else waits for it.
    assert sum(at < max(others) for at in group) - before <= 30


@pytest.mark.long(19)
def test_sixty_sends_to_a_group_and_to_thirty_other_chats(library):
    """At the library's defaults: what cannot be held within its timeout is refused with its time, and taken then."""

    async def scenario(house: House):
        async with library(house.base, TOKEN) as bot:
            await sixty_and_thirty(bot, house.scale)

    with House() as house:
        asyncio.run(scenario(house))
        assert_sixty_and_thirty(house)


@pytest.mark.long(19)
def test_sixty_sends_to_a_group_are_held_in_order_for_a_patient_client(library):
    """With its own hold named no call is refused at all, and the group's order is the order of the calls."""

    async def scenario(house: House):
        async with library(house.base, TOKEN, patient=True) as bot:
            group = await house.in_turn(bot.send(GROUP, f"group #{i}") for i in range(60))
            house.before = len(house.log("sendMessage", GROUP))
            others = [bot.send(1000 + i, f"to {i} #1") for i in range(30)]
            await asyncio.gather(*group, *others)

    with House() as house:
        asyncio.run(scenario(house))
        assert_sixty_and_thirty(house, house.before)
        arrived = [number(text) for text in house.texts("sendMessage", GROUP)]
        assert arrived == list(range(60))


def assert_edits(house: House, last: str, race: int) -> None:
    house.assert_no_refusal()
    edits = house.texts("editMessageText", GROUP)
    assert edits[-1] == last, "the last text is the last"
    numbers = [number(text) for text in edits]
    assert len(numbers) == len(set(numbers)), "no edit twice"
    assert_in_order(numbers, race)


async def unless_refused(call, *args):
    """A preview that is refused is let go: one tried again later would be the newest by then."""
    try:
        await call(*args)
    except Refused:
        pass


@pytest.mark.long(20)
def test_a_stream_of_300_edits_fired_at_once(library):
    async def scenario(house: House):
        async with library(house.base, TOKEN) as bot:
            message = await bot.send(GROUP, "stream #0")
            edits = [unless_refused(bot.edit, GROUP, message, f"text #{i}") for i in range(1, 300)]
            if len(edits) <= bot.connections:
                fired = await house.in_turn(edits)
            else:
                # Most of them wait inside the library, and leave it in their order.
                fired = [asyncio.create_task(edit) for edit in edits]
                await asyncio.gather(*fired)
            await until_taken(bot.edit, GROUP, message, "the end #300", scale=house.scale)
            await asyncio.gather(*fired)

    with House() as house:
        asyncio.run(scenario(house))
        assert_edits(house, "the end #300", race=20)
        assert most_in_any(house.log("editMessageText", GROUP), 60) <= 20


@pytest.mark.long(46)
def test_a_stream_of_300_edits_each_awaited(library):
    async def scenario(house: House):
        async with library(house.base, TOKEN) as bot:
            message = await bot.send(GROUP, "stream #0")
            for i in range(1, 300):
                await until_taken(bot.edit, GROUP, message, f"text #{i}", scale=house.scale)
            await until_taken(bot.edit, GROUP, message, "the end #300", scale=house.scale)

    # The pace is one in five seconds: 25 minutes of platform time.
    with House(scale=0.03) as house:
        asyncio.run(scenario(house))
        assert_edits(house, "the end #300", race=0)


def test_a_typing_flood_costs_nothing_else(library):
    """200 typing calls into a chat and its topics: all are answered ok, few leave, and the sends beside them do."""

    async def scenario(house: House):
        async with library(house.base, TOKEN) as bot:
            flood = [bot.typing(GROUP, thread) for _ in range(20) for thread in (None, *range(1, 10))]
            sends = [bot.send(7, "beside it #1"), bot.send(GROUP, "in it #1")]
            answers = await asyncio.gather(*flood, *sends)
            assert all(answer is True for answer in answers[:-2])

    with House() as house:
        asyncio.run(scenario(house))
        house.assert_no_refusal()
        assert len(house.texts("sendMessage", 7)) == len(house.texts("sendMessage", GROUP)) == 1
        times = [call.at for call in house.log("sendChatAction", GROUP)]
        # One for each of the ten threads, and again after four seconds if the flood lasts that long.
        assert 1 <= len(times) <= 10 * (1 + (max(times) - min(times)) / 4)


def test_uploads(library):
    async def scenario(house: House):
        async with library(house.base, TOKEN) as bot:
            await bot.document(GROUP, "small.txt", b"small")
            await bot.document(GROUP, "large.bin", bytes(range(256)) * 4096 * 3)
            await bot.album(GROUP, [PNG] * 10)

    with House() as house:
        asyncio.run(scenario(house))
        house.assert_no_refusal()
        sent = [call.method for call in house.log(chat=GROUP) if call.accepted]
        assert sent == ["sendDocument", "sendDocument", "sendMediaGroup"]


def test_a_429_of_the_platform_is_waited_out_inside(library):
    """The platform refuses a chat for 5 s: the caller sees a late success, the chat is left alone, others go on."""

    async def scenario(house: House):
        async with library(house.base, TOKEN) as bot:
            await bot.send(7, "before #0")
            house.refuse_next("sendMessage", 7, retry_after=5)
            held = [asyncio.create_task(until_taken(bot.send, 7, f"held #{i}", scale=SCALE)) for i in (1, 2)]
            await house.until(lambda: any(call.status == 429 for call in house.log("sendMessage", 7)))
            await bot.send(8, "elsewhere #0")
            await asyncio.gather(*held)

    with House() as house:
        asyncio.run(scenario(house))
        house.assert_no_refusal()
        calls = house.log("sendMessage", 7)
        refused = next(i for i, call in enumerate(calls) if call.status == 429)
        assert [call.status for call in calls].count(429) == 1
        assert calls[refused + 1].at - calls[refused].at >= 5, "no call into the time told"
        assert sorted(house.texts("sendMessage", 7)) == ["before #0", "held #1", "held #2"]
        elsewhere = house.log("sendMessage", 8)[0]
        assert elsewhere.at < calls[refused + 1].at, "only that chat waits"


def test_a_429_too_long_to_hold_is_told(library):
    """An hour's ban: the caller is told at once and truly, and no further call of it reaches the platform."""

    async def scenario(house: House):
        async with library(house.base, TOKEN) as bot:
            house.refuse_next("sendMessage", 7, retry_after=3600)
            for _ in range(5):
                try:
                    await bot.send(7, "too early #1")
                except Refused as refused:
                    assert 3500 <= refused.retry_after <= 3603
                else:
                    raise AssertionError("a send into a ban went well")
            await bot.send(8, "elsewhere #0")

    with House() as house:
        asyncio.run(scenario(house))
        assert len(house.log("sendMessage", 7)) == 1
        assert len(house.texts("sendMessage", 8)) == 1


def test_nothing_is_sent_after_its_client_left(library):
    async def scenario(house: House):
        async with library(house.base, TOKEN, patient=True) as bot:
            await asyncio.gather(*(bot.send(GROUP, f"first #{i}") for i in range(18)))
            # The group's minute is spent: these wait, and leave while they do.
            if hasattr(bot, "send_and_leave"):
                leaving = [asyncio.create_task(bot.send_and_leave(GROUP, f"left #{i}", after=1)) for i in range(5)]
                outcomes = await asyncio.gather(*leaving, return_exceptions=True)
            else:
                leaving = [asyncio.create_task(bot.send(GROUP, f"left #{i}")) for i in range(5)]
                await asyncio.sleep(1)
                for task in leaving:
                    task.cancel()
                outcomes = await asyncio.gather(*leaving, return_exceptions=True)
            assert all(isinstance(outcome, (Failed, asyncio.CancelledError)) for outcome in outcomes), outcomes
            await bot.send(GROUP, "last #99")

    with House() as house:
        asyncio.run(scenario(house))
        house.assert_no_refusal()
        texts = house.texts("sendMessage", GROUP)
        assert texts[-1] == "last #99"
        assert not [text for text in texts if text.startswith("left")]
