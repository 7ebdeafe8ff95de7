"""The causes of a week's low replies, found by one request to the channel's judge."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import structlog

from bot.domain.case import LoggedCase
from bot.domain.week import Week
from bot.features.digest.queries import note_causes, read_causes
from bot.figures.lowest import causes_in_order
from bot.pipeline.asking import BudgetError, ask, judge_of, with_more, writer_of
from bot.services import Services
from bot.store.database import Database
from bot.store.figures import LowCase, Place
from judge import Judge, JudgeError
from judge.evaluation.causes import FEWEST, MOST, find_causes
from judge.evaluation.naming import OTHER, Decide, Write, words_in
from judge.scoring.judging import Written

# the claim of a digest holds longer
_PATIENCE_S = 120
logger = structlog.get_logger(__name__)


async def look_into(
    services: Services,
    place: Place,
    week: Week,
    replies: Sequence[LowCase],
    *,
    asks_for_points: bool = True,
) -> None:
    """Sorts low replies, the newest first, into causes, and asks for points that they lack; keeps
    both, the causes under a week.

    What fails is left out, as is what takes longer than two minutes.
    """
    until = asyncio.get_running_loop().time() + _PATIENCE_S
    newest = replies[:MOST]
    works = [partial(_find, services, place, week, newest)]
    if asks_for_points:
        works.append(partial(_ask_for_points, services, newest))
    for work in works:
        try:
            async with asyncio.timeout_at(until):
                await work()
        except (BudgetError, JudgeError, TimeoutError) as exc:
            why = {"error": type(exc).__name__, "reason": str(exc)}
            logger.warning("judge_failed", channel=place.channel_id, **why)


async def _find(services: Services, place: Place, week: Week, replies: Sequence[LowCase]) -> None:
    unsorted = {case.id: case.reason for case in replies if case.reason and not case.cause}
    judge = await writer_of(services.judges, place.team_id, place.channel_id)
    if not judge or len(unsorted) < FEWEST:
        return
    # Before the request, because words may be forgotten during it.
    cases = await _read(services, unsorted)
    reasons = {case.id: unsorted[case.id] for case in cases}
    database = services.store.database
    names = await _known_causes(database, place, week)
    # In a thread, because a hundred long replies take more than a second.
    said = await asyncio.to_thread(_said, cases)
    write, decide = _requests(services, place.team_id, judge)
    found = await find_causes(write, reasons, names, decide, said)
    await note_causes(database, place, week.label, found.counts)


def _requests(services: Services, team_id: str, judge: Judge) -> tuple[Write, Decide | None]:
    """What the judge is asked for causes with, each within the limits."""
    within = partial(_ask_within, services, team_id)
    return partial(within, judge.write), partial(within, judge.decide) if judge.decides else None


def _ask_within(
    services: Services, team_id: str, request: Callable[..., Awaitable[Written]], *asked: Any
) -> Awaitable[Written]:
    return ask(services.store, services.limits, team_id, partial(request, *asked))


async def _known_causes(database: Database, place: Place, week: Week) -> list[str]:
    """The names of the causes of a week and of the one before, the most frequent first."""
    replies = [
        *await read_causes(database, place, week.previous()),
        *await read_causes(database, place, week),
    ]
    numbers = Counter[str | None](reply.cause for reply in replies)
    return [name for name in causes_in_order(numbers) if name != OTHER]


async def _read(services: Services, case_ids: Iterable[int]) -> list[LoggedCase]:
    cases = services.store.cases
    found = [await cases.get(case_id) for case_id in case_ids]
    return [await cases.with_turns(case) for case in found if case and case.justification]


def _said(cases: Iterable[LoggedCase]) -> Mapping[str, Collection[str]]:
    """The words of these cases, by the person who asked."""
    said = defaultdict[str, set[str]](set)
    for case in cases:
        turns = [turn.text for turn in case.conversation]
        texts = "\n".join([case.question or "", case.response or "", *turns])
        said[case.question_author_id or case.requester_id] |= words_in(texts)
    return said


async def _ask_for_points(services: Services, replies: Sequence[LowCase]) -> None:
    cases = services.store.cases
    limits = services.limits.of_automation("Digests")
    for case in [await cases.get(each.id) for each in replies if each.points is None]:
        verdict = case and await cases.verdict(case.id)
        if case and verdict and (judge := await judge_of(services.judges, case, verdict)):
            await with_more(services.store, limits, judge, await cases.with_turns(case), verdict)
