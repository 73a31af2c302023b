"""Cases of other people's bug reports (docs/cases.md): what the platform refuses, and what is left alone then."""

from __future__ import annotations

import asyncio

import pytest

from api import Api
from harness import GROUP, House, numbers, run


def test_t12_no_fallback_reaches_a_cooling_chat():
    """An edit is refused for 50 s; the bot falls back to sends at once: not one call goes there before its time."""

    async def scenario(house: House):
        async with Api(house.base) as api:
            message = (await api.send(7, "#0")).message
            house.refuse_next("editMessageText", 7, retry_after=50)
            edit = asyncio.create_task(api.edit(7, message, "#1"))
            await house.until(lambda: house.log("editMessageText", 7))
            sends = [asyncio.create_task(api.send(7, f"fallback #{i}")) for i in range(5)]
            assert (await api("sendChatAction", chat_id=7, action="typing")).ok
            assert all(answer.ok for answer in await asyncio.gather(edit, *sends))

    with run(scenario, scale=0.25) as house:
        calls = house.log(chat=7)
        assert [call.status for call in calls[:2]] == [200, 429]
        assert calls[2].at - calls[1].at >= 50


@pytest.mark.parametrize("told", [6775, 8288, 28442, 42055])
def test_t14_t15_t16_t43_hours_are_told_truly_and_at_once(told):
    """No clamp, no slept hours, no call before the end: everybody is told the time that is left."""

    async def scenario(house: House):
        async with Api(house.base) as api:
            house.refuse_next("sendMessage", 7, retry_after=told)
            answers = await asyncio.wait_for(asyncio.gather(*(api.send(7, f"#{i}") for i in range(50))), 30)
            assert all(told - 600 <= answer.retry_after <= told + 3 for answer in answers)
            assert (await api.send(8, "others are not touched")).ok

    with run(scenario) as house:
        assert len(house.log("sendMessage", 7)) == 1


def test_t30_a_failed_typing_is_never_sent_again():
    async def scenario(house: House):
        async with Api(house.base) as api:
            house.script("502", "sendChatAction", 7)
            answer = await api("sendChatAction", chat_id=7, action="typing")
            assert answer.status == 502, "the platform's own answer is handed through"
            await house.sleep(20)

    with run(scenario) as house:
        assert len(house.log("sendChatAction", 7)) == 1


@pytest.mark.parametrize("status", [401, 404])
def test_t31_a_dead_token_trips_its_breaker(status):
    async def scenario(house: House):
        async with Api(house.base) as api:
            house.script(str(status), times=1000)
            for _ in range(100):
                answer = await api("sendChatAction", chat_id=7, action="typing")
                assert answer.status in (401, 404) or answer.ok

    with run(scenario) as house:
        assert len(house.log("sendChatAction")) <= 10


def test_t32_a_refused_profile_method_cools_itself_alone():
    async def scenario(house: House):
        async with Api(house.base) as api:
            house.refuse_next("setMyCommands", None, retry_after=460)
            for _ in range(5):
                answer = await api("setMyCommands", commands=[])
                assert 400 <= answer.retry_after <= 463
            assert (await api.send(7, "#0")).outcome == "admitted"
            assert (await api("deleteMyCommands")).ok

    with run(scenario) as house:
        assert len(house.log("setMyCommands")) == 1


def test_t36_a_group_that_moved_takes_its_queue_along():
    async def scenario(house: House):
        async with Api(house.base) as api:
            for i in range(3):
                assert (await api.send(-5, f"#{i}")).ok
            house.script({"kind": "migrate", "to": GROUP}, "sendMessage", -5)
            told = await api.send(-5, "#3")
            assert told.status == 400
            assert told.body["parameters"]["migrate_to_chat_id"] == GROUP
            await asyncio.gather(*(api.send(GROUP, f"#{i}") for i in range(4, 40)))

    with run(scenario) as house:
        calls = [call for call in house.log("sendMessage") if call.accepted]
        assert len(calls) == 39
        times = [call.at for call in calls]
        assert max(sum(1 for at in times if start <= at < start + 60) for start in times) <= 20


def test_t42_a_refusal_is_its_chats_alone():
    async def scenario(house: House):
        async with Api(house.base) as api:
            house.refuse_next("sendMessage", 7, retry_after=100)
            refused = asyncio.create_task(api.send(7, "#0"))
            await house.until(lambda: house.log("sendMessage", 7))
            for i in range(20):
                assert (await api.send(100 + i, "#0")).outcome == "admitted"
            assert (await refused).ok

    with run(scenario):
        pass


def test_t53_waiters_leave_one_by_one_after_a_refusal():
    async def scenario(house: House):
        async with Api(house.base) as api:
            house.refuse_next("sendMessage", GROUP, retry_after=10)
            answers = await asyncio.gather(*(api.send(GROUP, f"#{i}") for i in range(15)))
            assert all(answer.ok for answer in answers)

    with run(scenario) as house:
        calls = house.log("sendMessage", GROUP)
        (refused,) = [place for place, call in enumerate(calls) if call.status == 429]
        times = [call.at for call in calls[refused + 1 :]]
        assert times[0] - calls[refused].at >= 10
        assert times[-1] - times[0] >= len(times) - 5, "one a second after the burst"


def test_t60_t61_what_was_refused_is_sent_once_and_in_order():
    async def scenario(house: House):
        async with Api(house.base) as api:
            house.refuse_next("sendMessage", 7, retry_after=4)
            sends = await house.in_turn(api.send(7, f"#{i}") for i in range(6))
            assert all(answer.ok for answer in await asyncio.gather(*sends))

    with run(scenario, scale=0.5) as house:
        accepted = [call for call in house.log("sendMessage", 7) if call.accepted]
        assert numbers(accepted) == list(range(6))
