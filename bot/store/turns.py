"""The messages that cases were read from, if there are more than the question and the reply."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import or_, select
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
    asked = select(cases.c.question_ts, cases.c.question_author_id, cases.c.question).where(
        same_reply(case)
    )
    asked = asked.where(
        cases.c.parent_ts.is_not(None), cases.c.question_source != QuestionSource.FORM
    )
    is_persons = or_(turns.c.part == Part.QUESTION, turns.c.role.startswith("Person"))
    said = select(turns.c.ts, turns.c.author_id, turns.c.text).join(cases, is_of_case(turns))
    queries = asked, said.where(same_reply(case), is_persons)
    rows = [
        row for query in queries for row in await connection.execute(query) if row[0] and row[2]
    ]
    numbers: dict[str | None, int] = {}
    found: dict[str, Turn] = {}
    for ts, author_id, text in sorted(map(tuple, rows), key=lambda row: float(row[0])):
        found[ts] = Turn(f"Person {numbers.setdefault(author_id, len(numbers) + 1)}", text)
    return {ts: found[ts] for ts in reversed(found) if ts != case.question_ts}
