"""Low replies: which ones there are, the posts that quote the judge's reasons for them, and the causes of a week."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.database import StoreQueries, lock_learning
from bot.store.figures import BEGINNING, END, LowCase, Place, Span, Tallies, is_public, low_cases
from bot.store.schema import cases, causes, quotes
from bot.store.visibility import Origin
from judge.evaluation.causes import Cause

_KEY = "team_id", "case_id", "channel_id"
_ORIGINS = Origin.CHOSEN, Origin.WATCHED


class LowReplies(StoreQueries):
    async def among(self, place: Place, case_ids: Collection[int]) -> Sequence[LowCase]:
        """Those of the cases that the channel may still see, lowest first and newest first among equals."""
        ever = Span(BEGINNING, END)
        are_public = sa.or_(*(is_public(replace(place, origin=origin), ever) for origin in _ORIGINS))
        return await self._database.rows(LowCase, low_cases(sa.and_(cases.c.id.in_(case_ids), are_public)))

    async def of(self, place: Place, span: Span, limit: int) -> Sequence[LowCase]:
        """The newest low replies of a place, whether people chose them or watches drew them."""
        tallies = Tallies(self._database)
        found = [each for o in _ORIGINS for each in await tallies.low(replace(place, origin=o), span, limit, True)]
        return sorted(found, key=lambda case: case.judged_at, reverse=True)[:limit]

    async def note_quoted(self, team_id: str, case_ids: Collection[int], channel_id: str, ts: str) -> Sequence[int]:
        """Records that a message quotes the reasons of these cases; returns those that have none to be quoted (now)."""
        place = {"channel_id": channel_id, "ts": ts}
        has_reason = sa.and_(cases.c.team_id == team_id, cases.c.id.in_(case_ids), cases.c.justification != "")
        is_noted = sa.select(quotes.c.ts).filter_by(**place).where(quotes.c.case_id == cases.c.id).exists()
        rows = sa.select(cases.c.team_id, cases.c.id, *map(sa.literal, place.values())).where(has_reason, ~is_noted)
        # Selected, because a case may be gone by now.
        await self._database.execute(sa.insert(quotes).from_select([*_KEY, "ts"], rows))
        kept = await self._database.values(sa.select(cases.c.id).where(has_reason))
        return [each for each in case_ids if each not in kept]

    async def quoted(self, case_ids: Collection[int]) -> Sequence[sa.Row[Any]]:
        """Channel, ts and case of each message that quotes the reason of one of these cases."""
        columns = quotes.c.channel_id, quotes.c.ts, quotes.c.case_id
        return await self._database.all(sa.select(*columns).where(quotes.c.case_id.in_(case_ids)))

    async def note_causes(self, place: Place, week: str, found: Sequence[Cause]) -> None:
        """Keeps the causes of a week's low replies, without those that have lost their reason meanwhile."""

        async def note(connection: AsyncConnection) -> None:
            await lock_learning(connection)  # as whoever deletes these cases does, so that neither waits for the other
            for name, case_ids in found:
                values = *map(sa.literal, (place.channel_id, week)), sa.literal(name, causes.c.name.type)
                rows = sa.select(cases.c.team_id, cases.c.id, *values).where(
                    cases.c.team_id == place.team_id, cases.c.id.in_(case_ids), cases.c.justification != ""
                )
                await connection.execute(sa.insert(causes).from_select([*_KEY, "week", "name"], rows))

        await self._database.write(note)

    async def causes(self, place: Place, week: str) -> Mapping[int, str]:
        """The cause of each low reply of a week by case, as far as they were sorted."""
        its = {"team_id": place.team_id, "channel_id": place.channel_id, "week": week}
        rows = await self._database.all(sa.select(causes.c.case_id, causes.c.name).filter_by(**its))
        return {row.case_id: row.name for row in rows}
