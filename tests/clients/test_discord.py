"""What every Discord library must live through unchanged, each with its own defaults and its own limiter."""

from __future__ import annotations

import asyncio
import time

import pytest

from discord_house import EPOCH_MS, OTHER, OTHER_TOKEN, TOKEN, DiscordHouse
from harness import assert_in_order, number, numbers
from libraries import Failed
from libraries.discord_bot import DISCORD_LIBRARIES, DiscordJs, DiscordPy

DAY_MS = 86_400_000


@pytest.fixture(params=DISCORD_LIBRARIES.values(), ids=DISCORD_LIBRARIES.keys())
def library(request):
    """Each library in turn."""
    return request.param


def live(library, scenario):
    """Runs a scenario of one bot in a house of its own, which is given back open for what the sandbox judged."""

    async def run(house: DiscordHouse):
        async with library(house.base, TOKEN) as house.bot:
            await scenario(house, house.bot)

    def judge(check, **forced):
        with DiscordHouse() as house:
            asyncio.run(run(house))
            house.assert_clean(**forced)
            check(house)

    return judge


def assert_kept(bot, channel: int, arrived: list[int]) -> None:
    """The platform took them as they left the library; those that it sends at once race each other on their way."""
    assert_in_order([bot.sent[channel].index(one) for one in arrived], race=bot.at_once - 1)


def id_of(age_ms: int, n: int) -> int:
    """The id of a message of this age."""
    return (int(time.time() * 1000) - EPOCH_MS - age_ms << 22) + n


@pytest.mark.long(30)
def test_thirty_sends_to_each_of_four_channels_at_once(library):
    async def scenario(_, bot):
        await asyncio.gather(*(bot.send(1 + n % 4, f"#{n // 4}") for n in range(120)))

    def check(house):
        for channel in range(1, 5):
            arrived = numbers(house.sends(channel))
            assert sorted(arrived) == list(range(30)), "each once"
            assert_kept(house.bot, channel, arrived)

    live(library, scenario)(check)


@pytest.mark.long(26)
def test_two_libraries_with_one_token_share_one_budget():
    """Neither knows of the other's calls; what tells them apart is nothing, so tidegate alone keeps the limit."""

    async def run(house: DiscordHouse):
        async with DiscordPy(house.base, TOKEN) as py, DiscordJs(house.base, TOKEN) as js:
            house.bots = py, js
            sends = [bot.send(1 + n % 2, f"#{at * 100 + n // 2}") for n in range(30) for at, bot in enumerate((py, js))]
            await asyncio.gather(*sends)

    with DiscordHouse() as house:
        asyncio.run(run(house))
        house.assert_clean()
        for channel in (1, 2):
            arrived = numbers(house.sends(channel))
            assert sorted(arrived) == [*range(15), *range(100, 115)]
            py, js = house.bots
            assert_kept(py, channel, [n for n in arrived if n < 100])
            assert_kept(js, channel, [n for n in arrived if n >= 100])


def test_reactions_come_and_go(library):
    async def scenario(_, bot):
        message = await bot.send(7, "#0")
        emojis = ["\N{FIRE}", "\N{EYES}", "\N{HEAVY BLACK HEART}", "name:123"]
        await asyncio.gather(*(bot.react(7, message, emoji) for emoji in emojis * 3))
        await asyncio.gather(*(bot.unreact(7, message, emoji) for emoji in emojis))

    def check(house):
        reactions = [call for call in house.log() if "reactions" in call.route]
        assert [call.status for call in reactions] == [204] * 16

    live(library, scenario)(check)


def test_deletes_of_new_and_old_messages(library):
    """Each age has limits of its own."""

    async def scenario(_, bot):
        fresh = [await bot.send(7, f"#{n}") for n in range(5)]
        deletes = [bot.delete(7, message) for message in fresh]
        deletes += [bot.delete(8, id_of(DAY_MS, n)) for n in range(12)]
        deletes += [bot.delete(9, id_of(20 * DAY_MS, n)) for n in range(40)]
        await asyncio.gather(*deletes)

    def check(house):
        deletes = [call.status for call in house.log() if call.route.startswith("DELETE")]
        assert deletes == [204] * 57

    live(library, scenario)(check)


