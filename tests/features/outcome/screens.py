"""The messages about outcomes, for `tests/screens.py`."""

from datetime import timedelta

from bot.features.outcome.text import contradicted_post, unanswered_alert
from bot.slack.blocks import section
from tests.features.outcome.test_alarm import asked_at

URL = "https://acme.slack.com/"


def make(words: str) -> None:
    questions = asked_at(*range(1 + len(words) % 20))
    now = questions[-1].asked_at + timedelta(hours=2)
    unanswered_alert(words[:200] or "x", questions, 30, now, URL)
    contradicted_post({"Contested": [section(words[:3000] or "x")], "Confirmed": []})
