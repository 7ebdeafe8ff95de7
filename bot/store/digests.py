"""The state of the channels' digests, and the thumbs under replies."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import Part
from bot.domain.label import Reaction
from bot.store.database import StoreQueries, claim, upsert
from bot.store.figures import Place, Span
from bot.store.schema import cases, digests, replies, thumbs, turns
from bot.store.visibility import counts, is_watched

LEASE = timedelta(minutes=5)
"""How long a claim holds; a process that has neither posted nor given up by then is taken to be gone."""


class DigestStatus(StrEnum):
    """How far the digest of a week has come.

    `REFUSED`: Slack did not accept it; `UNCONFIRMED`: it may be there.
    """

    CLAIMED = "claimed"
    POSTED = "posted"
    REFUSED = "refused"
    UNCONFIRMED = "unconfirmed"


_MAY_BE_THERE = (DigestStatus.POSTED, DigestStatus.UNCONFIRMED)


@dataclass(frozen=True)
class Claim:
    """The right to post one digest; `is_first` is False if an earlier holder may have posted it
    already.
    """

    key: Mapping[str, str]
    claimed_at: datetime
    is_first: bool


class Digests(StoreQueries):
    async def taken(
        self, team_id: str, since: datetime, now: datetime
    ) -> Mapping[str, Mapping[str, bool]]:
        """The weeks, by channel, whose digests were claimed since then and are no longer to be
        posted by others.

        Each with whether its digest is in Slack, or may be.
        """
        claimed_at = digests.c.claimed_at
        is_taken = sa.or_(digests.c.status != DigestStatus.CLAIMED, claimed_at > now - LEASE)
        query = sa.select(digests).filter_by(team_id=team_id)
        found = defaultdict[str, dict[str, bool]](dict)
        for row in await self._database.all(query.where(is_taken, claimed_at > since)):
            found[row.channel_id][row.week] = row.status in _MAY_BE_THERE
        return found

    async def claim(self, team_id: str, channel_id: str, week: str, now: datetime) -> Claim | None:
        """The right to post this digest, durable; None if it is taken or used."""
        key = {"team_id": team_id, "channel_id": channel_id, "week": week}
        is_left = (digests.c.status == DigestStatus.CLAIMED) & (digests.c.claimed_at <= now - LEASE)
        values = {"status": DigestStatus.CLAIMED, "claimed_at": now}
        is_first = await claim(self._database, digests, key, values, is_left)
        return None if is_first is None else Claim(key, now, is_first)

    async def renew(self, claim: Claim, now: datetime) -> bool:
        """Whether the claim still holds; if so, renews it for a whole lease.

        Called right before posting.
        """
        is_ours = {"status": DigestStatus.CLAIMED, "claimed_at": claim.claimed_at}
        renewed = sa.update(digests).filter_by(**claim.key, **is_ours).values(claimed_at=now)
        return await self._database.execute(renewed) == 1

    async def settle(
        self, claim: Claim, status: DigestStatus, message_ts: str | None = None
    ) -> None:
        its = sa.update(digests).filter_by(**claim.key)
        await self._database.execute(its.values(status=status, message_ts=message_ts))


@dataclass(frozen=True)
class ThumbCount:
    author_id: str
    up: int
    down: int
    replies: int


class Thumbs(StoreQueries):
    async def note(self, thumb: Reaction, *, is_watched: bool = False) -> None:
        """Records a thumb as given or taken back; the latest change counts, in whatever order the
        events arrive.

        Thumbs are recorded only under a reply that was scored for the channel to see, or that a
        watch has seen or will see (`is_watched`).
        """
        its_authors = _authors(thumb.team_id, thumb.channel_id, thumb.ts)
        is_known = sa.select(sa.or_(*(each.exists() for each in its_authors)))
        if not (is_watched or await self._database.value(is_known)):
            return
        key = {column.name: getattr(thumb, column.name) for column in thumbs.primary_key}
        values = key | {"is_given": thumb.is_added, "changed_at": thumb.at}
        await self._database.execute(
            upsert(self._database, thumbs, values, where=thumbs.c.changed_at < thumb.at)
        )

    async def up(
        self, team_id: str, channel_ids: Sequence[str], since: datetime
    ) -> set[tuple[str, str]]:
        """The replies with a thumb up, each with who gave it."""
        given = sa.select(thumbs.c.ts, thumbs.c.user_id).filter_by(
            team_id=team_id, is_up=True, is_given=True
        )
        which = thumbs.c.channel_id.in_(channel_ids), thumbs.c.changed_at >= since
        return {(row.ts, row.user_id) for row in await self._database.all(given.where(*which))}

    async def counts(self, place: Place, span: Span) -> Sequence[ThumbCount]:
        given = _given(place, span)
        query = sa.select(
            given.c.author_id,
            sa.func.count().filter(given.c.is_up).label("up"),
            sa.func.count().filter(~given.c.is_up).label("down"),
            sa.func.count(given.c.ts.distinct()).label("replies"),
        ).where(given.c.author_id.is_not(None))
        if place.author_id is not None:
            query = query.where(given.c.author_id == place.author_id)
        most_first = sa.func.count().desc(), given.c.author_id
        return await self._database.rows(
            ThumbCount, query.group_by(given.c.author_id).order_by(*most_first)
        )


def _given(place: Place, span: Span) -> sa.Subquery:
    """The thumbs of that time, each with the author of its reply."""
    within = thumbs.c.changed_at >= span.start, thumbs.c.changed_at < span.end
    authors = _authors(thumbs.c.team_id, thumbs.c.channel_id, thumbs.c.ts)
    author_id = sa.func.coalesce(*(each.scalar_subquery() for each in authors))
    given = sa.select(thumbs.c.ts, thumbs.c.is_up, author_id.label("author_id")).where(*within)
    here = {"team_id": place.team_id, "channel_id": place.channel_id}
    return given.filter_by(**here, is_given=True).subquery()


async def drop_of_reply(connection: AsyncConnection, gone: sa.Row[*tuple[Any, ...]]) -> None:
    """Deletes the thumbs under the reply of a deleted case, unless another case of that reply is
    left.
    """
    here = {"team_id": gone.team_id, "channel_id": gone.channel_id}
    left = sa.select(cases.c.id).filter_by(**here, message_ts=gone.message_ts)
    await connection.execute(
        sa.delete(thumbs).filter_by(**here, ts=gone.message_ts).where(~left.exists())
    )


def _authors(team_id: Any, channel_id: Any, ts: Any) -> Sequence[sa.Select[tuple[str | None]]]:
    """Queries for the author of a reply that was watched or scored; `ts` may be that of any of its
    messages.
    """
    here = {"team_id": team_id, "channel_id": channel_id}
    last_ts = sa.func.coalesce(replies.c.last_ts, replies.c.ts)
    watched = sa.select(replies.c.author_id).filter_by(**here)
    watched = watched.where(replies.c.ts <= ts, last_ts >= ts).order_by(replies.c.ts.desc())
    scored = sa.select(cases.c.author_id).where(sa.or_(counts(cases), is_watched(cases)))
    parts = sa.select(turns.c.case_id).filter_by(**here, ts=ts, part=Part.RESPONSE)
    by_part = scored.filter_by(team_id=team_id).where(cases.c.id.in_(parts))
    return [each.limit(1) for each in (watched, scored.filter_by(**here, message_ts=ts), by_part)]
