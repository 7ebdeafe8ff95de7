"""Before a channel's judge changes, labelled cases are judged by the one to be, and the person who asked is told."""

import structlog

from bot.domain.recipient import Recipient
from bot.log import Store
from bot.log.channel_replays import ChannelReplay
from bot.rubrics.judges import Judges
from bot.slack.teller import Teller
from bot.views import rubric_replay as words
from bot.views.messages import sentence
from bot.views.rubric_settings import named
from bot.weeks.replay import replay_figures
from judge import Judge, JudgeError

_MOST_FAILURES = 3

logger = structlog.get_logger(__name__)


class RubricReplay:
    """Judges the cases of a replay; killed and begun anew, it goes on after the last one that has its score.

    Args:
        store: Where replays are.
        judges: Finds both judges.
        default: The name of the rubric where a channel has chosen none.
        teller: What tells the person.
    """

    def __init__(self, store: Store, judges: Judges, default: str, teller: Teller) -> None:
        self._store = store
        self._judges = judges
        self._default = default
        self._teller = teller

    async def run(self, number: int) -> None:
        """Brings a replay to where its person decides; one that is there already is left alone.

        Raises:
            SlackApiError: Slack fails for the moment, so that the person could not be told.
        """
        replay = await self._store.channel_replays.find(number)
        if replay is None or replay.told_at:
            return
        place = replay.team_id, replay.channel_id
        in_use = await self._judges.by(*place, await self._store.rubrics.chosen(*place))
        judge = await self._judges.by(*place, replay.judge)
        if judge is None:  # deleted since; whoever did that was told so
            await self._store.channel_replays.drop(number)
            return
        await self._store.channel_replays.plan(replay, in_use.version if in_use else "", judge.rubric.scale)
        name = named(replay.judge, self._default)
        here = Recipient(replay.user_id, replay.channel_id, is_in_channel=True)
        if not await self._judge(replay, judge):
            await self._teller.tell(here, sentence(words.NO_MODEL.format(judge=name)))
            await self._store.channel_replays.drop(number)
            return
        cases = await self._store.channel_replays.cases(replay)
        figures = replay_figures(cases, judge.rubric.scale)
        await self._teller.tell(here, words.comparison(number, name, figures, sum(case.is_judged for case in cases)))
        await self._store.channel_replays.note_told(replay)
        logger.info("rubric_replayed", channel=replay.channel_id, judge=judge.version, cases=len(cases))

    async def _judge(self, replay: ChannelReplay, judge: Judge) -> bool:
        """Has the cases judged that are not yet, one after the other; False where the model cannot be asked."""
        failures = 0
        for case in await self._store.channel_replays.cases(replay):
            if case.is_judged:
                continue
            try:
                verdict = await judge.score(case.question, case.response)
            except JudgeError as exc:
                logger.warning("judge_failed", case=case.id, error=type(exc).__name__, reason=str(exc))
                failures += 1
                if failures == _MOST_FAILURES:
                    return False
                continue
            failures = 0
            tokens = (verdict.input_tokens or 0) + (verdict.output_tokens or 0)
            await self._store.channel_replays.record(replay, case.id, verdict.score, tokens)
        return True
