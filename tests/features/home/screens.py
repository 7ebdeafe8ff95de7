"""The Home tab and the list of one's cases, for `tests/screens.py`."""

from bot.features.home.handlers import _settings, recent, show_home
from bot.slack.invocation import Invocation
from tests.features.home.test_recent import add_cases, of_ann
from tests.stage import Stage


async def make_with_app(stage: Stage, words: str) -> None:
    """Both need the store and Slack."""
    its = of_ann(stage)
    ann = Invocation(
        its["team_id"],
        its["channel_id"],
        stage.ann.id,
        "ann",
        is_foreign=False,
        window_channel_id=stage.ann.im,
    )
    await _settings(stage.services, ann)
    await show_home(stage.services, ann)
    await recent(stage.services, ann)
    await add_cases(
        stage.log, 11, score=1, question=words, response=words, justification=words, **its
    )
    await show_home(stage.services, ann, words[:200])
    await recent(stage.services, ann)
