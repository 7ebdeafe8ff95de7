"""Low replies: which ones there are, and the posts that quote the judge's reasons for them."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from bot.store.database import StoreQueries
from bot.store.figures import BEGINNING, END, LowCase, Place, Span
from bot.store.schema import cases, is_of_case, quotes, ratings
from bot.store.tallies import Tallies, is_public, low_cases
from bot.store.visibility import Origin

_AGREED, _SURE = 2, 2 / 3
_ORIGINS = Origin.CHOSEN, Origin.WATCHED


class LowReplies(StoreQueries):
    async def among(self, place: Place, case_ids: Collection[int]) -> Sequence[LowCase]:
        """Those of the cases that the channel may still see, lowest first and newest first among equals."""
        are_public = sa.or_(*(is_public(replace(place, origin=o), Span(BEGINNING, END)) for o in _ORIGINS))
        return await self._database.rows(LowCase, low_cases(sa.and_(cases.c.id.in_(case_ids), are_public)))

    async def of(self, place: Place, span: Span, limit: int) -> Sequence[LowCase]:
        """The newest low replies of a place, whether people chose them or watches drew them."""
        tallies = Tallies(self._database)
        found = [each for o in _ORIGINS for each in await tallies.low(replace(place, origin=o), span, limit, True)]
        return sorted(found, key=lambda case: case.judged_at, reverse=True)[:limit]

    async def lowest(self, place: Place, span: Span) -> Sequence[tuple[int, datetime]]:
        """The delivered replies of a watch in the lowest fifth of the scale (0 and 1 of 5), and when they were.

        At least two ratings are that low, or one gives two thirds of its probability to such scores. Deleted and
        forgotten replies are left out.
        """
        limit = cases.c.lowest + 0.2 * (cases.c.highest - cases.c.lowest)
        is_kept = sa.and_(cases.c.deleted_at.is_(None), cases.c.forgotten_at.is_(None))
        columns = cases.c.id, cases.c.delivered_at, limit.label("limit"), ratings.c.probabilities
        query = (
            sa.select(*columns)
            .join(ratings, is_of_case(ratings))
            .where(cases.c.score <= limit, ratings.c.score <= limit, is_kept, cases.c.delivered_at.is_not(None))
            .where(is_public(replace(place, origin=Origin.WATCHED), span))
        )
        votes = Counter[tuple[int, datetime]]()
        for row in await self._database.all(query):
            low = [chance for score, chance in (row.probabilities or {}).items() if int(score) <= row.limit]
            votes[row.id, row.delivered_at] += _AGREED * (sum(low) >= _SURE) if row.probabilities else 1
        return sorted((each for each, number in votes.items() if number >= _AGREED), key=lambda each: each[::-1])

    async def note_quoted(self, team_id: str, case_ids: Collection[int], channel_id: str, ts: str) -> Sequence[int]:
        """Records that a message quotes the reasons of these cases; returns those that have none to be quoted (now)."""
        place = {"channel_id": channel_id, "ts": ts}
        has_reason = sa.and_(cases.c.team_id == team_id, cases.c.id.in_(case_ids), cases.c.justification != "")
        is_noted = sa.select(quotes.c.ts).filter_by(**place).where(quotes.c.case_id == cases.c.id).exists()
        rows = sa.select(cases.c.team_id, cases.c.id, *map(sa.literal, place.values())).where(has_reason, ~is_noted)
        # Selected, because a case may be gone by now.
        await self._database.execute(sa.insert(quotes).from_select(["team_id", "case_id", *place], rows))
        kept = await self._database.values(sa.select(cases.c.id).where(has_reason))
        return [each for each in case_ids if each not in kept]

    async def quoted(self, case_ids: Collection[int]) -> Sequence[sa.Row[Any]]:
        """Channel, ts and case of each message that quotes the reason of one of these cases."""
        columns = quotes.c.channel_id, quotes.c.ts, quotes.c.case_id
        return await self._database.all(sa.select(*columns).where(quotes.c.case_id.in_(case_ids)))
