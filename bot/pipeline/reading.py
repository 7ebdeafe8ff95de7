"""What is judged: a case's reply and question as they stand in Slack, or why there is nothing to judge."""

from datetime import timedelta

from bot.domain.blocker import GONE, MAY_NOT_READ, NO_QUESTION, NOT_KEPT
from bot.domain.case import Exclusion, LoggedCase, QuestionSource
from bot.domain.clock import utc_now
from bot.pipeline.lookup import Lookup, MayNotReadError, OutOfSightError
from bot.pipeline.retries import RetryError
from bot.pipeline.text import OUT_OF_REACH, OUT_OF_SIGHT
from judge import nothing_to_judge
from judge.scoring.attacks import too_long

_LOOK_AGAIN, _WRITTEN_FOR = timedelta(seconds=2), timedelta(minutes=2)
"""When a reply that is still being written is read again, and how long after the request at most."""
_NOT_ASKED = dict.fromkeys(("question", "question_source", "question_ts", "question_author_id"))
_NOT_ASKED |= {"messages_before": 0, "left_out": 0}


async def complete(lookup: Lookup, case: LoggedCase) -> tuple[LoggedCase, str]:
    """The case with what could be read in Slack, or a blocker; and the reason for asking for its question, if any."""
    why_asked = NO_QUESTION
    if case.blocker is None and None in (case.question_source, case.question, case.response):
        case, why_asked = await _read(lookup, case)
    if case.lacks_question and case.is_automated:
        # There is no person to ask, and an automation must not wait for ever.
        case = case.model_copy(update={"blocker": NO_QUESTION})
    if case.blocker is None and case.question is not None:
        texts = case.question, case.response or ""
        nothing = too_long(*texts) or nothing_to_judge(*texts)
        if nothing:
            case = case.model_copy(update={"blocker": nothing.detail})
    return case, why_asked


async def _read(lookup: Lookup, case: LoggedCase) -> tuple[LoggedCase, str]:
    """The case with its reply and its question as they stand in Slack, and why the question may be missing."""
    gone, why_asked, found = GONE if case.message_ts else NOT_KEPT, NO_QUESTION, None
    try:
        found = await lookup.exchange(case)
    except OutOfSightError:
        why_asked = OUT_OF_SIGHT
    except MayNotReadError:
        gone, why_asked = MAY_NOT_READ, OUT_OF_REACH
    if found is None:
        # Without the thread, what the payload or an earlier case had is judged.
        changes: dict[str, object] = {"blocker": gone} if case.response is None else {}
        if case.question is None:
            changes |= _NOT_ASKED
        elif case.question_source is None:
            changes["question_source"] = QuestionSource.EARLIER
        return case.model_copy(update=changes), why_asked
    if any(each.is_unfinished for each in found.reply) and utc_now() - case.created_at < _WRITTEN_FOR:
        raise RetryError("the reply is still being written", _LOOK_AGAIN)
    blocker = next((each.blocker for each in found.reply if each.blocker), None)
    read = found.to_found() | {"blocker": None if found.response else blocker}
    if case.author_id is None:  # a linked message, whose author is not known before it is read
        read |= await lookup.marks_of(found.reply[0].author_id)
    if case.question_source is not QuestionSource.TYPED:
        read |= _NOT_ASKED | found.to_asked()
        if found.question and found.question.is_edited_after(found.reply[0].ts):
            read["excluded"] = read.get("excluded") or case.excluded or Exclusion.EDITED
    return case.model_copy(update=read), why_asked
