"""An improvement of a rubric in a real process that is killed again and again: it goes on, and asks
little twice.
"""

from pathlib import Path

import pytest

from bot.domain.label import Label
from bot.features.rubrics import ids
from bot.slack import ids as slack_ids
from bot.store import Store
from pocket_slack import Message
from tests.features.rubrics.test_improvement import people, too_kind
from tests.gestures import add_case, help_desk
from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.programs import environment, pocket_slack
from tests.replicas import replica
from tests.stage import CHANNEL, Stage, buttons, shown

pytestmark = pytest.mark.slow

CASES, KILLS = 24, (5, 11, 17)


async def test_no_answer_is_asked_for_again_after_kill_9(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(too_kind)
    async with pocket_slack() as slack:
        log = await Store.open(f"sqlite+aiosqlite:///{tmp_path}/log.db")
        stage = Stage(
            slack, model_server, log, *(slack.person(name) for name in ("ann", "ben", "helper"))
        )
        for number in range(1, CASES + 1):
            texts = {
                "question": "Why?",
                "response": f"Answer {number}.",
                "message_ts": f"{number}.0",
            }
            await add_case(
                stage,
                help_desk(stage),
                stage.helper.id,
                3,
                key=f"k{number}",
                judge_version="v",
                **texts,
            )
            case = await log.cases.get(number)
            assert case
            await log.labels.put(case, stage.ben.id, Label(people(number), None))
        await log.close()
        env = environment(slack, model_server, tmp_path)

        def told() -> list[Message]:
            return list(slack.workspace.im(stage.ann.id).messages.values())

        for kill_at in KILLS:
            async with replica(f"killed at {kill_at}", env, tmp_path) as process:
                await slack.connected(timeout_s=ONLY_A_HANG_S)
                if kill_at == KILLS[0]:
                    stage.ann.command(CHANNEL, slack_ids.COMMAND, "rubric improve")
                await model_server.asked(kill_at)
                process.kill()
                await process.wait()
            await slack.until(lambda: not slack.sockets.open, ONLY_A_HANG_S)
        async with replica("last", env, tmp_path):
            await slack.until(
                lambda: told() and ids.ACTION_IMPROVE_USE in buttons(told()[0]), ONLY_A_HANG_S
            )
        assert len(told()) == 1
        assert "+ calibration: 3=1 5=3" in shown(told()[0])
    prompts = [request["messages"][0]["content"] for request in model_server.requests]
    assert len(set(prompts)) == CASES
    assert len(prompts) <= CASES + 2 * len(KILLS)  # two are under way at a time