def test_uploads(library):
    async def scenario(_, bot):
        await bot.upload(7, "small #0", "small.txt", b"small")
        await bot.upload(7, "large #1", "large.bin", bytes(range(256)) * 4096 * 3)
        await asyncio.gather(*(bot.upload(8, f"#{n}", "n.bin", b"x" * 100_000) for n in range(12)))

    def check(house):
        uploads = house.sends()
        assert [call.files for call in uploads] == [1] * 14
        assert sorted(numbers(house.sends(8))) == list(range(12))

    live(library, scenario)(check)


CALLBACKS = "POST /interactions/{id}/{token}/callback"


def test_300_channels_at_once_and_interactions_beside_them(library):
    """The flood fills the bot's 48 a second for six; answers to interactions neither wait for it nor count in it."""

    async def scenario(house, bot):
        flood = [asyncio.create_task(bot.send(1000 + n, f"#{n}")) for n in range(300)]
        await house.until(lambda: len(house.sends()) > 60)
        house.before = len(house.sends())
        await asyncio.gather(*(bot.callback(9000 + n, f"aW50ZXJhY3Rpb246dG9rZW4{n}") for n in range(40)))
        house.after = len(house.sends())
        await asyncio.gather(*flood)

    def check(house):
        assert len(house.sends()) == 300
        callbacks = house.log(CALLBACKS)
        assert [call.status for call in callbacks] == [callbacks[0].status] * 40 and callbacks[0].status < 300
        assert house.after - house.before < 96, "two seconds' worth of sends left before the last of them"
        assert house.after < 300, "the flood went on after them"

    live(library, scenario)(check)


async def loop_with_a_revoked_token(bot) -> None:
    for _ in range(300):
        with pytest.raises(Failed) as told:
            await bot.login()
        assert told.value.status == 401, told.value


def test_a_revoked_token_in_a_loop(library):
    async def run(house: DiscordHouse):
        async with library(house.base, OTHER_TOKEN) as revoked, library(house.base, TOKEN) as healthy:
            house.control("script", {"bot": OTHER, "times": 1000, "answer": "401"})
            loop = asyncio.create_task(loop_with_a_revoked_token(revoked))
            await asyncio.gather(*(healthy.send(1000 + n, f"#{n}") for n in range(60)))
            await loop

    with DiscordHouse() as house:
        asyncio.run(run(house))
        house.assert_clean()
        refused = [call for call in house.log() if call.status == 401]
        assert 1 <= len(refused) <= 60
        assert {call.bot for call in refused} == {OTHER}
        assert len(house.sends()) == 60


@pytest.mark.long(30)
def test_an_edit_stream_on_one_message(library):
    """What leaves the library last stands last. (discord.py's own limiter shuffles calls that were not awaited.)"""

    async def scenario(_, bot):
        message = await bot.send(7, "stream #0")
        edits = []
        for n in range(1, 31):
            edits.append(asyncio.create_task(bot.edit(7, message, f"text #{n}")))
            await asyncio.sleep(0.02)
        await asyncio.gather(*edits)

    def check(house):
        edits = numbers(house.log("PATCH /channels/{id}/messages/{id}", 7))
        assert len(edits) == len(set(edits)), "no edit twice"
        assert_kept(house.bot, 7, edits)
        (text,) = house.texts_of(7)
        assert number(text) == edits[-1]
        assert edits[-1] in house.bot.sent[7][-library.at_once :], "the last text is the last"

    live(library, scenario)(check)


BANS = ("html", "text", "cloudflare")
KINDS = ("user", "shared", "global", "headerless", *BANS)


@pytest.mark.long(30)
def test_a_429_of_every_kind(library):
    """Each is met once, and by nobody again before its time is over; every call ends in a late success."""

    async def scenario(house, bot):
        for at, kind in enumerate(KINDS):
            channel = 10 + at
            await bot.send(channel, "#0")
            answer = {"kind": kind, "retry_after": 2}
            house.control("script", {"major": str(channel), "method": "POST", "answer": answer})
            await asyncio.gather(*(bot.send(channel, f"#{n}") for n in range(1, 4)))

    def check(house):
        for at, kind in enumerate(KINDS):
            assert sorted(numbers(house.sends(10 + at))) == [0, 1, 2, 3], kind
            calls = house.log("POST /channels/{id}/messages", 10 + at)
            (refused,) = [n for n, call in enumerate(calls) if call.status != 200]
            assert calls[refused].forced
            assert calls[refused + 1].at - calls[refused].at >= 2, f"{kind}: a call into the time told"

    live(library, scenario)(check, refused=len(KINDS), bans=len(BANS))
