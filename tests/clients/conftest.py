"""What all tests here share."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

# Each is imported by the first test that takes it.
LIBRARIES = {
    "ptb": "ptb.PythonTelegramBot",
    "grammy": "grammy.Grammy",
    "telegraf": "telegraf.Telegraf",
    "telebot": "telebot_sync.TelebotSync",
    "telebot_async": "telebot_async.TelebotAsync",
    "aiogram": "aiogram_bot.Aiogram",
}
# To import it takes five seconds of processor time: one worker has all of its tests.
HEAVY = {"aiogram"}


@pytest.fixture(params=LIBRARIES.values(), ids=LIBRARIES.keys())
def library(request):
    """Each client library in turn."""
    module, name = request.param.split(".")
    return getattr(import_module(f"libraries.{module}"), name)


def pytest_xdist_make_scheduler(config, log):
    """A test at a time to each worker, but those of a heavy library all to one."""
    from xdist.scheduler import LoadScopeScheduling

    class OneByOne(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return next((name for name in HEAVY if f"[{name}" in nodeid), nodeid)

    return OneByOne(config, log)


def pytest_collection_modifyitems(items):
    """The longest first, so that none of them is left alone at the end."""
    markers = {item: item.get_closest_marker("long") for item in items}
    items.sort(key=lambda item: -markers[item].args[0] if markers[item] else 0)
