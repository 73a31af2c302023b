"""Cases of other people's bug reports (docs/cases.md): streams of edits, and that their ends land."""

from __future__ import annotations

import asyncio

from api import Api
from harness import GROUP, House, most_in_any, numbers, run


async def stream(api: Api, house: House, chat: int, message: int, texts: list[str], every: float) -> list:
    """Fires an edit each so many platform seconds without waiting for its answer."""
    edits = []
    for text in texts:
        edits.append(asyncio.create_task(api.edit(chat, message, text)))
        await house.sleep(every)
    return await asyncio.gather(*edits)


def test_t3_a_chat_whose_edits_never_end_slows_no_other():
    async def scenario(house: House):
        async with Api(house.base) as api:
            message = (await api.send(GROUP, "#0")).message
            busy = asyncio.create_task(stream(api, house, GROUP, message, [f"#{i}" for i in range(1, 161)], 0.25))
            for i in range(10):
                await house.sleep(3)
                assert (await api.send(7, f"quiet #{i}")).outcome == "admitted"
            await busy

    with run(scenario) as house:
        assert house.texts("editMessageText", GROUP)[-1] == "#160"


def test_t21_two_messages_are_two_streams():
    async def scenario(house: House):
        async with Api(house.base) as api:
            first = (await api.send(GROUP, "first")).message
            second = (await api.send(GROUP, "second")).message
            answers = await asyncio.gather(
                stream(api, house, GROUP, first, [f"first #{i}" for i in range(50)], 0.2),
                stream(api, house, GROUP, second, [f"second #{i}" for i in range(50)], 0.2),
            )
            assert all(answer.ok for answers in answers for answer in answers)
            house.messages = {"first": first, "second": second}

    with run(scenario) as house:
        calls = house.log("editMessageText", GROUP)
        for name, message in house.messages.items():
            texts = [call.text for call in calls if call.message == message]
            assert texts[-1] == f"{name} #49"
            assert all(text.startswith(name) for text in texts)


def test_t22_the_final_text_is_never_a_previews():
    """A named final fired in the same moment as the last preview: its text is the one that stays."""

    async def scenario(house: House):
        async with Api(house.base) as api:
            for turn in range(10):
                chat = GROUP - turn
                message = (await api.send(chat, "#0")).message
                edits = [api.edit(chat, message, f"preview #{i}", cls="preview") for i in range(1, 10)]
                edits.append(api.edit(chat, message, "the whole text and its tail #10", cls="final"))
                await asyncio.gather(*edits)

    with run(scenario) as house:
        for turn in range(10):
            texts = house.texts("editMessageText", GROUP - turn)
            assert texts[-1] == "the whole text and its tail #10"


def test_t24_a_refused_final_stays_for_its_message():
    async def scenario(house: House):
        async with Api(house.base) as api:
            message = (await api.send(7, "#0")).message
            house.refuse_next("editMessageText", 7, retry_after=8)
            assert (await api.edit(7, message, "final", cls="final")).ok

    with run(scenario) as house:
        calls = house.log(chat=7)
        assert [(call.method, call.status) for call in calls] == [
            ("sendMessage", 200),
            ("editMessageText", 429),
            ("editMessageText", 200),
        ]
        assert calls[2].at - calls[1].at >= 8


def test_t26_an_edit_that_changes_nothing_is_told_as_the_platform_tells_it():
    """A direct edit's 400 comes through; it costs the caller nothing further, and the next edit goes."""

    async def scenario(house: House):
        async with Api(house.base) as api:
            message = (await api.send(7, "Analysis")).message
            again = await api.edit(7, message, "Analysis")
            assert again.status == 400 and "message is not modified" in again.body["description"]
            assert (await api.edit(7, message, "Analysis, and more")).ok

    with run(scenario) as house:
        assert house.texts("editMessageText", 7) == ["Analysis, and more"]


def test_t28_t29_an_edit_a_token_keeps_the_pace_and_the_final_lands():
    async def scenario(house: House):
        async with Api(house.base) as api:
            message = (await api.send(GROUP, "#0")).message
            await stream(api, house, GROUP, message, [f"#{i}" for i in range(1, 301)], 0.1)

    with run(scenario) as house:
        calls = house.log("editMessageText", GROUP)
        assert numbers(calls)[-1] == 300
        assert numbers(calls) == sorted(set(numbers(calls)))
        assert most_in_any(calls, 60) <= 20


def test_t59_no_wait_grows_without_bound():
    """Nothing adapts a rate downwards: after 429s in a row a chat is back at its pace as soon as its time is over."""

    async def scenario(house: House):
        async with Api(house.base) as api:
            house.refuse_next("sendMessage", 7, retry_after=2, times=2)
            assert (await api.send(7, "#0")).ok
            await house.sleep(10)
            for i in range(1, 4):
                assert (await api.send(7, f"#{i}")).outcome == "admitted"

    with run(scenario):
        pass


def test_t66_a_final_waits_out_the_whole_window():
    async def scenario(house: House):
        async with Api(house.base) as api:
            message = (await api.send(7, "#0")).message
            house.refuse_next("editMessageText", 7, retry_after=37)
            assert (await api.edit(7, message, "the end", cls="final")).ok

    with run(scenario) as house:
        refused, taken = house.log("editMessageText", 7)
        assert refused.status == 429 and taken.accepted
        assert taken.at - refused.at >= 37
