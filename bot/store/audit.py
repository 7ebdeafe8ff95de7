"""Who forgot, purged, exported or changed settings, and when: ids and counts, never a text.

An act that changes the database is recorded in the same transaction, an export before its first
row. Rows are never changed. Each is a log line, too, which a collector of logs can keep elsewhere.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum

import structlog
from sqlalchemy import insert, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.clock import utc_now
from bot.store.database import StoreQueries, columns_of
from bot.store.schema import audit

logger = structlog.get_logger(__name__)


class Action(StrEnum):
    FORGOT_CASE = "forgot_case"
    FORGOT_PERSON = "forgot_person"
    PURGED = "purged"
    EXPORTED_LABELS = "exported_labels"
    EXPORTED_PERSON = "exported_person"
    EXPORTED_QUESTIONS = "exported_questions"
    EXPORTED_CHANNEL = "exported_channel"
    DIGEST_ON = "digest_on"
    DIGEST_OFF = "digest_off"
    DIGEST_CHANGED = "digest_changed"
    LABELS_CHANGED = "labels_changed"
    REACTION_CHANGED = "reaction_changed"
    WATCH_SET = "watch_set"
    WATCH_ENDED = "watch_ended"
    JUDGE_CHANGED = "judge_changed"
    RUBRIC_SAVED = "rubric_saved"
    RUBRIC_DELETED = "rubric_deleted"
    REFERENCE_SAVED = "reference_saved"
    REFERENCE_DELETED = "reference_deleted"


@dataclass(frozen=True)
class Act:
    """One row: who did what to which channel, case, person or watched assistant, or to how many
    cases.

    `who` is a Slack user id, or `os:` and the operating system's user who typed a command.
    """

    team_id: str
    who: str
    what: Action
    channel_id: str | None = None
    case_id: int | None = None
    user_id: str | None = None
    cases: int | None = None
    at: datetime = field(default_factory=utc_now)


async def note(connection: AsyncConnection, acts: Sequence[Act]) -> None:
    if acts:
        await connection.execute(insert(audit), [asdict(act) for act in acts])
    for act in acts:
        its = asdict(act) | {"at": act.at.isoformat()}
        logger.info("audited", **{name: value for name, value in its.items() if value is not None})


class Audit(StoreQueries):
    async def note(self, acts: Sequence[Act]) -> None:
        await self._database.write(lambda connection: note(connection, acts))

    async def since(self, since: datetime | None = None) -> Sequence[Act]:
        return await self._database.rows(
            _to_act, _ACTS if since is None else _ACTS.where(audit.c.at >= since)
        )

    async def of(self, team_id: str, user_id: str) -> Sequence[Act]:
        is_theirs = or_(audit.c.who == user_id, audit.c.user_id == user_id)
        return await self._database.rows(
            _to_act, _ACTS.where(audit.c.team_id == team_id, is_theirs)
        )


_ACTS = select(*columns_of(audit, Act)).order_by(audit.c.id)


def _to_act(what: str, **columns: object) -> Act:
    return Act(what=Action(what), **columns)  # type: ignore[arg-type] # they are the columns of the same names
