"""What channels and people have chosen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import Visibility
from bot.store.audit import Act, Action, note
from bot.store.database import (
    StoreQueries,
    columns_of,
    in_transaction,
    lock_for_transaction,
    upsert,
)
from bot.store.schema import channels, people


@dataclass(frozen=True)
class ChannelSettings:
    """What a channel has chosen; None means that the app's setting applies, or in `score_reaction`
    no emoji.

    `digest_since` is when the digest was last switched on; `labels_per_week` how many blind labels
    it wants, 0 for none.
    """

    team_id: str
    channel_id: str
    is_digest_on: bool = False
    digest_day: str | None = None
    digest_time: str | None = None
    digest_tz: str | None = None
    digest_since: datetime | None = None
    labels_per_week: int | None = None
    score_reaction: str | None = None


class Channels(StoreQueries):
    async def of(self, team_id: str, channel_id: str) -> ChannelSettings:
        return await self._database.read(
            lambda connection: _chosen(connection, team_id, channel_id)
        )

    @in_transaction
    async def save(
        self, connection: AsyncConnection, /, team_id: str, channel_id: str, by: str, **changes: Any
    ) -> ChannelSettings:
        """Changes these settings and no others, and returns all; a digest that is on keeps its
        `digest_since`.

        Unless its time changes: what that makes due at once is not posted.
        """
        await lock_for_transaction(connection, f"settings of {team_id}/{channel_id}")
        earlier = await _chosen(connection, team_id, channel_id)
        chosen = replace(earlier, **changes)
        if earlier.is_digest_on and _time_of(chosen) == _time_of(earlier):
            chosen = replace(chosen, digest_since=earlier.digest_since)
        await connection.execute(upsert(self._database, channels, asdict(chosen)))
        await note(
            connection,
            [Act(team_id, by, each, channel_id=channel_id) for each in _changes(earlier, chosen)],
        )
        return chosen

    async def wanted(self, team_id: str) -> Sequence[ChannelSettings]:
        return await self._database.rows(
            ChannelSettings, _SETTINGS.filter_by(team_id=team_id, is_digest_on=True)
        )

    async def visibility(self, team_id: str, user_id: str) -> Visibility | None:
        """Who sees this person's verdicts; None means that the workspace's setting applies."""
        row = await self._database.one(_VISIBILITY, {"of_team": team_id, "of_user": user_id})
        return Visibility(row.visibility) if row and row.visibility else None

    async def score_reactions(self, team_id: str) -> Mapping[str, str]:
        query = select(channels.c.channel_id, channels.c.score_reaction).filter_by(team_id=team_id)
        rows = await self._database.all(query.where(channels.c.score_reaction.is_not(None)))
        return {row.channel_id: row.score_reaction for row in rows}


# Built once, because every request runs it.
_VISIBILITY = select(people.c.visibility).filter_by(
    team_id=bindparam("of_team"), user_id=bindparam("of_user")
)
_SETTINGS = select(*columns_of(channels, ChannelSettings)).order_by(channels.c.channel_id)


async def _chosen(connection: AsyncConnection, team_id: str, channel_id: str) -> ChannelSettings:
    row = (
        await connection.execute(_SETTINGS.filter_by(team_id=team_id, channel_id=channel_id))
    ).one_or_none()
    return ChannelSettings(**row._mapping) if row else ChannelSettings(team_id, channel_id)


def _time_of(settings: ChannelSettings) -> tuple[str | None, ...]:
    return settings.digest_day, settings.digest_time, settings.digest_tz


def _changes(earlier: ChannelSettings, chosen: ChannelSettings) -> Iterator[Action]:
    if chosen.is_digest_on != earlier.is_digest_on:
        yield Action.DIGEST_ON if chosen.is_digest_on else Action.DIGEST_OFF
    if _time_of(chosen) != _time_of(earlier):
        yield Action.DIGEST_CHANGED
    if chosen.labels_per_week != earlier.labels_per_week:
        yield Action.LABELS_CHANGED
    if chosen.score_reaction != earlier.score_reaction:
        yield Action.REACTION_CHANGED
