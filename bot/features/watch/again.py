"""Asks the judge again about earlier replies before a change is told, to tell its own change from the assistant's."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from random import sample
from typing import Any

import sqlalchemy as sa
import structlog

from bot.domain.verdict import OFFLINE, base_version
from bot.domain.watch import Watch
from bot.feature import Services
from bot.features.watch.queries import Releases, watched
from bot.pipeline.asking import ask, tokens_of
from bot.store.figures import TimedScore
from bot.store.schema import cases
from bot.store.turns import read_conversations
from judge import Judge, JudgeError, Verdict
from judge.errors import HOPELESS
from judge.evaluation import drift
from judge.evaluation.align import BudgetError
from judge.evaluation.blame import FEWEST, STEPS, Blame, find_blame

RECENT, REFERENCE = timedelta(days=7), timedelta(days=28)
"""What is compared: the scores of so long, and those of so long before."""
_PATIENCE_S = 720  # what is told waits at most this long; a change found meanwhile waits as long after that
_LOOKED_AT, _MOST_FAILURES = 500, 3

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Change:
    """A change of a watched assistant's scores: those before it and since then, all of one kind."""

    figure: drift.Kind
    before: Sequence[TimedScore]
    after: Sequence[TimedScore]


class AskedAgain:
    """What asking again has found, kept so that a second try to tell a change does not ask once more."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._found: dict[tuple[str, ...], Blame | str] = {}

    async def about(self, watch: Watch, name: str, change: Change) -> Blame | str:
        """Who has changed, or why that cannot be told, in a few words; empty without a model to ask."""
        key = watch.team_id, watch.channel_id, watch.author_id, name
        if key not in self._found:
            self._found[key] = await self._ask(watch, change)
        return self._found[key]

    async def note(self, watch: Watch, change: Change, found: Blame | str, sent: Mapping[str, str]) -> None:
        """Begins a later judge version where that was found, if this process has told it to somebody."""
        if isinstance(found, Blame) and found.judge.is_clear and "" in sent.values():
            await Releases(self._services.store.database).begin_judge(watched(watch), change.after[0])

    async def _ask(self, watch: Watch, change: Change) -> Blame | str:
        services, place = self._services, (watch.team_id, watch.channel_id)
        judge = services.judges and await services.judges.by(*place, await services.store.rubrics.chosen(*place))
        if not judge or judge.model == OFFLINE:
            return ""
        if judge.version != base_version(change.after[0].version):
            return "another judge scores now"
        some = [each.id for each in sample(change.before, min(_LOOKED_AT, len(change.before)))]
        whole, verdicts, why = await self._whole(some), dict[int, Verdict](), ""
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
        # Looked at again at the end: some of the replies may have been forgotten or edited meanwhile.
        return why if why and len(verdicts) < FEWEST else await self._blame(change, verdicts)

    async def _whole(self, case_ids: Collection[int]) -> Mapping[int, sa.Row[Any]]:
        columns = [cases.c[name] for name in ("id", "question", "response", "score", "spread", "mean", "justification")]
        has_texts = cases.c.question.is_not(None), cases.c.response.is_not(None)
        its = sa.select(*columns).where(cases.c.id.in_(case_ids), *has_texts, cases.c.edited_at.is_(None))
        return {row.id: row for row in await self._services.store.database.all(its)}

    async def _score(self, watch: Watch, judge: Judge, drawn: Sequence[sa.Row[Any]], found: dict[int, Verdict]) -> str:
        """Has the judge score cases; returns why not all could be asked about. Cases that wait go first."""
        services, left, why, failures = self._services, iter(drawn), "", 0
        said = await services.store.database.read(partial(read_conversations, case_ids=[case.id for case in drawn]))

        async def some() -> None:
            nonlocal why, failures
            for case in left:
                before = said.get(case.id, ())
                texts = [case.question, case.response, *(each.text for each in before), judge.reference]
                scoring = partial(judge.score, case.question, case.response, conversation=before)
                try:
                    async with services.background():
                        if why:
                            return
                        used = services.store, services.limits, watch.team_id
                        found[case.id], failures = await ask(*used, texts, scoring, tokens_of), 0
                except BudgetError:
                    why = "a daily limit is used up"
                except JudgeError as exc:
                    logger.warning("judge_failed", case=case.id, error=type(exc).__name__, reason=str(exc))
                    failures += 1
                    if isinstance(exc, HOPELESS) or failures == _MOST_FAILURES:
                        why = "the model does not answer"

        await asyncio.gather(*(some() for _ in range(max(services.settings.judge_concurrency // 2, 1))))
        return why

    async def _blame(self, change: Change, verdicts: Mapping[int, Verdict]) -> Blame | str:
        """Who has changed, by the cases that are still as they were."""
        kept = [(row, verdicts[number]) for number, row in (await self._whole(verdicts)).items()]
        pairs = [(row.score, verdict.score) for row, verdict in kept if verdict.score is not None]
        if len(pairs) < FEWEST:
            return "too few answers in time"
        is_same = all((row.mean, row.justification) == (given.mean, given.justification) for row, given in kept)
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
        given = f"{'as many low scores' if is_share else 'the same'} ({low:{form}} to {high:{form}})"
        return f"{said}{given}{f', which leaves open whose this {what} is' if what and found.who == 'unclear' else ''}."
    near, far = found.judge.sizes
    how = f"{abs(found.judge.mean):{form}} {'more' if found.judge.mean > 0 else 'fewer' if is_share else 'less'}"
    months = dict.fromkeys(f"{each.judged_at:%B}" for each in (change.before[0], change.before[-1]))
    said += (
        f"{f'a low score to {how}' if is_share else how} ({near:{form}} to {far:{form}}) than it gave these replies "
    )
    end = {
        "judge": f": this {what} is the judge's",
        "both": f": only the rest of this {what} is the assistant's",
        "judge or both": "; whether the assistant changed, too, is not clear yet",
    }.get(found.who, f", so this {what} is the assistant's")
    return (
        f"{said}in {' and '.join(months)}{end if what else ''}. From {change.after[0].judged_at:%d %B} on it counts as "
        "another judge: earlier scores and labels are not joined with later ones, and alerts of changes need "
        f"{drift.MIN_REFERENCE} new scores that are older than a week."
    )
