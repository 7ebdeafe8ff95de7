"""Whose words are not stored again, because they had them forgotten."""

from collections.abc import Mapping
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.blocker import FORGOTTEN
from bot.domain.case import Case, Part
from bot.domain.questions import to_time
from bot.store.schema import forgotten

AnyCase = TypeVar("AnyCase", bound=Case)

# Built once, because every case asks it. On PostgreSQL, `PersonalData.forget` waits until all
# transactions that have read this are over, so that it finds their cases.
_FORGOTTEN = (
    sa.select(forgotten.c.user_id, forgotten.c.at)
    .where(
        forgotten.c.team_id == sa.bindparam("team_id"),
        forgotten.c.user_id.in_(sa.bindparam("user_ids", expanding=True)),
    )
    # A workspace that moved under its organisation can have brought a second time: the newest counts.
    .order_by(forgotten.c.at)
    .with_for_update(read=True, key_share=True)
)
_NO_WORDS: Mapping[str, Any] = {
    "question": None,
    "question_source": None,
    "question_ts": None,
    "question_author_id": None,
    "response": None,
    "turns": (),
    "messages_before": 0,
    "left_out": 0,
    "blocker": FORGOTTEN,
}


async def without_forgotten(connection: AsyncConnection, case: AnyCase) -> AnyCase:
    """The case without the messages of people who had their words forgotten after they wrote them.

    If its question or reply is such a message, it has no words left, and a blocker. The requester's
    own words are left in, because they ask for a score of them now.
    """
    gone = await _forgotten_messages(connection, case)
    if not gone:
        return case
    judged = {turn.ts for turn in case.turns if turn.part in (Part.QUESTION, Part.RESPONSE)}
    if gone & {case.message_ts, case.question_ts, *judged}:
        return case.model_copy(update=_NO_WORDS)
    kept = tuple(turn for turn in case.turns if turn.ts not in gone)
    return case.model_copy(update={"turns": kept, "left_out": case.left_out + len(gone)})


async def _forgotten_messages(connection: AsyncConnection, case: Case) -> set[str]:
    messages: list[tuple[str | None, str | None]] = [
        (case.author_id, case.message_ts),
        (case.question_author_id, case.question_ts),
        *((turn.author_id, turn.ts) for turn in case.turns),
    ]
    others = {author_id for author_id, _ in messages if author_id} - {case.requester_id}
    if not others:
        return set()
    asked = {"team_id": case.team_id, "user_ids": sorted(others)}
    forgotten_at = {row.user_id: row.at for row in await connection.execute(_FORGOTTEN, asked)}
    return {
        ts
        for author_id, ts in messages
        if ts and author_id in forgotten_at and to_time(ts) <= forgotten_at[author_id]
    }
