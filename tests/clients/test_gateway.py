"""What every Gateway library must live through behind tidegate, each unchanged with its own defaults and timers."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from discord_house import TOKEN
from gateway.bots import GATEWAY_LIBRARIES, DiscordJsBot, DiscordPyBot
from gateway_house import GatewayHouse


@pytest.fixture(params=GATEWAY_LIBRARIES.values(), ids=GATEWAY_LIBRARIES.keys())
def library(request):
    """Each library in turn."""
    return request.param


@contextlib.asynccontextmanager
async def running(house: GatewayHouse, library, **options):
    async with library(house.base, TOKEN, **options) as bot:
        await bot.ready(len(options.get("shards", [0])))
        yield bot


async def shown(house: GatewayHouse, bot, real_seconds: float = 60) -> None:
    """All messages so far were shown, each once and in order."""
    last = house.dispatch()
    await bot.until(lambda: last in bot.texts(), real_seconds)
    texts = bot.texts()
    assert texts == list(range(texts[0], last + 1))


def assert_undisturbed(bot) -> None:
    """It never learned that anything happened."""
    told = [one for one in bot.events if one["event"] not in ("raw", "message", "ready")]
    assert not told, told
    assert len(bot.of("ready")) == 1
    numbers = [one["s"] for one in bot.of("raw")]
    assert numbers == sorted(set(numbers)), "a number twice, or out of order"


def live(scenario, scale: float = 1, identifies: int = 1, closed_4008: int = 0):
    async def run(house):
        await scenario(house)

    with GatewayHouse(scale) as house:
        asyncio.run(run(house))
        house.assert_kept(identifies, closed_4008)


def test_logs_in_receives_and_sends(library):
    async def scenario(house):
        async with running(house, library) as bot:
            await house.stream(0.5)
            await shown(house, bot)
            bot.tell("presence", "chess")
            await house.until(lambda: house.stats()["by_op"].get("3", 0) >= 1)
            assert_undisturbed(bot)

    live(scenario)


def test_its_own_lost_connection_is_resumed_here(library):
    """Discord hears nothing of it, and what came meanwhile is replayed."""

    async def scenario(house):
        async with running(house, library) as bot:
            await shown(house, bot)
            for lost in range(1, 4):
                bot.tell("drop")
                await house.stream(0.3)
                await bot.until(lambda lost=lost: len(bot.of("resumed")) >= lost)
            await shown(house, bot)
        assert (house.stats()["connections"], house.stats()["resumes"]) == (1, 0), house.stats()

    live(scenario)


def test_a_restart_after_a_kill_costs_no_session_start(library):
    """It IDENTIFYs as before, and the session that it left is given to it again."""

    async def scenario(house):
        for _ in range(3):
            async with running(house, library) as bot:
                await shown(house, bot)
                await bot.kill()
        assert house.stats()["connections"] == 1, house.stats()

    live(scenario)


@pytest.mark.long(65)
def test_upstream_drops_are_not_seen(library):
    """Every 50 s for ten minutes, at a tenth of the periods: no disconnect, and not one event missed."""

    async def scenario(house):
        house.weather("live", "cut", after_ms=50_000, times=12)
        async with running(house, library) as bot:
            await house.stream(60)
            await shown(house, bot)
            assert_undisturbed(bot)
        # A connection that lived for 50 s was not stable: each is resumed when its minute is over.
        assert house.stats()["resumes"] >= 6, house.stats()

    live(scenario, scale=0.1)


WEATHER = {
    "op 7": "reconnect",
    "op 9 true": {"invalid": True},
    "close 4000": {"close": 4000},
    "close 1000": {"close": 1000},
    "cut": "cut",
    "half-open": "freeze",
    "deaf": "deaf",
}


@pytest.mark.parametrize("what", WEATHER.values(), ids=WEATHER.keys())
def test_weather_that_leaves_the_session_is_not_seen(library, what):
    async def scenario(house):
        async with running(house, library) as bot:
            await shown(house, bot)
            house.strike(what)
            await house.until(lambda: house.stats()["resumed"] >= 1, 120)
            await shown(house, bot)
            assert_undisturbed(bot)

    live(scenario, scale=0.1)


@pytest.mark.parametrize("what", ["cut", "reconnect"])
def test_e11_a_request_for_members_that_dies_with_its_connection_is_answered(library, what):
    async def scenario(house):
        async with running(house, library, members=True) as bot:
            house.weather("frame", what, op=8)
            bot.tell("members")
            await bot.until(lambda: bot.of("members"), 30)
            assert bot.of("members")[0]["count"] == 1
            assert house.stats()["resumed"] == 1, house.stats()
            told = [one for one in bot.events if one["event"] not in ("raw", "ready", "members")]
            assert not told, told

    live(scenario, scale=0.1)


@pytest.mark.long(20)
def test_a_4008_is_told_once_and_the_session_goes_on(library):
    """The wait is over a minute: the bot is closed with the reason, comes again, and is kept waiting quietly."""

    async def scenario(house):
        async with running(house, library) as bot:
            await shown(house, bot)
            house.strike({"close": 4008})
            await house.until(lambda: house.stats()["resumed"] >= 1, 120)
            await shown(house, bot)
            assert len(bot.of("resumed")) == 1, bot.events

    live(scenario, scale=0.1, closed_4008=1)


def test_an_op_9_that_ends_the_session(library):
    """The bot is told, IDENTIFYs once more in its own way, and goes on."""

    async def scenario(house):
        async with running(house, library) as bot:
            await shown(house, bot)
            house.strike({"invalid": False})
            await house.until(lambda: house.stats()["ready"] >= 2, 120)
            await bot.until(lambda: len([one for one in bot.of("raw") if one["t"] == "READY"]) >= 2, 120)
            before = house.dispatch()
            await bot.until(lambda: before in bot.texts(), 120)
            assert len(set(bot.texts())) == len(bot.texts())

    # At a tenth a few milliseconds late count as more than the margin between two IDENTIFYs.
    live(scenario, scale=0.5, identifies=2)


def test_gateways_that_cannot_be_reached(library):
    async def scenario(house):
        async with running(house, library) as bot:
            await shown(house, bot)
            house.weather("connect", {"refuse": 503}, times=4)
            house.strike("cut")
            await house.until(lambda: house.stats()["resumed"] >= 1, 120)
            await shown(house, bot)
            assert_undisturbed(bot)

    live(scenario, scale=0.1)


@pytest.mark.long(41)
def test_a_ready_that_takes_longer_than_the_library_waits():
    """discord.js gives up after 15 s, again and again; its place and its READY wait for it."""

    async def scenario(house):
        house.weather("identify", {"delay_ms": 40_000})
        async with DiscordJsBot(house.base, TOKEN) as bot:
            await bot.ready(real_seconds=120)
            await shown(house, bot)

    live(scenario)


@pytest.mark.long(15)
def test_four_shards_at_a_concurrency_of_two(library):
    async def scenario(house):
        house.control("gateway/bot", {"bot": 123456789012345678, "max_concurrency": 2, "shards": 4})
        async with running(house, library, shards=[0, 1, 2, 3], count=4) as bot:
            for shard in range(4):
                house.dispatch(shard)
            await bot.until(lambda: sorted(bot.texts()) == [1, 2, 3, 4])
        stats = house.stats()
        assert (stats["identifies"], stats["ready"]) == (4, 4), stats

    live(scenario, identifies=4)


@pytest.mark.long(16)
def test_two_bots_of_one_token_take_the_shard_from_each_other():
    """The newer has it; the older is told and comes again, and neither costs a session start."""

    async def scenario(house):
        async with running(house, DiscordPyBot) as first:
            await shown(house, first)
            async with running(house, DiscordJsBot) as second:
                await first.until(lambda: first.of("disconnect"))
                assert second.of("ready")

    live(scenario, identifies=3)


def test_a_wrong_token_is_told_as_discord_does(library):
    """4004, as Discord says it, and no connection more than the one that told so."""

    async def scenario(house):
        # REST knows the token, the Gateway does not.
        house.weather("frame", {"close": 4004}, op=2, times=100)
        async with library(house.base, TOKEN) as bot:
            await bot.until(lambda: bot.of("failed") or bot.of("disconnect") or bot.of("error") or bot.of("invalidated"))
        assert house.control("gateway/stats")["connections"] <= 2

    live(scenario)
