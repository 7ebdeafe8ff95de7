"""What a change of scores may come from: the judge, asked again; the model that answers for it; or
the questions.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from math import log2
from random import sample
from typing import Any

import sqlalchemy as sa
import structlog

from bot.domain.verdict import OFFLINE, base_version
from bot.domain.watch import Watch
from bot.feature import Services
from bot.features.watch import text
from bot.features.watch.notices import tell_once
from bot.features.watch.queries import Notices, Releases, watched
from bot.pipeline.asking import BudgetError, ask, tokens_of
from bot.store.database import Database
from bot.store.figures import Place, Span, TimedScore
from bot.store.schema import cases, ratings
from bot.store.tallies import is_public
from bot.store.turns import read_conversations
from judge import Judge, JudgeError, Verdict
from judge.errors import HOPELESS
from judge.evaluation import drift
from judge.evaluation.blame import FEWEST, STEPS, Blame, find_blame
from judge.evaluation.stats import MeanEstimate, MeanEstimator, difference
from judge.scoring.rubric import Scale

RECENT = timedelta(days=7)
REFERENCE = timedelta(days=28)
"""What is compared: the scores of so long, and those of so long before."""
_PATIENCE_S = (
    720  # what is told waits at most this long; a change found meanwhile waits as long after that
)
_LOOKED_AT = 500
_MOST_FAILURES = 3

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Change:
    """A change of a watched assistant's scores: those before it and since then, all of one kind."""

    figure: drift.Kind
    before: Sequence[TimedScore]
    after: Sequence[TimedScore]


