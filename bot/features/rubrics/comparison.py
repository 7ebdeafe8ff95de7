"""Compares a new judge with the one in use on labelled cases, tells the result, and switches a
channel to it.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import structlog
from sqlalchemy import UpdateBase

from bot.domain.case import Recipient
from bot.domain.verdict import OFFLINE
from bot.feature import Services
from bot.features.rubrics import ids
from bot.features.rubrics import text as words
from bot.features.rubrics.queries import LEAST, MOST, JudgeRequest, JudgeRequests, Labelled, Records
from bot.pipeline.asking import ask, tokens_of
from bot.slack.blocks import actions, button, section
from bot.slack.client import SLACK_ERRORS
from bot.slack.members import MembershipError
from bot.slack.messenger import WITHOUT_PREVIEWS, Post, send_in_known_blocks, sentence
from bot.store.audit import Action
from bot.store.examples import Progress
from bot.store.rubrics import ChannelJudge, RubricGoneError, SavedRubric
from judge import Judge, JudgeError, Turn, Verdict
from judge.evaluation.align import Asker, Budget, BudgetError
from judge.evaluation.stats import Interval, paired
from judge.scoring.judging import Written
from judge.scoring.rubric import Scale

BUDGET = Budget(requests=400, tokens=2_000_000)
"""Of one improvement, and of each judge of a comparison, which asks less."""
Compared = tuple[Labelled, int | None, int | None]
"""A labelled case, and its scores by the judge in use and by the new one, as far as they gave any."""

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Counted:
    """A judge whose requests all count in the limits: `ask` is `asking.ask` for one workspace."""

    judge: Judge
    ask: Callable[
        [Sequence[str], Callable[[], Awaitable[Any]], Callable[[Any], int]], Awaitable[Any]
    ]

    @property
    def version(self) -> str:
        return self.judge.version

    async def score(
        self, question: str, response: str, *, conversation: Sequence[Turn] = ()
    ) -> Verdict:
        scoring = partial(self.judge.score, question, response, conversation=conversation)
        texts = [question, response, *(each.text for each in conversation), self.judge.reference]
        verdict: Verdict = await self.ask(texts, scoring, tokens_of)
        return verdict

    async def write(self, prompt: str) -> Written:
        written: Written = await self.ask(
            [prompt], partial(self.judge.write, prompt), lambda found: found.tokens or 0
        )
        return written


async def run(services: Services, number: int) -> None:
    """Runs a comparison until the person who asked for it can decide; does nothing if they were
    told the result.

    After a crash, it continues after the last score. Raises one of `SLACK_ERRORS` if the person
    could not be told.
    """
    log, judges = JudgeRequests(services.store.database), services.judges
    request = await log.find(number)
    if judges is None or request is None or request.status == Progress.OFFERED:
        return
    chosen = await services.store.rubrics.chosen(*request.place)
    in_use = await judges.by(*request.place, chosen)
    judge = await judges.by(*request.place, request.judge)
    cases: Sequence[Compared] = []
    is_cut, why = False, "" if judge else words.GONE
    try:
        if judge and in_use and in_use.rubric.scale == judge.rubric.scale:
            cases, is_cut = await _judged(services, request, in_use, judge)
    except JudgeError as exc:
        logger.warning(
            "judge_failed", channel=request.channel_id, error=type(exc).__name__, reason=str(exc)
        )
        why = words.NO_MODEL
    if await log.find(number) is None:
        return
    now = await services.store.rubrics.chosen(*request.place)
    if (now, now.reference) != (
        chosen,
        chosen.reference,
    ):  # these figures are of a judge no longer in use
        await run(services, number)
        return
    name = words.named(request.judge, services.rubrics.default)
    here = Recipient(request.user_id, request.channel_id, is_in_channel=True)
    if not why and not await services.access.is_in(request.channel_id, request.user_id):
        why = words.NOT_BOTH_HERE
    if why or judge is None:
        await services.messenger.tell(here, why.format(judge=name))
        await log.drop(number)
        return
    versions = in_use.version if in_use else "", judge.version
    is_offline = OFFLINE in {judge.model, in_use.model if in_use else ""}
    scale = judge.rubric.scale
    post = comparison(number, name, cases, versions, scale, is_cut=is_cut, is_offline=is_offline)
    await services.messenger.tell(here, post)
    await log.offer(number)
    logger.info(
        "rubric_replayed",
        channel=request.channel_id,
        judge=judge.version,
        cases=len(cases),
        is_cut=is_cut,
    )


async def _judged(
    services: Services, request: JudgeRequest, in_use: Judge, judge: Judge
) -> tuple[Sequence[Compared], bool]:
    """The cases with the scores of both, and whether a limit cut that short; if they are too few,
    no judge is asked.

    They are judged one at a time, and each answer is remembered. Raises JudgeError if the model
    fails.
    """
    log = JudgeRequests(services.store.database)
    cases = await log.labelled(
        *request.place, judge.rubric.scale, MOST, [in_use.version, judge.version]
    )
    scores: dict[str, dict[str, int | None]] = {in_use.version: {}, judge.version: {}}
    is_cut = False

    async def count(*asking: Any) -> Any:
        if await log.find(request.id) is None:
            raise BudgetError
        return await ask(services.store, services.limits, request.team_id, *asking)

    for each in (judge, in_use) if len(cases) >= LEAST else ():
        known = {case.case.id: case.scored for case in cases if case.judge_version == each.version}
        make = partial(lambda its, rubric: Counted(its.by(rubric), count), each)
        asker = Asker(make, Records(services.store.database, *request.place), BUDGET, known=known)
        try:
            for case in cases:
                of_case = await asker.scores(each.rubric, [case.case])
                scores[each.version] |= {number: scored.score for number, scored in of_case.items()}
        except BudgetError:
            is_cut = True
    before, now = scores[in_use.version], scores[judge.version]
    return [(each, before.get(each.case.id), now.get(each.case.id)) for each in cases], is_cut


def comparison(
    number: int,
    judge: str,
    cases: Sequence[Compared],
    versions: tuple[str, str],
    scale: Scale,
    *,
    is_cut: bool = False,
    is_offline: bool = False,
) -> Post:
    """The message that compares a judge (its name as mrkdwn) with the one in use, with the buttons
    to decide.

    `versions` are those of the judge in use and of the new one; only cases that both scored count.
    It `is_cut` if a daily limit was used up before both had been asked about all cases.
    """
    text = _compared(judge, cases, versions, scale, is_offline=is_offline)
    if not text:
        why = words.USED_UP if is_cut else words.TOO_FEW if len(cases) < LEAST else words.UNSCORED
        text = why.format(judge=judge, n=len(cases))
    elif is_cut:
        text = f"{text}\n{words.CUT}"
    if is_offline:
        text = f":warning: {words.OFFLINE_RATER}\n{text}"
    use, leave = (
        ("Use it", ids.ACTION_RUBRIC_USE),
        ("Keep the current one", ids.ACTION_RUBRIC_LEAVE),
    )
    return Post(text, [section(text), actions(button(*use, number), button(*leave, number))])


def _compared(
    judge: str,
    cases: Sequence[Compared],
    versions: tuple[str, str],
    scale: Scale,
    *,
    is_offline: bool,
) -> str:
    """The figures of two judge versions; empty if too few cases have both scores."""
    rows = [
        (each, was, now, each.case.label)
        for each, was, now in cases
        if was is not None and now is not None
    ]
    n = len(rows)
    if n < LEAST:
        return ""
    found, before, after, people = zip(*rows, strict=True)
    was_off, is_off = (
        [abs(score - label) for score, label in zip(its, people, strict=True)]
        for its in (before, after)
    )
    gains = [
        (was - now, each.case.thread) for each, was, now in zip(found, was_off, is_off, strict=True)
    ]
    blind, unscored = sum(each.case.is_blind for each in found), len(cases) - n
    of_others = sum(each.judge_version not in versions for each in found)
    more = f" Other judges had scored {of_others} of them before." if of_others else ""
    more += f" {unscored} more have no score by one of the two." if unscored else ""
    lines = [
        f"*{judge} and the {'rubric' if is_offline else 'judge'} in use*, on the same {n} "
        f"labelled replies of this channel, {'all' if blind == n else blind} labelled blind.{more}",
        f"• Distance from people's scores: {fmean(was_off):.1f} points with the current judge, "
        f"{fmean(is_off):.1f} with the new one: {_how_close(paired(gains, scale))}",
        (
            f"• Same score as people: {was_off.count(0)} with the current judge, "
            f"{is_off.count(0)} with the new one"
        ),
        f"• Mean: {fmean(before):.1f} with the current judge, {fmean(after):.1f} with the new one, "
        f"{fmean(people):.1f} by people",
    ]
    return "\n".join(lines if blind == n else [*lines, words.SEEN])


def _how_close(points: Interval | None) -> str:
    """How many points closer to people's scores the new ones are, paired by case; below 0 they are
    farther away.
    """
    if points is None or points.low is None:  # all labels belong to one thread
        return "too few threads to say more"
    how = f"{abs(points.mean):.1f} {'closer' if points.mean > 0 else 'farther away'}"
    if how.startswith("0.0"):
        how = "no clear difference"
    elif not points.is_clear:
        how += ", which may be chance"
    return f"{how} (95% between {points.low:+.1f} and {points.high:+.1f})"


async def use(
    services: Services,
    team_id: str,
    channel_id: str,
    user_id: str,
    judge: ChannelJudge,
    decides: UpdateBase | None = None,
    saves: SavedRubric | None = None,
) -> str:
    """Switches a channel to this judge, and returns what to tell the person; empty if another press
    has decided it.

    In the same transaction, the statement `decides` records the decision, and the rubric `saves` is
    saved, as `Rubrics.use` says.
    """
    rubrics = services.rubrics
    chosen_by = await services.store.audit.last_by(Action.JUDGE_CHANGED, team_id, channel_id)
    try:
        is_used = await rubrics.log.use(team_id, channel_id, judge, user_id, decides, saves)
    except RubricGoneError:
        return words.no_rubric(judge.rubric or "", await rubrics.names(team_id, channel_id))
    if not is_used:
        return ""
    said = partial(words.used_by, user_id, channel_id, judge, rubrics.default)
    if chosen_by and chosen_by != user_id:
        with suppress(
            MembershipError, *SLACK_ERRORS
        ):  # the change holds, even if they cannot be told
            if not await services.memberships.keeps_out(chosen_by, channel_id):
                other = Recipient(chosen_by, channel_id)
                await services.messenger.direct(other, sentence(said(", which you had chosen")))
    await tell_channel(services, team_id, channel_id, said())
    return words.used(judge, rubrics.default)


async def tell_channel(services: Services, team_id: str, channel_id: str, said: str) -> None:
    """Tells a channel with a digest or a watch that its figures are those of another judge from now
    on.
    """
    settings = await services.store.channels.of(team_id, channel_id)
    if settings.is_digest_on or await services.store.watches.of(team_id, channel_id):
        with suppress(*SLACK_ERRORS):  # the change holds, even if the channel cannot be told
            call = services.client.chat_postMessage
            await send_in_known_blocks(call, sentence(said), channel=channel_id, **WITHOUT_PREVIEWS)
