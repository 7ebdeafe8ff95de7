"""What of a case is judged, as it stands in Slack, or why there is nothing to judge."""

from datetime import timedelta

from bot.domain.blocker import GONE, MAY_NOT_READ, NO_QUESTION, NOT_KEPT
from bot.domain.case import WITHOUT_QUESTION, Exclusion, LoggedCase, QuestionSource
from bot.domain.clock import utc_now
from bot.pipeline.exchange import Exchange
from bot.pipeline.lookup import Lookup, NotReadableError
from bot.pipeline.retries import RetryError
from bot.pipeline.text import OUT_OF_REACH, OUT_OF_SIGHT
from bot.slack.client import MISSING
from judge import nothing_to_judge
from judge.scoring.attacks import too_long

_LOOK_AGAIN = timedelta(seconds=2)
_WRITTEN_FOR = timedelta(minutes=2)
"""When a reply that is still being written is read again, and how long after the request at most."""
_NOT_ASKED = WITHOUT_QUESTION | {"messages_before": 0, "left_out": 0}


async def complete(lookup: Lookup, case: LoggedCase) -> tuple[LoggedCase, str]:
    """The case with what could be read in Slack, or a blocker; and the reason for asking for its
    question, if any.
    """
    why_asked = NO_QUESTION
    if case.blocker is None and None in (case.question_source, case.question, case.response):
        case, why_asked = await _read(lookup, case)
    if case.blocker is None and case.question is not None:
        nothing = too_long(*case.texts) or nothing_to_judge(*case.texts)
        if nothing:
            case = case.model_copy(update={"blocker": nothing.detail})
    return case, why_asked


async def _read(lookup: Lookup, case: LoggedCase) -> tuple[LoggedCase, str]:
    """The case with its reply and its question as they stand in Slack, and why the question may be
    missing.
    """
    gone = GONE if case.message_ts else NOT_KEPT
    try:
        exchange = await lookup.exchange(case)
    except NotReadableError as exc:
        if str(exc) == MISSING:
            return _unread(case, MAY_NOT_READ), OUT_OF_REACH
        return _unread(case, gone), OUT_OF_SIGHT
    if exchange is None:
        return _unread(case, gone), NO_QUESTION
    return await _with_exchange(lookup, case, exchange), NO_QUESTION


async def _with_exchange(lookup: Lookup, case: LoggedCase, exchange: Exchange) -> LoggedCase:
    is_unfinished = any(message.is_unfinished for message in exchange.reply)
    if is_unfinished and utc_now() - case.created_at < _WRITTEN_FOR:
        raise RetryError("the reply is still being written", _LOOK_AGAIN)
    first = exchange.reply[0]
    read = exchange.to_found()
    if case.author_id is None:  # a linked message, whose author is not known before it is read
        marks = await lookup.marks_of(first.author_id)
        read |= {name: mark for name, mark in marks._asdict().items() if mark}
    if case.question_source is not QuestionSource.TYPED:
        read |= _NOT_ASKED | exchange.to_asked()
        if exchange.question and exchange.question.is_edited_after(first.ts):
            read["excluded"] = read.get("excluded") or case.excluded or Exclusion.EDITED
    return case.model_copy(update=read)


def _unread(case: LoggedCase, gone: str) -> LoggedCase:
    """The case without its thread: what the payload or an earlier case had is judged."""
    changes: dict[str, object] = {}
    if case.response is None:
        changes["blocker"] = gone
    if case.question is None:
        changes |= _NOT_ASKED
    elif case.question_source is None:
        changes["question_source"] = QuestionSource.EARLIER
    return case.model_copy(update=changes)
