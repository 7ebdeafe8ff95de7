"""docs/settings.md: every setting, as defined in the code."""

import re

import pytest
from pydantic.fields import FieldInfo

from bot.settings import Settings
from tests.tables import each
from tools.settings import PAGE, page, row


def test_the_page_is_generated_from_the_code_with_every_setting_once() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "make it anew: python -m tools.settings"
    named = re.findall(r"^\| `([A-Z_]+)` \|", page(), re.MULTILINE)
    assert sorted(named) == sorted(name.upper() for name in Settings.model_fields)
    in_files = {
        f"SLACK_{name}" for name in ("APP_TOKEN", "BOT_TOKEN", "CLIENT_SECRET", "SIGNING_SECRET")
    }
    in_files |= {"DATABASE_URL", "OPENAI_API_KEY", "TOKEN_KEYS"}
    assert set(re.findall(r"`([A-Z_]+)_FILE`", page())) == in_files


@each(
    ("name", "default"),
    [
        ("slack_bot_token", "none"),
        ("channels_allowed", "none"),
        ("score_people", "`private`"),
        ("verdict_visibility", "`thread`"),
        ("judge_concurrency", "`8`"),
    ],
)
def test_defaults_are_written_as_an_operator_sets_them(name: str, default: str) -> None:
    assert row(name, Settings.model_fields[name])[:2] == (f"`{name.upper()}`", default)


def test_a_setting_without_a_description_is_refused() -> None:
    with pytest.raises(ValueError, match="no description; say in it what the setting does"):
        row("new", FieldInfo(default=1))
