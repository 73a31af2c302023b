"""What all tests here share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from libraries.aiogram_bot import Aiogram  # noqa: E402
from libraries.grammy import Grammy  # noqa: E402
from libraries.ptb import PythonTelegramBot  # noqa: E402
from libraries.telebot_async import TelebotAsync  # noqa: E402
from libraries.telebot_sync import TelebotSync  # noqa: E402
from libraries.telegraf import Telegraf  # noqa: E402

LIBRARIES = {
    "ptb": PythonTelegramBot,
    "grammy": Grammy,
    "telegraf": Telegraf,
    "telebot": TelebotSync,
    "telebot_async": TelebotAsync,
    "aiogram": Aiogram,
}


def pytest_collection_modifyitems(items):
    """The long ones first."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(params=LIBRARIES.values(), ids=LIBRARIES.keys())
def library(request):
    """Each client library in turn."""
    return request.param
