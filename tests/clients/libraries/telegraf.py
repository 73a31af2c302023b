"""telegraf, in a Node process of its own. It takes no headers from its caller: patient or not, it waits for 500 s and is
held for as long as its name on the wire allows."""

from __future__ import annotations

from .grammy import Grammy


class Telegraf(Grammy):
    name = "telegraf"
    program = "telegraf_bot.cjs"
