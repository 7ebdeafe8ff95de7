"""What a reaction is called: skin tones and Slack's own aliases are one emoji, and what else is
typed is none.
"""

import pytest

from bot.features.score.events import parse_reaction
from bot.slack.mrkdwn import emoji_of
from tests.tables import each


@each(
    ("name", "emoji"),
    [
        ("mag", "mag"),
        ("thumbsup", "+1"),
        ("+1::skin-tone-3", "+1"),
        ("party-parrot", "party-parrot"),
    ],
)
def test_one_emoji_has_one_name(name: str, emoji: str) -> None:
    assert emoji_of(name) == emoji


@each(
    ("text", "emoji"),
    [
        (" :MAG: ", "mag"),
        (":+1::skin-tone-3:", "+1"),
        (":größe:", "größe"),
        ("", None),
        (" OFF ", ""),
    ],
)
def test_an_emoji_is_typed_between_colons(text: str, emoji: str | None) -> None:
    assert parse_reaction(text) == emoji


@each("text", ["mag", "🔍", ":mag: :tada:", ":<!here>:", ":*a*:", ":skin-tone-3:"])
def test_what_is_no_emoji_is_quoted(text: str) -> None:
    with pytest.raises(ValueError, match="I do not know"):
        parse_reaction(text)
