"""Cases of other people's bug reports (docs/cases.md): how much goes where, in what order, and who waits for whom."""

from __future__ import annotations

import asyncio
import json

import pytest

from api import Api
from harness import GROUP, House, most_in_any, numbers, run

OTHER = GROUP - 1


def test_t2_no_minute_of_a_group_holds_more_than_twenty():
    async def scenario(house: House):
        async with Api(house.base) as api:
            await asyncio.gather(*(api.send(GROUP, f"#{i}") for i in range(50)))

    with run(scenario) as house:
        calls = house.log("sendMessage", GROUP)
        assert len(calls) == 50
        assert most_in_any(calls, 60) <= 20


@pytest.mark.long(16)
def test_t4_99_sends_at_once_to_a_channel_by_name():
    async def scenario(house: House):
        async with Api(house.base) as api:
            sends = await house.in_turn(api.send("@tidegatechannel", f"#{i}", hold="10m") for i in range(99))
            assert all(answer.ok for answer in await asyncio.gather(*sends))

    with run(scenario, scale=0.05) as house:
        calls = house.log("sendMessage")
        assert numbers(calls) == list(range(99))
        assert most_in_any(calls, 60) <= 20


def test_t7_a_batch_weighs_its_messages():
    """forwardMessages and copyMessages of five ids each are five messages; sendGame is one."""

    async def scenario(house: House):
        async with Api(house.base) as api:
            ids = list(range(1, 6))
            batch = {"chat_id": GROUP, "from_chat_id": 7, "message_ids": ids}
            calls = [api(method, **batch) for method in ("forwardMessages", "copyMessages") for _ in range(3)]
            calls += [api("sendGame", chat_id=GROUP, game_short_name="g") for _ in range(5)]
            assert all(answer.ok for answer in await asyncio.gather(*calls))

    with run(scenario) as house:
        calls = house.log(chat=GROUP)
        weights = {"forwardMessages": 5, "copyMessages": 5, "sendGame": 1}
        units = [(call.at, weights[call.method]) for call in calls]
        assert sum(weight for _, weight in units) == 35
        for start, _ in units:
            assert sum(weight for at, weight in units if start <= at < start + 60) <= 20


def test_t8_a_supergroup_has_a_groups_minute():
    """18 a minute, not 10: the second half of 36 leaves as soon as the first minute is over."""

    async def scenario(house: House):
        async with Api(house.base) as api:
            await asyncio.gather(*(api.send(GROUP, f"#{i}") for i in range(36)))

    with run(scenario) as house:
        times = [call.at for call in house.log("sendMessage", GROUP)]
        assert times[17] - times[0] < 30
        assert times[35] - times[0] < 100


def test_t9_busy_chats_never_starve_a_group():
    """400 sends to 40 private chats spend all 25 a second for 16 s; a group's send among them waits for its turn only."""

    async def scenario(house: House):
        async with Api(house.base) as api:
            flood = [asyncio.create_task(api.send(100 + i % 40, f"#{i}")) for i in range(400)]
            await house.until(lambda: len(house.log("sendMessage")) > 60)
            await api("getMe")
            answer = await api.send(GROUP, "in between")
            assert answer.ok
            await asyncio.gather(*flood)

    with run(scenario, scale=0.25) as house:
        asked = house.log("getMe")[0].at
        (group,) = house.log("sendMessage", GROUP)
        # Forty chats have their turn in 1.6 s.
        assert group.at - asked < 5
        last = house.log("sendMessage")[-1].at
        assert group.at < last - 3, "the flood went on after it"


@pytest.mark.long(19)
def test_t10_sends_edits_and_typing_share_one_chat_without_a_refusal():
    async def scenario(house: House):
        async with Api(house.base) as api:
            message = (await api.send(GROUP, "#0")).message

            async def loop(call, pause: float, times: int):
                for i in range(1, times):
                    await call(i)
                    await house.sleep(pause)

            await asyncio.gather(
                loop(lambda i: api.send(GROUP, f"#{i}"), 1.1, 30),
                loop(lambda i: api("sendChatAction", chat_id=GROUP, action="typing"), 1.0, 60),
                loop(lambda i: api.edit(GROUP, message, f"edit #{i}"), 1.5, 20),
            )

    with run(scenario) as house:
        writes = [call for call in house.log(chat=GROUP) if call.method != "sendChatAction"]
        assert most_in_any(writes, 60) <= 20


def test_t11_typing_loops_of_many_topics_are_coalesced():
    """Ten topics of one chat, a typing each 2 s for a minute: at most one a second leaves after a first per topic."""

    async def scenario(house: House):
        async with Api(house.base) as api:

            async def topic(thread: int):
                for _ in range(30):
                    assert (await api("sendChatAction", chat_id=7, message_thread_id=thread, action="typing")).ok
                    await house.sleep(2)

            await asyncio.gather(*(topic(thread) for thread in range(10)))

    with run(scenario) as house:
        times = [call.at for call in house.log("sendChatAction", 7)]
        assert 10 <= len(times) <= 10 + 1 + times[-1] - times[0]


def test_t13_four_finals_in_one_chat_leave_paced_and_in_order():
    async def scenario(house: House):
        async with Api(house.base) as api:
            sends = await house.in_turn(api.send(7, f"final #{i}", cls="final") for i in range(8))
            assert all(answer.ok for answer in await asyncio.gather(*sends))

    with run(scenario, scale=0.5) as house:
        calls = house.log("sendMessage", 7)
        assert numbers(calls) == list(range(8))
        assert calls[-1].at - calls[0].at >= 4


