"""The alert of unanswered questions, for `tests/screens.py`."""

from datetime import timedelta

from bot.features.outcome.text import unanswered_alert
from tests.features.outcome.test_alarm import asked_at

URL = "https://acme.slack.com/"


def make(words: str) -> None:
    questions = asked_at(*range(1 + len(words) % 20))
    now = questions[-1].asked_at + timedelta(hours=2)
    unanswered_alert(words[:200] or "x", questions, 30, now, URL)
