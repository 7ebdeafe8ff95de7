"""The messages that cases were read from, if there are more than the question and the reply."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Select, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import Case, LoggedCase, Part, QuestionSource, to_conversation
from bot.store.schema import cases, is_of_case, turns
from bot.store.visibility import same_reply
from judge import Turn

IS_OF_RESPONSE = turns.c.part == Part.RESPONSE


def turn_rows(case: Case, case_id: int) -> list[dict[str, Any]]:
    its = {"team_id": case.team_id, "channel_id": case.channel_id, "case_id": case_id}
    return [
        turn.model_dump() | its | {"position": position} for position, turn in enumerate(case.turns)
    ]


async def read_conversations(
    connection: AsyncConnection, case_ids: Collection[int]
) -> Mapping[int, tuple[Turn, ...]]:
    """What was said before the question in those of these cases that have it, as the judge is shown
    it.
    """
    query = (
        select(turns.c.case_id, turns.c.role, turns.c.text, cases.c.left_out)
        .join(cases, is_of_case(turns))
        .where(
            turns.c.case_id.in_(case_ids),
            turns.c.part == Part.CONVERSATION,
            turns.c.text.is_not(None),
        )
        .order_by(turns.c.case_id, turns.c.position)
    )
    said: dict[tuple[int, int], list[Turn]] = {}
    for row in await connection.execute(query):
        said.setdefault((row.case_id, row.left_out), []).append(Turn(row.role, row.text))
    return {
        case_id: to_conversation(given, left_out) for (case_id, left_out), given in said.items()
    }


async def read_said(connection: AsyncConnection, case: LoggedCase) -> Mapping[str, Turn]:
    """What people wrote before a reply in its thread, as all its cases were read: by ts, the newest
    first.

    The case's own question is not among it, nor are words that were deleted, forgotten or not kept.
    """
    # A message that is a case's question and another's turn is read twice; any of the two will do.
    by_ts = {}
    for query in _said_before(case):
        for row in await connection.execute(query):
            if row.ts and row.text:
                by_ts[row.ts] = row
    numbers: dict[str | None, int] = {}
    said: dict[str, Turn] = {}
    for ts in sorted(by_ts, key=float):
        row = by_ts[ts]
        number = numbers.setdefault(row.author_id, len(numbers) + 1)
        said[ts] = Turn(f"Person {number}", row.text)
    said.pop(case.question_ts or "", None)
    return dict(reversed(said.items()))


def _said_before(case: LoggedCase) -> tuple[Select[Any], Select[Any]]:
    """The questions of all cases of a reply, and what people said before them."""
    questions = select(
        cases.c.question_ts.label("ts"),
        cases.c.question_author_id.label("author_id"),
        cases.c.question.label("text"),
    ).where(
        same_reply(case),
        cases.c.parent_ts.is_not(None),
        cases.c.question_source != QuestionSource.FORM,
    )
    is_persons = or_(turns.c.part == Part.QUESTION, turns.c.role.startswith("Person"))
    messages = (
        select(turns.c.ts, turns.c.author_id, turns.c.text)
        .join(cases, is_of_case(turns))
        .where(same_reply(case), is_persons)
    )
    return questions, messages