def test_t18_rich_messages_never_fail_open():
    async def scenario(house: House):
        async with Api(house.base) as api:
            rich = {"rich_message": {"html": "<p>x</p>"}}
            answers = await asyncio.gather(*(api("sendRichMessage", chat_id=GROUP, **rich) for i in range(40)))
            assert all(answer.ok for answer in answers)

    with run(scenario) as house:
        assert most_in_any(house.log("sendRichMessage", GROUP), 60) <= 20


def test_t19_sends_edits_and_rich_messages_spend_one_minute():
    async def scenario(house: House):
        async with Api(house.base) as api:
            messages = [(await api.send(GROUP, f"#{i}")).message for i in range(3)]
            calls = [api.edit(GROUP, messages[i % 3], f"edit #{i}") for i in range(20)]
            calls += [api("sendRichMessage", chat_id=GROUP, rich_message={"html": f"<p>{i}</p>"}) for i in range(20)]
            calls += [api.send(GROUP, f"more #{i}") for i in range(20)]
            assert all(answer.ok for answer in await asyncio.gather(*calls))

    with run(scenario) as house:
        assert most_in_any(house.log(chat=GROUP), 60) <= 20


def test_t38_a_name_and_its_number_are_one_chat():
    async def scenario(house: House):
        async with Api(house.base) as api:
            chat = (await api.send("@tidegatechannel", "#0")).result["chat"]["id"]
            await asyncio.gather(
                *(api.send("@tidegatechannel", f"#{i}") for i in range(1, 20)),
                *(api.send(chat, f"#{i}") for i in range(20, 40)),
                *(api.send("@someoneelse", f"#{i}") for i in range(3)),
            )
            house.chat = chat

    with run(scenario) as house:
        calls = house.log("sendMessage", house.chat)
        assert len(calls) == 40
        assert most_in_any(calls, 60) <= 20
        others = [call for call in house.log("sendMessage") if call.chat != str(house.chat)]
        assert len(others) == 3 and others[-1].at < calls[20].at, "another name is another chat"


def test_t39_the_whole_bots_second_counts_groups_too():
    async def scenario(house: House):
        async with Api(house.base) as api:
            answers = await asyncio.gather(*(api.send(GROUP - i, f"to {i}") for i in range(100)))
            assert all(answer.ok for answer in answers)

    with run(scenario, scale=0.5) as house:
        assert most_in_any(house.log("sendMessage"), 1) <= 30


@pytest.mark.long(18)
def test_t41_an_album_weighs_its_photos_and_one_too_heavy_still_passes():
    async def scenario(house: House):
        async with Api(house.base) as api:
            album = json.dumps([{"type": "photo", "media": f"id{i}"} for i in range(9)])
            answers = await asyncio.gather(*(api("sendMediaGroup", chat_id=GROUP, media=album) for _ in range(3)))
            assert all(answer.ok for answer in answers)
            heavy = {"chat_id": OTHER, "from_chat_id": 7, "message_ids": list(range(1, 41))}
            assert (await api("copyMessages", **heavy)).ok
            assert (await api.send(OTHER, "after it")).ok

    with run(scenario) as house:
        albums = [call.at for call in house.log("sendMediaGroup", GROUP)]
        assert albums[2] - albums[0] >= 58, "two albums of nine fill a minute"
        assert len(house.texts("sendMessage", OTHER)) == 1


def test_t48_past_its_bound_a_queue_refuses_the_new_and_keeps_the_old():
    async def scenario(house: House):
        async with Api(house.base) as api:
            sends = [asyncio.create_task(api.send(GROUP, f"#{i}", hold="10m")) for i in range(300)]
            done, held = await asyncio.wait(sends, timeout=3)
            refused = [task.result() for task in done if not task.result().ok]
            assert refused and all(answer.retry_after >= 1 for answer in refused)
            assert len(held) > 150, "those that were there before stay"
            for task in held:
                task.cancel()
            await asyncio.gather(*held, return_exceptions=True)
            assert (await api.send(7, "and nobody else is touched")).ok

    with run(scenario):
        pass


def test_t50_after_it_all_the_full_burst_is_there_again():
    async def scenario(house: House):
        async with Api(house.base) as api:
            await asyncio.gather(*(api.send(7, f"#{i}") for i in range(10)))
            leaving = [asyncio.create_task(api.send(7, f"left #{i}")) for i in range(20)]
            await house.sleep(1)
            for task in leaving:
                task.cancel()
            await asyncio.gather(*leaving, return_exceptions=True)
            await house.sleep(10)
            await api("getMe")
            for i in range(3):
                assert (await api.send(7, f"again #{i}")).outcome == "admitted"

    with run(scenario, scale=0.5):
        pass


def test_t70_everything_at_once_after_a_start_is_spread():
    async def scenario(house: House):
        async with Api(house.base) as api:
            answers = await asyncio.gather(*(api.send(100 + i, f"#{i}") for i in range(120)))
            assert all(answer.ok for answer in answers)

    with run(scenario, scale=0.5) as house:
        assert most_in_any(house.log("sendMessage"), 1) <= 30
