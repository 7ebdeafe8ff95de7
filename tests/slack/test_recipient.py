"""Whoever is told something is told where they are, and not where they may have left."""

from typing import Any

from bot.domain.case import CaseSource, Recipient, requester_of
from bot.slack.invocation import to_invocation
from tests.pipeline.test_verdict_text import a_case
from tests.tables import each

URL = "https://hooks.slack.com/1"
WHO: dict[str, Any] = {"team_id": "T1", "user": {"id": "U2", "username": "ben", "team_id": "T1"}}


def test_whoever_submits_a_window_is_not_told_where_it_was_opened() -> None:
    remembered = f'{{"channel_id": "C1", "response_url": "{URL}"}}'
    submission = WHO | {"type": "view_submission", "view": {"private_metadata": remembered}}
    recipient = to_invocation(submission).recipient
    assert (recipient.channel_id, recipient.response_url) == ("", None)


@each(
    ("source", "is_in_channel"),
    [
        (CaseSource.BUTTON, False),
        (CaseSource.LINK, True),
        (CaseSource.TEXT, True),
        (CaseSource.MODAL, True),
    ],
)
def test_a_requester_stands_where_they_asked(source: CaseSource, is_in_channel: bool) -> None:
    case = a_case(source=source, parent_ts="1.1", response_url=URL)
    assert requester_of(case) == Recipient("U1", "C1", "1.1", URL, is_in_channel)


def test_whoever_asks_again_is_told_and_not_the_first_who_asked() -> None:
    click = to_invocation(WHO | {"channel": {"id": "C9"}, "response_url": URL})
    case = a_case(parent_ts="1.1", response_url="https://hooks.slack.com/2")
    assert click.recipient_at(case) == Recipient("U2", "C1", "1.1", URL)
