"""A sandbox whose Gateway keeps Discord's limits, a tidegate before it, and what the sandbox judged."""

from __future__ import annotations

import asyncio
import itertools

from discord_house import BOT, EPOCH_MS, DiscordHouse

GUILD, CHANNEL = "1", "1"


class GatewayHouse(DiscordHouse):
    """Bots' own timers run in our seconds, so the platform's may be shrunk only where the test says so."""

    def __init__(self, scale: float = 1) -> None:
        super().__init__(scale)
        self.numbers = itertools.count(1)

    def __exit__(self, kind, error, trace) -> None:
        if error is not None:
            print(f"the Gateway's figures: {self.stats()}")
        super().__exit__(kind, error, trace)

    def stats(self) -> dict:
        """The sandbox's figures for the one bot."""
        bots = self.control("gateway/stats")["bots"]
        return next((bot for bot in bots if str(bot["bot"]) == BOT), {})

    def dispatch(self, shard: int | None = None) -> int:
        """A message that nobody has seen yet; its number."""
        n = next(self.numbers)
        message = {
            "id": str((1_800_000_000_000 - EPOCH_MS << 22) + n), "channel_id": CHANNEL, "guild_id": GUILD,
            "author": {"id": "77", "username": "somebody", "discriminator": "0", "avatar": None},
            "content": f"#{n}", "timestamp": "2026-01-01T00:00:00.000000+00:00", "edited_timestamp": None,
            "tts": False, "mention_everyone": False, "mentions": [], "mention_roles": [], "attachments": [],
            "embeds": [], "pinned": False, "type": 0, "components": [],
        }  # fmt: skip
        where = {} if shard is None else {"shard": shard}
        self.control("gateway/dispatch", {"bot": BOT, "t": "MESSAGE_CREATE", "d": message, **where})
        return n

    def weather(self, on: str, do: object, **rule) -> None:
        """Something happens to connections at that moment."""
        self.control("gateway/weather", {"on": on, "do": do, **rule})

    def strike(self, do: object) -> None:
        """Something happens to all live connections now."""
        assert self.control("gateway/now", {"do": do})["connections"] > 0, "nothing is connected"

    def assert_kept(self, identifies: int, closed_4008: int = 0) -> None:
        """No limit of the Gateway was met, and no more session starts were spent. `closed_4008`: forced."""
        stats = self.stats() or self.control("gateway/stats")
        assert stats["spacing_violations"] == 0 and stats["token_resets"] == 0, stats
        assert stats["worst_minute"] <= 120 and stats["closes"].get("4008", 0) == closed_4008, stats
        assert stats["identifies"] <= identifies, stats

    async def stream(self, seconds: float, every: float = 0.05) -> None:
        """Messages at that pace (our seconds)."""
        for _ in range(int(seconds / every)):
            self.dispatch()
            await asyncio.sleep(every)
