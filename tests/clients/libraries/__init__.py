"""One face for every client library, so that a scenario is written once.

Each library runs unchanged with its own defaults: what stands here only points it at an address, hands calls in and
turns its own exceptions into `Refused` (a 429, with the time told) and `Failed` (anything else).
"""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from pathlib import Path


class Failed(Exception):
    """A call that ended in an error which is not a 429, with its status where the library tells it."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class Refused(Failed):
    """A 429, as the library shows it to its caller."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"retry after {retry_after}")
        self.retry_after = retry_after


class Library(ABC):
    """A bot of one library. Cancelling the task of a call must make the library leave."""

    name: str
    # Calls at once by default; more wait inside the library, and leave it together.
    connections = 1000

    def __init__(self, base: str, token: str, patient: bool = False) -> None:
        """At the library's defaults, or `patient`: with its timeout raised and a long hold asked for, as README says."""
        self.base = base
        self.token = token
        self.headers = {"X-Tidegate-Max-Hold": "300s"} if patient else {}

    async def __aenter__(self) -> "Library":
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    @abstractmethod
    async def me(self) -> dict:
        """getMe."""

    @abstractmethod
    async def send(self, chat: int | str, text: str) -> int:
        """sendMessage; the id of the message."""

    @abstractmethod
    async def edit(self, chat: int | str, message: int, text: str) -> None:
        """editMessageText."""

    @abstractmethod
    async def delete(self, chat: int | str, message: int) -> None:
        """deleteMessage."""

    @abstractmethod
    async def typing(self, chat: int | str, thread: int | None = None) -> bool:
        """sendChatAction."""

    @abstractmethod
    async def document(self, chat: int | str, name: str, content: bytes) -> int:
        """sendDocument; the id of the message."""

    @abstractmethod
    async def poll(self, chat: int | str, question: str, options: list[str]) -> int:
        """sendPoll; the id of the message."""

    @abstractmethod
    async def album(self, chat: int | str, photos: list[bytes]) -> list[int]:
        """sendMediaGroup; the ids of the messages."""

    @abstractmethod
    async def updates(self) -> list:
        """getUpdates without a wait."""

    @abstractmethod
    async def answer_callback(self, query: str) -> bool:
        """answerCallbackQuery."""

    @abstractmethod
    async def download(self, file_id: str) -> bytes:
        """getFile, then the file itself."""


async def until_taken(call, *args, scale: float, tries: int = 200):
    """Calls until the library no longer reports a 429, sleeping what it was told: what every library's manual asks.

    The time told is the platform's; `scale` turns it into ours.
    """
    for _ in range(tries):
        try:
            return await call(*args)
        except Refused as refused:
            await asyncio.sleep(refused.retry_after * scale)
    raise AssertionError(f"refused {tries} times")


def node_modules() -> str:
    """Where the pinned Node packages are."""
    return os.environ["CLIENTS_NODE_MODULES"]


def twilight_bot() -> str:
    """The bot on twilight-http, as `cargo xtask install` built it."""
    built = Path(__file__).parents[3] / "target/clients/twilight/debug/twilight-bot"
    found = os.environ.get("CLIENTS_TWILIGHT", str(built))
    assert Path(found).exists(), f"{found} is missing: run `cargo xtask install`"
    return found