class AskedAgain:
    """Asks the judge again about earlier replies before a change is told, to tell its own from the
    assistant's.

    What it has found is kept, so that a second try to tell the change does not ask once more.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._found: dict[tuple[str, ...], Blame | str] = {}

    async def about(self, watch: Watch, name: str, change: Change) -> Blame | str:
        """Who has changed, or why that cannot be told, in a few words; empty without a model to
        ask.
        """
        key = watch.team_id, watch.channel_id, watch.author_id, name
        if key not in self._found:
            self._found[key] = await self._ask(watch, change)
        return self._found[key]

    async def note(
        self, watch: Watch, change: Change, found: Blame | str, sent: Mapping[str, str]
    ) -> None:
        """Begins a later judge version where that was found, if this process has told it to
        somebody.
        """
        if isinstance(found, Blame) and found.judge.is_clear and "" in sent.values():
            await Releases(self._services.store.database).begin_judge(
                watched(watch), change.after[0]
            )

    async def _ask(self, watch: Watch, change: Change) -> Blame | str:
        judges = self._services.judges
        judge = judges and await judges.of_channel(watch.team_id, watch.channel_id)
        if not judge or judge.model == OFFLINE:
            return ""
        if judge.version != base_version(change.after[0].version):
            return "another judge scores now"
        some = [each.id for each in sample(change.before, min(_LOOKED_AT, len(change.before)))]
        whole = await self._whole(some)
        verdicts = dict[int, Verdict]()
        why = ""
        drawn = [whole[number] for number in some if number in whole]
        if len(drawn) < FEWEST:
            return f"fewer than {FEWEST} replies with texts"
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                for begin, end in zip((0, *STEPS), STEPS, strict=False):
                    why = await self._score(watch, judge, drawn[begin:end], verdicts)
                    found = await self._blame(change, verdicts)
                    if why or (isinstance(found, Blame) and found.who != "unclear"):
                        break
        logger.info("asked_again", channel=watch.channel_id, replies=len(verdicts))
        # Looked at again at the end: some of the replies may have been forgotten or edited
        # meanwhile.
        return why if why and len(verdicts) < FEWEST else await self._blame(change, verdicts)

    async def _whole(self, case_ids: Collection[int]) -> Mapping[int, sa.Row[Any]]:
        columns = [
            cases.c[name]
            for name in ("id", "question", "response", "score", "spread", "mean", "justification")
        ]
        has_texts = cases.c.question.is_not(None), cases.c.response.is_not(None)
        its = sa.select(*columns).where(
            cases.c.id.in_(case_ids), *has_texts, cases.c.edited_at.is_(None)
        )
        return {row.id: row for row in await self._services.store.database.all(its)}

    async def _score(
        self, watch: Watch, judge: Judge, drawn: Sequence[sa.Row[Any]], found: dict[int, Verdict]
    ) -> str:
        """Has the judge score cases; returns why not all could be asked about.

        Cases that wait go first.
        """
        services = self._services
        left = iter(drawn)
        why = ""
        failures = 0
        said = await services.store.database.read(
            partial(read_conversations, case_ids=[case.id for case in drawn])
        )

        async def some() -> None:
            nonlocal why, failures
            for case in left:
                before = said.get(case.id, ())
                texts = [
                    case.question,
                    case.response,
                    *(each.text for each in before),
                    judge.reference,
                ]
                scoring = partial(judge.score, case.question, case.response, conversation=before)
                try:
                    async with services.background():
                        if why:
                            return
                        used = services.store, services.limits, watch.team_id
                        found[case.id] = await ask(*used, texts, scoring, tokens_of)
                        failures = 0
                except BudgetError:
                    why = "a daily limit is used up"
                except JudgeError as exc:
                    logger.warning(
                        "judge_failed", case=case.id, error=type(exc).__name__, reason=str(exc)
                    )
                    failures += 1
                    if isinstance(exc, HOPELESS) or failures == _MOST_FAILURES:
                        why = "the model does not answer"

        await asyncio.gather(
            *(some() for _ in range(max(services.settings.judge_concurrency // 2, 1)))
        )
        return why

    async def _blame(self, change: Change, verdicts: Mapping[int, Verdict]) -> Blame | str:
        """Who has changed, by the cases that are still as they were."""
        kept = [(row, verdicts[number]) for number, row in (await self._whole(verdicts)).items()]
        pairs = [(row.score, verdict.score) for row, verdict in kept if verdict.score is not None]
        if len(pairs) < FEWEST:
            return "too few answers in time"
        is_same = all(
            (row.mean, row.justification) == (given.mean, given.justification)
            for row, given in kept
        )
        if is_same and any(row.spread for row, _ in kept):
            return "a cache gave the old answers"
        before, after = ([each.score for each in of] for of in (change.before, change.after))
        return find_blame(pairs, before, after, change.figure, change.before[0].kind.scale)


def who_changed(found: Blame | str, change: Change, what: str = "") -> str:
    """The line of an alert that says who has changed; `what` is the name of a clear change."""
    if isinstance(found, str):
        return f"Whether the judge changed cannot be told: {found}." if found else ""
    is_share = change.figure == "low share"
    form = ".0%" if is_share else ".1f"
    itself = "" if found.who in {"assistant", "unclear"} else " itself"
    said = f"Asked again about {found.n} older replies: the judge{itself} gives "
    if not found.judge.is_clear:
        _, low, high = found.judge
        given = (
            f"{'as many low scores' if is_share else 'the same'} ({low:{form}} to {high:{form}})"
        )
        return f"{said}{given}{f', which leaves open whose this {what} is' if what and found.who == 'unclear' else ''}."
    near, far = found.judge.sizes
    how = (
        f"{abs(found.judge.mean):{form}} "
        f"{'more' if found.judge.mean > 0 else 'fewer' if is_share else 'less'}"
    )
    months = dict.fromkeys(f"{each.judged_at:%B}" for each in (change.before[0], change.before[-1]))
    said += (
        f"{f'a low score to {how}' if is_share else how} ({near:{form}} to {far:{form}}) than "
        "it gave these replies "
    )
    end = {
        "judge": f": this {what} is the judge's",
        "both": f": only the rest of this {what} is the assistant's",
        "judge or both": "; whether the assistant changed, too, is not clear yet",
    }.get(found.who, f", so this {what} is the assistant's")
    return (
        f"{said}in {' and '.join(months)}{end if what else ''}. From "
        f"{change.after[0].judged_at:%d %B} on it counts as another judge: earlier scores and "
        f"labels are not joined with later ones, and alerts of changes need {drift.MIN_REFERENCE} "
        "new scores that are older than a week."
    )


_TEN = 10  # askers are counted among ten replies in a row
_HIGHEST = {
    "length": 17,
    "askers": _TEN,
    "follow-ups": 1,
}  # of a text, in doublings: at most 100,000 characters


async def questions_line(database: Database, place: Place, change: Change) -> str:
    """The line of an alert: what has clearly changed, or what is alike; empty if too little is
    known.
    """
    columns = (
        cases.c.question_author_id,
        cases.c.messages_before,
        sa.func.length(cases.c.question).label("length"),
    )
    times = [each.judged_at for of in (change.before, change.after) for each in of]
    span = Span(min(times), max(times) + timedelta(seconds=1))
    rows = {
        row.id: row
        for row in await database.all(sa.select(cases.c.id, *columns).where(is_public(place, span)))
    }
    before, after = (
        _values([rows[each.id] for each in of if each.id in rows])
        for of in (change.before, change.after)
    )
    changed = list[str]()
    alike = list[str]()
    for name, highest in _HIGHEST.items():
        now, was = (_estimate(of[name], highest) for of in (after, before))
        moved = difference(now, was, tail=0.025 / len(_HIGHEST)) if now and was else None
        if now and was and moved:
            words = f"{name} {_shown(name, now.judge.mean)}, was {_shown(name, was.judge.mean)}"
            (changed if moved.is_clear else alike).append(words if moved.is_clear else name)
    said = (
        f"The questions have changed: {'; '.join(changed)}."
        if changed
        else f"Questions alike: {', '.join(alike)}."
    )
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


_DAY = timedelta(days=1)
_MIN_ANSWERS = 10
# of a day's ratings, and at most the rest of the week before: in a roll-out, both answer in turn
_LASTING = 0.8


class NewModels:
    """Looks at the watches that send alerts, at each when it has a new score."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._asked = AskedAgain(services)
        self._newest = dict[Watch, int]()

    async def look(self) -> None:
        watches = await self._services.store.watches.of(self._services.identity.team_id)
        await asyncio.gather(
            *[self._tell(each, *names) for each in watches if (names := await self._names(each))]
        )

    async def _names(self, watch: Watch) -> tuple[str, str] | None:
        """Who answers now, and who did in the week before, if that has changed for good and is not
        told yet.
        """
        now = self._services.clock()
        newest = await self._services.store.tallies.newest(watched(watch))
        if not watch.alerts_to or newest is None or self._newest.get(watch) == newest.id:
            return None
        self._newest[watch] = newest.id
        columns = (
            ratings.c.model,
            ratings.c.served,
            (cases.c.judged_at >= now - _DAY).label("is_new"),
        )
        query = sa.select(*columns, sa.func.count().label("number")).join_from(cases, ratings)
        query = query.where(is_public(watched(watch), Span(now - _DAY - RECENT, now))).group_by(
            *columns
        )
        answers = defaultdict[tuple[str, bool], Counter[str | None]](Counter)
        for row in await self._services.store.database.all(query):
            answers[row.model, bool(row.is_new)][row.served] += row.number
        for model in {model for model, _ in answers}:
            after = answers[model, True]
            before = answers[model, False]
            if min(after.total(), before.total()) < _MIN_ANSWERS:
                continue
            ((new, number),), ((old, earlier),) = after.most_common(1), before.most_common(1)
            is_lasting = number >= _LASTING * after.total() and 2 * earlier > before.total()
            if new and old and is_lasting and before[new] <= (1 - _LASTING) * before.total():
                notices = Notices(self._services.store.database)
                return (
                    None
                    if await notices.is_settled(watch, f"answers as {new}", now)
                    else (new, old)
                )
        return None

    async def _tell(self, watch: Watch, new: str, old: str) -> None:
        services = self._services
        now = self._services.clock()
        name = f"answers as {new}"
        scores = await services.store.tallies.in_order(
            watched(watch), Span(now - RECENT - REFERENCE, now)
        )
        its = [each for each in scores if each.kind == scores[-1].kind]
        before, after = (
            [each for each in its if (each.judged_at >= now - _DAY) == is_new]
            for is_new in (False, True)
        )
        change = Change("mean", before, after)
        found = await self._asked.about(watch, name, change)
        who = await services.members.name_of(watch.author_id)
        post = text.new_model_notice(watch, who, new, old, who_changed(found, change))
        await self._asked.note(watch, change, found, await tell_once(services, watch, name, post))
