"""`judge-bot export`: labelled cases as JSONL, in the form that `judge agreement --label human` reads."""

import hashlib
import json
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, TextIO

from sqlalchemy.exc import DBAPIError

from bot.errors import LogError
from bot.log.errors import LOG_ERRORS
from bot.log.labels import LabelledCase, Labels

_RATER_DIGITS = 12


async def export(labels: Labels, output: TextIO, since: datetime | None = None, has_texts: bool = True) -> int:
    """Writes a row for each label and gives their number.

    `has_texts` False leaves the texts out, as are those of a message that was deleted in Slack; rows of the same
    question are still known as such by `prompt_id`.

    Raises:
        LogError: The log cannot be read.
        OSError: `output` cannot be written.
    """
    count = 0
    async for labelled in _labelled_cases(labels, since):
        output.write(json.dumps(_to_row(labelled, has_texts), ensure_ascii=False) + "\n")
        count += 1
    return count


async def _labelled_cases(labels: Labels, since: datetime | None) -> AsyncIterator[LabelledCase]:
    try:
        async for labelled in labels.labelled_cases(since):
            yield labelled
    except LOG_ERRORS as exc:  # an OSError of the database's; one of `output` is raised outside of here
        reason = str(exc.orig if isinstance(exc, DBAPIError) else exc) or "no answer in time"
        raise LogError(f"the log cannot be read ({reason}); the export is not complete") from exc


def _to_row(labelled: LabelledCase, has_texts: bool) -> dict[str, Any]:
    row = {
        "case": labelled.id,
        "prompt_id": labelled.question_hash,
        "score": labelled.score,
        "human": labelled.human,
        "label_by": _pseudonym(labelled.team_id, labelled.user_id),
        "model": labelled.model,
        "rubric": labelled.rubric,
        "rubric_version": labelled.rubric_version,
        "channel": labelled.channel_id,
        "judged_at": labelled.judged_at.isoformat(),
    }
    if has_texts:
        row["reason"] = labelled.reason
    if has_texts and labelled.response is not None:
        row |= {"prompt": labelled.question, "completion": labelled.response}
    return row


def _pseudonym(team_id: str, user_id: str) -> str:
    """Tells people apart without naming them; whoever knows the workspace's user ids can undo it."""
    return hashlib.sha256(f"{team_id}:{user_id}".encode()).hexdigest()[:_RATER_DIGITS]
