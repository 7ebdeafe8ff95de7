"""Whose the change of an assistant is: found out before it is stored, and stored with it."""

from dataclasses import replace

from bot.domain.standing import Standing, Whose
from bot.domain.verdict import later_version
from bot.features.watch.asked_again import Asked, AskedAgain, Change
from bot.features.watch.questions import MIX_MOVED, compare_questions
from bot.features.watch.standing_queries import StandingSteps
from bot.features.watch.subjects import WatchedSubject
from bot.services import Services
from judge.evaluation.standing import Direction


class Changes:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._standings = StandingSteps(services.store.database)
        self._asked = AskedAgain(services)

    async def ask(self, watched: WatchedSubject, change: Change) -> Asked:
        """Asks the judge again, which costs at most what the watches may spend in a day."""
        return await self._asked.about(change, watched.per_day)

    async def store(self, begun: Standing, change: Change, asked: Asked) -> None:
        """Stores a direction, and that it is to be told."""
        questions = await self._questions(begun, change)
        standing = replace(with_cause(begun, asked, questions), is_to_tell=True, told_at=None)
        if asked.whose in {Whose.JUDGE, Whose.BOTH}:
            await self._store_judge(standing, change)
        else:
            await self._standings.begin(standing)

    async def _questions(self, begun: Standing, change: Change) -> str:
        """What has clearly changed about the questions."""
        by_topic = await self._services.change_by_topic(begun)
        if by_topic.has_mix_moved:
            return MIX_MOVED
        before = [score.id for score in change.before]
        after = [score.id for score in change.after]
        return await compare_questions(self._services.store.database, before, after)

    async def _store_judge(self, standing: Standing, change: Change) -> None:
        """Stores that another judge version begins with the change."""
        since = change.after[0].judged_at
        anew = replace(
            standing,
            version=later_version(standing.version or "", since),
            direction=Direction.TOO_FEW,
            origin=standing.since,
            begun_on=None,
            ended=(),
        )
        channels = sorted({score.channel_id for score in (*change.before, *change.after)})
        await self._standings.begin_with_judge(anew, standing.version, since, channels)


def with_cause(standing: Standing, asked: Asked, questions: str) -> Standing:
    whose = asked.whose
    if whose is Whose.ASSISTANT and questions:
        whose = Whose.QUESTIONS
    step, low, high = asked.judge or (None, None, None)
    return replace(
        standing,
        whose=whose,
        why=asked.why,
        asked=asked.n,
        judge_step=step,
        judge_low=low,
        judge_high=high,
        questions=questions,
    )
