"""Requests to a model beside the ratings of a case: those that find causes, or ask for points."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from bot.domain.case import LoggedCase
from bot.domain.limits import Limits
from bot.domain.shared import V
from bot.domain.verdict import OFFLINE, CaseVerdict, base_version
from bot.pipeline.judges import Judges
from bot.store import Store
from judge import Judge
from judge.scoring.beside import lacks_reason


class BudgetError(Exception):
    """A limit per day is used up."""


async def ask(
    store: Store,
    limits: Limits,
    team_id: str,
    request: Callable[[], Awaitable[V]],
) -> V:
    """The answer of a model to a request that counts in the workspace's limits like a case.

    Raises BudgetError if a limit is used up, and JudgeError if the model fails.
    """
    reserved = await store.spending.reserve(team_id, limits)
    if reserved is None:
        raise BudgetError
    try:
        return await request()
    except BaseException:
        # Also if it is cancelled: otherwise what nobody took would count for a day.
        await store.spending.give_back(reserved)
        raise


async def writer_of(judges: Judges | None, team_id: str, channel_id: str) -> Judge | None:
    """The judge of a channel if it is a model: the offline rater writes nothing."""
    judge = judges and await judges.of_channel(team_id, channel_id)
    return judge if judge and judge.model != OFFLINE else None


async def judge_of(judges: Judges | None, case: LoggedCase, verdict: CaseVerdict) -> Judge | None:
    """The judge that gave the verdict, to be asked for its reason or points; None if known, or it
    cannot be asked.
    """
    lacks = lacks_reason(verdict)
    is_known = verdict.points and not lacks
    if is_known or verdict.score is None or verdict.is_offline or not all(case.texts):
        return None
    judge = await judges.of(case) if judges else None
    if judge is None or judge.version != base_version(verdict.judge_version):
        return None
    return judge if lacks or judge.rubric.criteria else None


async def with_more(
    store: Store, limits: Limits, judge: Judge, case: LoggedCase, verdict: CaseVerdict
) -> CaseVerdict:
    """The verdict with its reason if it lacks one, or its points, as far as the model says them;
    raises as `ask`.
    """
    with_it = judge.with_reason if lacks_reason(verdict) else judge.with_points
    request = partial(with_it, verdict, *case.texts, conversation=case.conversation)
    found = await ask(store, limits, case.team_id, request)
    more = replace(
        verdict, points=found.points, justification=found.justification, ratings=found.ratings
    )
    if more != verdict:
        await store.cases.note_more(case, more)
    return more
