"""What an attempt knows of the posts of the attempt before it."""

from bot.pipeline.delivery import taken_up
from bot.pipeline.verdict_text import UNCONFIRMED
from tests.pipeline.test_verdict_text import a_case
from tests.tables import each


@each(
    ("blocked_by", "is_looked_for"), [(None, True), (UNCONFIRMED, True), ("not_in_channel", False)]
)
def test_a_post_is_looked_for_unless_slack_refused_it(
    blocked_by: str | None, is_looked_for: bool
) -> None:
    case = taken_up(a_case(blocked_by=blocked_by, thread_intent=True, reply_intent=True))
    assert case.blocked_by is None
    assert (case.thread_intent, case.reply_intent) == (is_looked_for, is_looked_for)
