"""What follows `/judge digest`, and the settings that stand in for what a channel has not chosen."""

from typing import Any

import pytest

from bot.errors import SettingsError
from bot.features.digest.handlers import parse_digest
from bot.settings import Settings, load_settings
from tests.tables import each


def make(**given: Any) -> Settings:
    needed = {"slack_bot_token": "xoxb-1", "slack_app_token": "xapp-1", "openai_api_key": "k"}
    return load_settings(env_file=None, **(needed | given))


@each(
    ("text", "changes"),
    [
        ("on", {}),
        ("on WET", {"digest_tz": "WET"}),
        ("on 9", {"digest_time": "09:00"}),
        (
            "on every Tues at 7:30 in europe/berlin",
            {"digest_day": "tuesday", "digest_time": "07:30", "digest_tz": "Europe/Berlin"},
        ),
        (
            "on America/New_York 16:00 sunday",
            {"digest_day": "sunday", "digest_time": "16:00", "digest_tz": "America/New_York"},
        ),
    ],
)
def test_day_time_and_zone_come_in_any_order(text: str, changes: dict[str, str]) -> None:
    assert parse_digest(text) == {"is_digest_on": True} | changes
    assert parse_digest("") == {}


@each("text", ["people", "on fryday", "on 25:00", "on Berlin", "on mon tue", "off now"])
def test_anything_else_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a day|not a time|I do not know"):
        parse_digest(text)


def test_digest_settings_have_defaults_and_wrong_ones_are_listed_together() -> None:
    found = make()
    assert (found.digest_day, found.digest_time, found.digest_tz) == ("monday", "09:00", "UTC")
    with pytest.raises(SettingsError) as error:
        make(digest_day="someday", digest_time="9am", digest_tz="Berlin", digest_by="nobody")
    for name in ("DIGEST_DAY: 'someday'", "DIGEST_TIME: '9am'", "DIGEST_TZ: ", "DIGEST_BY: "):
        assert name in str(error.value)
