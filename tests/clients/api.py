"""The Bot API without a library, for what no library does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp

from harness import TOKEN


@dataclass(frozen=True)
class Answer:
    status: int
    body: dict
    headers: Mapping[str, str]  # whatever the case of a name

    @property
    def ok(self) -> bool:
        return self.status == 200 and self.body.get("ok") is True

    @property
    def result(self):
        assert self.ok, self
        return self.body["result"]

    @property
    def message(self) -> int:
        return self.result["message_id"]

    @property
    def retry_after(self) -> int:
        """What a 429 tells, in all the places that it must stand in."""
        assert self.status == 429 and self.body["ok"] is False and self.body["error_code"] == 429, self
        told = self.body["parameters"]["retry_after"]
        assert isinstance(told, int) and told >= 1, "libraries parse a whole number"
        assert self.headers.get("Retry-After") == str(told)
        return told

    @property
    def outcome(self) -> str | None:
        return self.headers.get("X-Tidegate-Outcome")


class Api:
    """Calls with as many connections as are asked for, each waiting as long as it takes."""

    def __init__(self, base: str, token: str = TOKEN, hold: str | None = "300s") -> None:
        self.base, self.token, self.hold = base, token, hold

    async def __aenter__(self) -> "Api":
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=300)
        )
        return self

    async def __aexit__(self, *_) -> None:
        await self.session.close()

    async def __call__(self, method: str, *, cls: str | None = None, hold: str | None = None, **args) -> Answer:
        headers = {}
        if hold or self.hold:
            headers["X-Tidegate-Max-Hold"] = hold or self.hold
        if cls:
            headers["X-Tidegate-Class"] = cls
        return await self.post(method, headers=headers, json=args)

    async def post(self, method: str, **request) -> Answer:
        async with self.session.post(f"{self.base}/bot{self.token}/{method}", **request) as answer:
            # A 5xx is handed through as the platform sent it, which may be a web page.
            json = "json" in answer.headers.get("Content-Type", "")
            body = await answer.json() if json else {"text": await answer.text()}
            return Answer(answer.status, body, answer.headers)

    async def send(self, chat: int | str, text: str, **more) -> Answer:
        return await self("sendMessage", chat_id=chat, text=text, **more)

    async def edit(self, chat: int | str, message: int, text: str, **more) -> Answer:
        return await self("editMessageText", chat_id=chat, message_id=message, text=text, **more)
