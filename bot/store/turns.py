"""The messages that cases were read from, if there are more than the question and the reply."""

from collections.abc import Collection, Mapping

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import Case, Part, to_conversation
from bot.store.schema import cases, is_of_case, turns
from judge import Turn


async def add_turns(connection: AsyncConnection, case: Case, case_id: int) -> None:
    its = {"team_id": case.team_id, "channel_id": case.channel_id, "case_id": case_id}
    rows = [
        turn.model_dump() | its | {"position": position} for position, turn in enumerate(case.turns)
    ]
    if rows:
        await connection.execute(insert(turns), rows)


async def replace_turns(connection: AsyncConnection, case: Case, case_id: int) -> None:
    its = delete(turns).filter_by(team_id=case.team_id, case_id=case_id)
    await connection.execute(its)
    await add_turns(connection, case, case_id)


_SAID = (
    select(turns.c.case_id, turns.c.role, turns.c.text, cases.c.left_out)
    .join(cases, is_of_case(turns))
    .where(turns.c.part == Part.CONVERSATION, turns.c.text.is_not(None))
    .order_by(turns.c.case_id, turns.c.position)
)


async def read_conversations(
    connection: AsyncConnection, case_ids: Collection[int]
) -> Mapping[int, tuple[Turn, ...]]:
    """What was said before the question in those of these cases that have it, as the judge is shown
    it.
    """
    said: dict[tuple[int, int], list[Turn]] = {}
    for row in await connection.execute(_SAID.where(turns.c.case_id.in_(case_ids))):
        said.setdefault((row.case_id, row.left_out), []).append(Turn(row.role, row.text))
    return {
        case_id: to_conversation(given, left_out) for (case_id, left_out), given in said.items()
    }
