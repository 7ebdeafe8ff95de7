"""What else may have changed with an assistant's scores: the questions, or the model that answers for the judge."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import timedelta
from math import log2
from typing import Any

import sqlalchemy as sa

from bot.domain.watch import Watch
from bot.feature import Services
from bot.features.watch import text
from bot.features.watch.again import RECENT, REFERENCE, AskedAgain, Change, who_changed
from bot.features.watch.figures import name_of
from bot.features.watch.notices import tell_once
from bot.features.watch.queries import Notices, watched
from bot.store.database import Database
from bot.store.figures import Place, Span
from bot.store.schema import cases, ratings
from bot.store.tallies import is_public
from judge.evaluation.stats import MeanEstimate, MeanEstimator, difference
from judge.scoring.rubric import Scale

_TEN = 10  # askers are counted among ten replies in a row
_HIGHEST = {"length": 17, "askers": _TEN, "follow-ups": 1}  # of a text, in doublings: at most 100,000 characters


async def questions_line(database: Database, place: Place, change: Change) -> str:
    """The line of an alert: what has clearly changed, or what is alike; empty if too little is known."""
    columns = cases.c.question_author_id, cases.c.messages_before, sa.func.length(cases.c.question).label("length")
    times = [each.judged_at for of in (change.before, change.after) for each in of]
    span = Span(min(times), max(times) + timedelta(seconds=1))
    rows = {row.id: row for row in await database.all(sa.select(cases.c.id, *columns).where(is_public(place, span)))}
    before, after = (_values([rows[each.id] for each in of if each.id in rows]) for of in (change.before, change.after))
    changed, alike = list[str](), list[str]()
    for name, highest in _HIGHEST.items():
        now, was = (_estimate(of[name], highest) for of in (after, before))
        moved = difference(now, was, tail=0.025 / len(_HIGHEST)) if now and was else None
        if now and was and moved:
            words = f"{name} {_shown(name, now.judge.mean)}, was {_shown(name, was.judge.mean)}"
            (changed if moved.is_clear else alike).append(words if moved.is_clear else name)
    said = f"The questions have changed: {'; '.join(changed)}." if changed else f"Questions alike: {', '.join(alike)}."
    return said if changed or alike else ""


def _values(rows: Sequence[sa.Row[Any]]) -> dict[str, list[float]]:
    askers = [row.question_author_id for row in rows if row.question_author_id]
    tens = range(0, len(askers) - _TEN + 1, _TEN)
    return {
        "length": [log2(row.length) for row in rows if row.length],
        "askers": [len(set(askers[begin : begin + _TEN])) for begin in tens],
        "follow-ups": [float(row.messages_before > 0) for row in rows],
    }


def _estimate(values: Sequence[float], highest: int) -> MeanEstimate | None:
    mean = MeanEstimator(Scale(0, highest))
    for each in values:
        mean.add(each)
    return mean.estimate()


def _shown(name: str, mean: float) -> str:
    forms = {"length": f"{2**mean:.0f} characters", "askers": f"{mean:.1f} in ten questions"}
    return forms.get(name) or f"{mean:.0%}"


_DAY, _FEWEST = timedelta(days=1), 10
_LASTING = 0.8  # of a day's ratings, and at most the rest of the week before: in a roll-out, both answer in turn


class NewModels:
    """Looks at the watches that send alerts, at each when it has a new score."""

    def __init__(self, services: Services) -> None:
        self._services, self._asked, self._newest = services, AskedAgain(services), dict[Watch, int]()

    async def look(self) -> None:
        watches = await self._services.store.watches.of(self._services.identity.team_id)
        await asyncio.gather(*[self._tell(each, *names) for each in watches if (names := await self._names(each))])

    async def _names(self, watch: Watch) -> tuple[str, str] | None:
        """Who answers now, and who did in the week before, if that has changed for good and is not told yet."""
        now, newest = self._services.clock(), await self._services.store.tallies.newest(watched(watch))
        if not watch.alerts_to or newest is None or self._newest.get(watch) == newest.id:
            return None
        self._newest[watch] = newest.id
        columns = ratings.c.model, ratings.c.served, (cases.c.judged_at >= now - _DAY).label("is_new")
        query = sa.select(*columns, sa.func.count().label("number")).join_from(cases, ratings)
        query = query.where(is_public(watched(watch), Span(now - _DAY - RECENT, now))).group_by(*columns)
        answers = defaultdict[tuple[str, bool], Counter[str | None]](Counter)
        for row in await self._services.store.database.all(query):
            answers[row.model, bool(row.is_new)][row.served] += row.number
        for model in {model for model, _ in answers}:
            after, before = answers[model, True], answers[model, False]
            if min(after.total(), before.total()) < _FEWEST:
                continue
            ((new, number),), ((old, earlier),) = after.most_common(1), before.most_common(1)
            is_lasting = number >= _LASTING * after.total() and 2 * earlier > before.total()
            if new and old and is_lasting and before[new] <= (1 - _LASTING) * before.total():
                notices = Notices(self._services.store.database)
                return None if await notices.is_settled(watch, f"answers as {new}", now) else (new, old)
        return None

    async def _tell(self, watch: Watch, new: str, old: str) -> None:
        services, now, name = self._services, self._services.clock(), f"answers as {new}"
        scores = await services.store.tallies.in_order(watched(watch), Span(now - RECENT - REFERENCE, now))
        its = [each for each in scores if each.kind == scores[-1].kind]
        before, after = ([each for each in its if (each.judged_at >= now - _DAY) == is_new] for is_new in (False, True))
        change = Change("mean", before, after)
        found = await self._asked.about(watch, name, change)
        who = await name_of(services, watch.author_id)
        post = text.new_model_notice(watch, who, new, old, who_changed(found, change))
        await self._asked.note(watch, change, found, await tell_once(services, watch, name, post))
