"""A sandbox that keeps Discord's limits and a tidegate before it, and what the sandbox judged."""

from __future__ import annotations

from dataclasses import dataclass

from harness import House

BOT = "123456789012345678"
TOKEN = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GsEcRe.discordsecretdiscordsecret0"
OTHER = "876543210987654321"
OTHER_TOKEN = "ODc2NTQzMjEwOTg3NjU0MzIx.GsEcRe.discordsecretdiscordsecret1"
EPOCH_MS = 1_420_070_400_000


@dataclass(frozen=True)
class DiscordCall:
    """One call as the platform saw it."""

    at: float  # platform seconds since the sandbox started
    bot: str
    route: str
    channel: int | None
    text: str
    files: int
    status: int
    forced: bool


class DiscordHouse(House):
    """At the speed of the real platform: the libraries' own limiters wait what the headers tell, in seconds of ours."""

    kind = "discord"

    def __init__(self, scale: float = 1) -> None:
        super().__init__(scale)

    def log(self, route: str | None = None, channel: int | None = None) -> list[DiscordCall]:
        calls = [
            DiscordCall(
                at=entry["at_ms"] / 1000,
                bot=str(entry["bot"]),
                route=entry["route"],
                channel=int(entry["channel"]) if "channel" in entry else None,
                text=entry.get("text") or "",
                files=entry["files"],
                status=entry["status"],
                forced=entry["forced"],
            )
            for entry in self.control("log")["calls"]
        ]
        return [
            call
            for call in calls
            if (route is None or call.route == route) and (channel is None or call.channel == channel)
        ]

    def sends(self, channel: int | None = None) -> list[DiscordCall]:
        """Messages that were taken."""
        return [call for call in self.log("POST /channels/{id}/messages", channel) if call.status == 200]

    def texts_of(self, channel: int) -> list[str]:
        """The messages of a channel as they stand."""
        return [message["text"] for message in self.control(f"messages?channel={channel}")["messages"]]

    def assert_clean(self, refused: int = 0, bans: int = 0) -> None:
        """No call that could be known to be refused, no refusals and bans but those forced, nothing twice."""
        stats = self.control("stats")
        assert stats["foreseeable_429"] == 0, stats
        assert stats["refused_429"] == refused, stats
        assert (stats["bans"], stats["into_ban"], stats["into_global"]) == (bans, 0, 0), stats
        assert (stats["duplicates"], stats["needless_authorization"]) == (0, 0), stats
        assert stats["tidegate_headers"] == 0, "headers of tidegate's own went on to the platform"
