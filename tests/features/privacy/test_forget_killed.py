"""A process is killed right after Slack has taken a post or a file; then its words are forgotten.

See `tests/slow/test_kill.py`.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert

from bot.domain.watch import Watch
from bot.slack import ids as slack_ids
from bot.store import Store
from bot.store.schema import ratings
from pocket_slack import Sandbox
from tests.gestures import add_case, go_ahead, help_desk
from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.programs import environment, pocket_slack
from tests.replicas import replica
from tests.slow.points import Point
from tests.slow.test_kill import doomed
from tests.stage import ANSWER, CHANNEL, GOOD, QUESTION, Stage, shown

pytestmark = pytest.mark.slow

WORDS = "It names no source"
WEEK = timedelta(days=7)


async def add_low_case(stage: Stage, **changes: object) -> None:
    texts = {"response": ANSWER, "justification": WORDS, "question_author_id": stage.ben.id}
    await add_case(stage, help_desk(stage), stage.helper.id, 1, **texts, **changes)


async def a_verdict(stage: Stage) -> None:
    """It goes by direct message."""
    stage.slack.fail("chat.postEphemeral", error="user_not_in_channel")
    stage.slack.fail("response_url", status=404)


async def ask(stage: Stage) -> None:
    await stage.slack.connected(timeout_s=ONLY_A_HANG_S)
    parent = stage.ben.post(CHANNEL, QUESTION)
    answer = stage.helper.post(CHANNEL, ANSWER, thread_ts=parent.ts)
    stage.ann.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer)


async def a_digest(stage: Stage) -> None:
    await add_low_case(stage, judged_at=datetime.now(UTC) - WEEK)
    since = {"is_digest_on": True, "digest_since": datetime.now(UTC) - 2 * WEEK}
    place = stage.slack.workspace.team_id, help_desk(stage).id
    await stage.log.channels.save(*place, stage.ann.id, **since)


async def open_file(stage: Stage) -> None:
    from bot.features.digest import ids  # here, because the feature can be deleted

    await stage.slack.connected(timeout_s=ONLY_A_HANG_S)
    (digest,) = await stage.slack.until(lambda: [each for each in stage.ours() if each.blocks])
    await stage.slack.until(lambda: WORDS in shown(digest))
    stage.ben.click(digest, ids.ACTION_LOW_LIST)
    stage.ben.click(await stage.modal(stage.ben), ids.ACTION_LOW_FILE)


async def an_alert(stage: Stage) -> None:
    from bot.features.watch.queries import WatchOrders

    now, team_id = datetime.now(UTC), stage.slack.workspace.team_id
    place = team_id, help_desk(stage).id, stage.helper.id
    to = {"alerts_to": (stage.ann.id,), "low_since": now - WEEK}
    await WatchOrders(stage.log.database).save(Watch(*place, now - WEEK, **to), stage.ann.id)
    await add_low_case(stage, probability=1.0, delivered_at=now)
    rating = {"team_id": team_id, "case_id": 1, "score": 1, "justification": "", "raw": ""}
    two = [rating | {"position": position} for position in range(2)]
    async with stage.log.database.engine.begin() as connection:
        await connection.execute(insert(ratings), two)


async def nothing(_: Stage) -> None:
    """What is due at the start comes by itself."""


def words_in(slack: Sandbox) -> bool:
    """Whether the words are in a message or a file that Slack keeps."""
    channels = slack.workspace.channels.values()
    messages = [each for channel in channels for each in channel.messages.values()]
    kept = [each.text + shown(each) for each in messages]
    kept += [str(file.content) for file in slack.workspace.files.values()]
    return any(WORDS in each for each in kept)


Step = Callable[[Stage], Awaitable[None]]
OF_DIGEST, OF_WATCH = pytest.mark.needs("digest"), pytest.mark.needs("watch")


@pytest.mark.parametrize(
    ("prepare", "act", "step"),
    [
        pytest.param(a_verdict, ask, "chat_postMessage", id="verdict posted"),
        pytest.param(a_verdict, ask, "chat_update", id="verdict filled"),
        pytest.param(a_digest, nothing, "chat_postMessage", id="digest posted", marks=OF_DIGEST),
        pytest.param(a_digest, nothing, "chat_update", id="digest filled", marks=OF_DIGEST),
        pytest.param(
            a_digest, open_file, "files_completeUploadExternal", id="file", marks=OF_DIGEST
        ),
        pytest.param(an_alert, nothing, "chat_postMessage", id="alert posted", marks=OF_WATCH),
        pytest.param(an_alert, nothing, "chat_update", id="alert filled", marks=OF_WATCH),
    ],
)
async def test_no_word_is_left_of_what_a_killed_process_has_sent(
    model_server: ModelServer, tmp_path: Path, prepare: Step, act: Step, step: str
) -> None:
    model_server.script(f"score: 1\n{WORDS}.")
    async with pocket_slack(parts=["files"]) as slack:
        log = await Store.open(f"sqlite+aiosqlite:///{tmp_path}/log.db")
        people = [slack.person(name) for name in ("ann", "ben", "helper")]
        stage = Stage(slack, model_server, log, *people)
        await prepare(stage)
        await log.close()
        env = environment(slack, model_server, tmp_path) | {"VERDICT_VISIBILITY": "me"}
        doom = {"ARMED": "1", "ERRORS": str(tmp_path / "errors.txt")}
        async with doomed(Point(step, "after"), env | doom) as process:
            await act(stage)
            code = await asyncio.wait_for(process.wait(), ONLY_A_HANG_S)
            assert code == -signal.SIGKILL, (tmp_path / "errors.txt").read_text()[-3000:]
        assert words_in(slack) == (step != "chat_postMessage")
        await slack.until(lambda: not slack.sockets.open, ONLY_A_HANG_S)
        model_server.script(GOOD)
        async with replica("next", env, tmp_path):
            await slack.connected(timeout_s=ONLY_A_HANG_S)
            await go_ahead(stage, stage.ben)
            await slack.until(lambda: not words_in(slack), ONLY_A_HANG_S)
