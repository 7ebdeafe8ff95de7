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

Request = tuple[int, Callable[[], Awaitable[Verdict]]]
"""A case, and what has it scored."""

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

    async def about(self, change: Change, most: int) -> Asked:
        """Whose change it is, after asking about at most `most` replies, or as many as it takes."""
        judge = await self._judge_of(change)
        if isinstance(judge, str):
            return _not_asked(judge)
        drawn = await self._drawn(change.before, max(min(most, STEPS[-1]), FEWEST))
        if len(drawn) < FEWEST:
            return _not_asked(f"fewer than {FEWEST} replies with texts")
        verdicts = dict[int, Verdict]()
        why = ""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                why = await self._score_until_clear(judge, drawn, change, verdicts)
        logger.info("asked_again", channel=change.after[-1].channel_id, replies=len(verdicts))
        if why and len(verdicts) < FEWEST:
            return _not_asked(why)
        # Looked at once more: replies may have been forgotten or edited meanwhile.
        return await self._compare(change, verdicts)

    async def _score_until_clear(
        self,
        judge: Judge,
        drawn: Sequence[sa.Row[Any]],
        change: Change,
        verdicts: dict[int, Verdict],
    ) -> str:
        """Has cases scored, more of them if it is not clear yet whose change it is; returns why not
        all could be asked about.
        """
        for begin, end in zip((0, *STEPS), STEPS, strict=False):
            why = await self._score(judge, drawn[begin:end], verdicts)
            asked = await self._compare(change, verdicts)
            if why or asked.whose in _WHOSE.values():
                return why
        return ""

    async def _judge_of(self, change: Change) -> Judge | str:
        """The judge whose version the scores have, or why it cannot be asked."""
        judges = self._services.judges
        team_id = self._services.identity.team_id
        channel_id = change.after[-1].channel_id
        version = base_version(change.after[0].version)
        if judges is None:
            return "no model is set"
        for way in (None, DISTRIBUTION):
            judge = await judges.of_channel(team_id, channel_id, way)
            if judge is None or judge.model == OFFLINE:
                return "no model is set"
            if judge.version == version:
                return judge
        return "another judge scores now"

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
        self, judge: Judge, drawn: Sequence[sa.Row[Any]], verdicts: dict[int, Verdict]
    ) -> str:
        """Has the judge score cases; returns why not all could be asked about."""
        left = iter(await self._requests(judge, drawn))
        at_once = max(self._services.settings.judge_concurrency // 2, 1)
        asking = [self._ask_some(left, verdicts) for _ in range(at_once)]
        # Empty only if none has stopped.
        return max(await asyncio.gather(*asking))

    async def _requests(self, judge: Judge, drawn: Sequence[sa.Row[Any]]) -> Sequence[Request]:
        read = partial(read_conversations, case_ids=[case.id for case in drawn])
        conversations = await self._services.store.database.read(read)
        requests = list[Request]()
        for case in drawn:
            turns = conversations.get(case.id, ())
            score = partial(judge.score, case.question, case.response, conversation=turns)
            requests.append((case.id, score))
        return requests

    async def _ask_some(self, left: Iterator[Request], verdicts: dict[int, Verdict]) -> str:
        """Does the requests that nobody else has begun; returns why not all of them."""
        services = self._services
        team_id = services.identity.team_id
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
        if _are_cached(pairs):
            return _not_asked("a cache gave the old answers")
        blame = find_blame(scores, change.step, change.before[0].kind.scale)
        return Asked(_WHOSE.get(blame.who, Whose.OPEN), n=blame.n, judge=blame.judge)


def _are_cached(pairs: Sequence[tuple[sa.Row[Any], Verdict]]) -> bool:
    """Whether all verdicts are the old ones, although ratings that differ for one case do not all
    come out the same again.
    """
    is_same = all(
        case.mean == verdict.mean and case.justification == verdict.justification
        for case, verdict in pairs
    )
    return is_same and any(case.spread for case, _ in pairs)


def _not_asked(why: str) -> Asked:
    return Asked(Whose.NOT_ASKED, why)
