"""The last replies that a watch would have taken, as the window of a watch shows them."""

from collections.abc import Sequence
from datetime import UTC, datetime

from bot.domain.watch import Watch
from bot.features.watch.looks import MOST, recent_replies
from bot.features.watch.watcher import Watcher
from tests.stage import CHANNEL, Stage


async def previewed(stage: Stage) -> Sequence[str]:
    """The texts of helper's last replies, the newest first."""
    team_id, channel = stage.slack.workspace.team_id, stage.slack.workspace.channel(CHANNEL)
    watch = Watch(team_id, channel.id, stage.helper.id, datetime.now(UTC))
    assert stage.services
    return [reply.text for reply in await recent_replies(Watcher(stage.services), watch)]


async def test_what_was_sent_to_the_channel_as_well_is_shown_once(stage: Stage) -> None:
    question = stage.ann.post(CHANNEL, "What is a branch?")
    stage.helper.post(CHANNEL, "A name for a commit.", thread_ts=question.ts, is_broadcast=True)
    assert await previewed(stage) == ["A name for a commit."]


async def test_a_reply_in_a_thread_of_many_is_found(stage: Stage) -> None:
    question = stage.ann.post(CHANNEL, "What is a branch?")
    for number in range(MOST):  # of whom Slack names five alone
        workspace = stage.slack.workspace
        other = workspace.add_user(f"other{number}")
        workspace.channel(CHANNEL).members.append(other.id)
        stage.slack.person(other.name).post(CHANNEL, "So am I wondering.", thread_ts=question.ts)
    stage.helper.post(CHANNEL, "A name for a commit.", thread_ts=question.ts)
    assert await previewed(stage) == ["A name for a commit."]
