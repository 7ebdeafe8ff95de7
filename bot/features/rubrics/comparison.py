"""Before a channel's judge changes, labelled cases get a score by both, and the person who asked is told."""

from collections.abc import Sequence

import structlog
from slack_sdk.errors import SlackApiError

from bot.domain.case import Recipient
from bot.features.rubrics import text as words
from bot.features.rubrics.figures import replay_figures
from bot.features.rubrics.text import named
from bot.pipeline.judges import Judges
from bot.pipeline.text import sentence
from bot.slack.access import Access
from bot.slack.client import is_transient
from bot.slack.messenger import Messenger
from bot.store import Store
from bot.store.rubrics import ChannelReplay, ReplayedCase
from judge import Judge, JudgeError

_MOST_FAILURES = 3

logger = structlog.get_logger(__name__)


class RubricReplay:
    """Judges the cases of a replay; killed and begun anew, it goes on after the last score."""

    def __init__(self, store: Store, judges: Judges, default: str, access: Access, messenger: Messenger) -> None:
        self._store = store
        self._judges = judges
        self._default = default
        self._access = access
        self._messenger = messenger

    async def run(self, number: int) -> None:
        """Brings a replay to where its person decides; one that is there already is left alone.

        Raises:
            SlackApiError, ClientError, TimeoutError: Slack fails for the moment, so that the person could not be told.
        """
        replay = await self._store.channel_replays.find(number)
        if replay is None or replay.told_at:
            return
        place = replay.team_id, replay.channel_id
        in_use = await self._judges.by(*place, await self._store.rubrics.chosen(*place))
        judge = await self._judges.by(*place, replay.judge)
        name = named(replay.judge, self._default)
        here = Recipient(replay.user_id, replay.channel_id, is_in_channel=True)
        cases = await self._judged(replay, in_use, judge) if judge else None
        if not await self._is_open(replay):
            return
        is_here = await self._is_here(replay)
        if judge is None or cases is None or not is_here:
            why = words.GONE if judge is None else words.NO_MODEL if cases is None else words.NOT_BOTH_HERE
            await self._messenger.tell(here, sentence(why.format(judge=name)))
            await self._store.channel_replays.drop(number)
            return
        figures = replay_figures(cases, in_use.version, judge.version, judge.rubric.scale) if in_use else None
        await self._messenger.tell(here, words.comparison(number, name, figures, len(cases)))
        await self._store.channel_replays.note_told(replay)
        logger.info("rubric_replayed", channel=replay.channel_id, judge=judge.version, cases=len(cases))

    async def _judged(self, replay: ChannelReplay, in_use: Judge | None, judge: Judge) -> Sequence[ReplayedCase] | None:
        """The cases, once both judges have been asked about all; None where a model cannot be asked."""
        if in_use is None or in_use.rubric.scale != judge.rubric.scale:
            return []
        await self._store.channel_replays.plan(replay, [in_use.version, judge.version], judge.rubric.scale)
        for each in (judge, in_use):
            if not await self._judge(replay, each):
                return None
        return await self._store.channel_replays.cases(replay)

    async def _judge(self, replay: ChannelReplay, judge: Judge) -> bool:
        """Has a judge score the cases that it has not yet, one after the other; False where its model fails."""
        failures = 0
        cases = await self._store.channel_replays.cases(replay)
        for case in cases:
            if judge.version in case.scores:
                continue
            if not await self._is_open(replay):
                break
            try:
                verdict = await judge.score(case.question, case.response)
            except JudgeError as exc:
                logger.warning("judge_failed", case=case.id, error=type(exc).__name__, reason=str(exc))
                failures += 1
                if failures == min(_MOST_FAILURES, len(cases)):
                    return False
                continue
            failures = 0
            tokens = (verdict.input_tokens or 0) + (verdict.output_tokens or 0)
            await self._store.channel_replays.record(replay, case.id, judge.version, verdict.score, tokens)
        return True

    async def _is_open(self, replay: ChannelReplay) -> bool:
        return await self._store.channel_replays.find(replay.id) is not None

    async def _is_here(self, replay: ChannelReplay) -> bool:
        """Whether its person may see the channel's figures: Slack is asked anew, since judging took its time."""
        try:
            return await self._access.is_in(replay.channel_id, replay.user_id)
        except SlackApiError as exc:
            if is_transient(exc):
                raise
            return False
