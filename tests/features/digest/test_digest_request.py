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
        ("on Singapore", {"digest_tz": "Singapore"}),
        ("on 9", {"digest_time": "09:00"}),
        ("on europe/berlin", {"digest_tz": "Europe/Berlin"}),
        (
            "on every Tues at 7:30 in UTC",
            {"digest_day": "tuesday", "digest_time": "07:30", "digest_tz": "UTC"},
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


@each("text", ["people", "people yes", "on fryday", "on 25:00", "on Berlin", "later", "off now"])
def test_anything_else_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a day|not a time|I do not know"):
        parse_digest(text)


def test_digests_come_on_monday_morning_by_default() -> None:
    found = make()
    assert (found.digest_day, found.digest_time, found.digest_tz) == ("monday", "09:00", "UTC")


def test_wrong_digest_settings_are_listed_together() -> None:
    with pytest.raises(SettingsError) as error:
        make(digest_day="someday", digest_time="9am", digest_tz="Berlin", digest_by="nobody")
    message = str(error.value)
    assert "DIGEST_DAY: 'someday' is not a day of the week" in message
    assert "DIGEST_TIME: '9am' is not a time of day" in message
    assert "DIGEST_TZ: 'Berlin' is not a time zone; expected one such as Europe/Berlin" in message
    assert "DIGEST_BY: " in message
