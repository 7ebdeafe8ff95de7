"""Asks the judge again about replies that it has scored, to tell its own change from the
assistant's.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from random import sample
from typing import Any

import sqlalchemy as sa
import structlog

from bot.domain.standing import Whose
from bot.domain.verdict import OFFLINE, base_version
from bot.pipeline.asking import BudgetError, ask
from bot.services import Services
from bot.store.figures import TimedScore
from bot.store.schema import cases
from bot.store.turns import read_conversations
from judge import Judge, JudgeError, Verdict
from judge.errors import HOPELESS
from judge.evaluation.blame import FEWEST, STEPS, find_blame
from judge.evaluation.stats import Interval
from judge.scoring.ways import DISTRIBUTION

_PATIENCE_S = 720
_LOOKED_AT = 500
_MOST_FAILURES = 3
_OVER_LIMIT = "a daily limit is used up"
_NO_ANSWER = "the model does not answer"
_TOO_LATE = "too few answers in time"
PASSING = {_OVER_LIMIT, _NO_ANSWER, _TOO_LATE}
"""Why the judge could not be asked, if it is worth another try."""
_WHOSE = {
    "assistant": Whose.ASSISTANT,
    "judge": Whose.JUDGE,
    "both": Whose.BOTH,
}

Request = Callable[[], Awaitable[Verdict]]

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Change:
    """A change of an assistant's mean: the scores before and since then, all of one kind, and its
    size.
    """

    before: Sequence[TimedScore]
    after: Sequence[TimedScore]
    step: Interval


@dataclass(frozen=True)
class Asked:
    """Whose a change is, by `n` replies to which the judge now gives `judge` more; `why` says what
    prevents that.
    """

    whose: Whose
    why: str = ""
    n: int = 0
    judge: Interval | None = None


class AskedAgain:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def about(self, team_id: str, change: Change, most: int) -> Asked:
        """Whose change it is, after asking about at most `most` replies, or as many as it takes."""
        services = self._services
        channel_id = change.after[-1].channel_id
        judges = services.judges
        judge = judges and await judges.of_channel(team_id, channel_id)
        if not judges or not judge or judge.model == OFFLINE:
            return _not_asked("no model is set")
        version = base_version(change.after[0].version)
        if judge.version != version:
            judge = await judges.of_channel(team_id, channel_id, DISTRIBUTION)
        if not judge or judge.version != version:
            return _not_asked("another judge scores now")
        drawn = await self._drawn(change.before, max(min(most, STEPS[-1]), FEWEST))
        if len(drawn) < FEWEST:
            return _not_asked(f"fewer than {FEWEST} replies with texts")
        verdicts = dict[int, Verdict]()
        why = ""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                for begin, end in zip((0, *STEPS), STEPS, strict=False):
                    why = await self._score(team_id, judge, drawn[begin:end], verdicts)
                    asked = await self._compare(change, verdicts)
                    if why or asked.whose in {Whose.ASSISTANT, Whose.JUDGE, Whose.BOTH}:
                        break
        logger.info("asked_again", channel=channel_id, replies=len(verdicts))
        if why and len(verdicts) < FEWEST:
            return _not_asked(why)
        # Looked at once more: replies may have been forgotten or edited meanwhile.
        return await self._compare(change, verdicts)

    async def _drawn(self, before: Sequence[TimedScore], most: int) -> Sequence[sa.Row[Any]]:
        some = [score.id for score in sample(before, min(_LOOKED_AT, len(before)))]
        whole = await self._whole(some)
        return [whole[case_id] for case_id in some if case_id in whole][:most]

    async def _whole(self, case_ids: Collection[int]) -> Mapping[int, sa.Row[Any]]:
        """The cases whose texts are still as they were scored."""
        texts = cases.c.question, cases.c.response
        verdict = cases.c.score, cases.c.spread, cases.c.mean, cases.c.justification
        query = sa.select(cases.c.id, *texts, *verdict).where(
            cases.c.id.in_(case_ids),
            *(text.is_not(None) for text in texts),
            cases.c.edited_at.is_(None),
        )
        return {row.id: row for row in await self._services.store.database.all(query)}

    async def _score(
        self,
        team_id: str,
        judge: Judge,
        drawn: Sequence[sa.Row[Any]],
        verdicts: dict[int, Verdict],
    ) -> str:
        """Has the judge score cases; returns why not all could be asked about."""
        read = partial(read_conversations, case_ids=[case.id for case in drawn])
        conversations = await self._services.store.database.read(read)
        requests = dict[int, Request]()
        for case in drawn:
            turns = conversations.get(case.id, ())
            score = partial(judge.score, case.question, case.response, conversation=turns)
            requests[case.id] = score
        left = iter(requests.items())
        at_once = max(self._services.settings.judge_concurrency // 2, 1)
        asking = [self._ask_some(team_id, left, verdicts) for _ in range(at_once)]
        # Empty only if none has stopped.
        return max(await asyncio.gather(*asking))

    async def _ask_some(
        self,
        team_id: str,
        left: Iterator[tuple[int, Request]],
        verdicts: dict[int, Verdict],
    ) -> str:
        """Does the requests that nobody else has begun; returns why not all of them."""
        services = self._services
        failures = 0
        for case_id, request in left:
            try:
                # Cases that wait go first.
                async with services.background():
                    verdict = await ask(services.store, services.limits, team_id, request)
                verdicts[case_id] = verdict
                failures = 0
            except BudgetError:
                return _OVER_LIMIT
            except JudgeError as exc:
                error = type(exc).__name__
                logger.warning("judge_failed", case=case_id, error=error, reason=str(exc))
                failures += 1
                if isinstance(exc, HOPELESS) or failures == _MOST_FAILURES:
                    return _NO_ANSWER
        return ""

    async def _compare(self, change: Change, verdicts: Mapping[int, Verdict]) -> Asked:
        """Whose change it is, by the cases that are still as they were."""
        whole = await self._whole(verdicts)
        pairs = [(case, verdicts[case.id]) for case in whole.values()]
        scores = [
            (case.score, verdict.score) for case, verdict in pairs if verdict.score is not None
        ]
        if len(scores) < FEWEST:
            return _not_asked(_TOO_LATE)
        has_chance = any(case.spread for case, _ in pairs)
        is_same = all(
            case.mean == verdict.mean and case.justification == verdict.justification
            for case, verdict in pairs
        )
        # Ratings that differ for one case do not all come out the same again.
        if has_chance and is_same:
            return _not_asked("a cache gave the old answers")
        blame = find_blame(scores, change.step, change.before[0].kind.scale)
        return Asked(_WHOSE.get(blame.who, Whose.OPEN), n=blame.n, judge=blame.judge)


def _not_asked(why: str) -> Asked:
    return Asked(Whose.NOT_ASKED, why)
