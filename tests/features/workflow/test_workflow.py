"""The step "Score a reply" of workflows: a case like anybody's, and an end in every case."""

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.app import running_bot
from bot.domain.blocker import CHANNEL_OFF, FOREIGN, NO_QUESTION, RefusedError
from bot.domain.case import CaseSource, CaseStatus, Exclusion, Visibility
from bot.features.workflow import queries
from bot.features.workflow.handlers import FUNCTION_SCORE_REPLY, to_request
from bot.features.workflow.queries import Executions
from bot.features.workflow.text import (
    EITHER_OR,
    FORGOTTEN,
    NO_LINK,
    NO_PERSON,
    NO_PLACE,
    NOT_IN_BOTH,
    OTHER_OUTPUTS,
)
from bot.pipeline.text import WENT_WRONG
from bot.slack import ids as slack_ids
from bot.slack.manifest import load_manifest
from pocket_slack import Entry, Execution, Message
from tests.gestures import stats
from tests.model_server import Held, ModelServer
from tests.programs import pocket_slack
from tests.stage import (
    ANSWER,
    CHANNEL,
    GOOD,
    QUESTION,
    Stage,
    StageFactory,
    is_verdict,
    make_settings,
    shown,
)
from tests.tables import each

WORKFLOW_STEP = "workflow-step"
WHY = "It answers the question directly and says what happens to the changes."
TEXTS = {"question": QUESTION, "response": ANSWER}
Settings = dict[str, Any]


@pytest.fixture
def open_step_stage(open_stage: StageFactory) -> StageFactory:
    async def open_it(**settings: Any) -> Stage:
        opened: Stage = await open_stage(manifest=load_manifest(parts=[WORKFLOW_STEP]), **settings)
        return opened

    return open_it


@pytest.fixture
async def stage(open_step_stage: StageFactory) -> AsyncIterator[Stage]:
    opened: Stage = await open_step_stage()
    yield opened
    assert opened.slack.workspace.executions.running == []


def run(stage: Stage, **inputs: Any) -> Execution:
    return stage.ann.run_step(FUNCTION_SCORE_REPLY, {"user_id": stage.ann.id} | inputs)


async def ended(stage: Stage, execution: Execution) -> Execution:
    """The step, once the app has ended it."""
    await stage.slack.until(lambda: execution.status != "running")
    return execution


def at(message: Message) -> dict[str, str]:
    return {"channel_id": message.channel_id, "message_ts": message.ts}


def link(stage: Stage, message: Message) -> str:
    parent_ts = message.thread_ts if message.is_reply else None
    return stage.slack.workspace.permalink(message.channel_id, message.ts, parent_ts)


def ends(stage: Stage) -> list[str]:
    """How steps were ended, call by call, with what Slack said."""
    calls = [entry.data for entry in stage.slack.workspace.journal.of("call")]
    return [
        f"{call['method'].removeprefix('functions.')} {(call['answer'] or {}).get('error', 'ok')}"
        for call in calls
        if call["method"].startswith("functions.")
    ]


@pytest.mark.parametrize("by", ["link", "message"])
async def test_a_reply_in_a_thread_is_scored(stage: Stage, by: str) -> None:
    parent, answer = stage.ask_and_answer()
    execution = run(
        stage, **({"link": link(stage, answer)} if by == "link" else {"message": at(answer)})
    )
    await ended(stage, execution)
    verdict = await stage.verdict(parent)
    assert execution.outputs == {
        "scored": True,
        "score": 4,
        "justification": WHY,
        "verdict_link": link(stage, verdict),
    }
    case = await stage.log.cases.get(1)
    assert case is not None
    assert (case.question, case.message_ts) == (QUESTION, answer.ts)
    assert (case.source, case.requester_id, case.requester_name) == (
        CaseSource.AUTOMATION,
        "workflow",
        "a workflow",
    )
    assert (case.probability, case.visibility, case.excluded) == (
        None,
        Visibility.THREAD,
        Exclusion.AUTOMATION,
    )
    assert await stage.log.cases.exclusion_of(stage.ann.id, case) is None  # it counts apart
    assert stage.ann.ephemerals(CHANNEL) == []


async def test_a_step_on_a_reply_that_has_gone_on_is_scored_and_counted_apart(stage: Stage) -> None:
    parent, answer = stage.ask_and_answer()
    stage.ann.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.verdict(parent)
    stage.helper.post(CHANNEL, "One more thing.", thread_ts=parent.ts)
    await ended(stage, run(stage, link=link(stage, answer)))
    case = await stage.log.cases.get(2)
    assert case is not None
    assert (case.messages, case.excluded) == (2, Exclusion.AUTOMATION)
    assert not await stage.log.cases.is_replaced(1)


@pytest.mark.needs("rubrics")
async def test_a_step_scores_by_the_rubric_of_the_messages_channel(stage: Stage) -> None:
    _, answer = stage.ask_and_answer()
    stage.ann.command(CHANNEL, slack_ids.COMMAND, "rubric use code")
    await stage.told(stage.ann)
    await ended(stage, run(stage, link=link(stage, answer)))
    await ended(stage, run(stage, **TEXTS))
    assert [(await stage.log.cases.get(number)).rubric for number in (1, 2)] == [
        "code",
        "additive-5",
    ]


@pytest.mark.parametrize("who", ["the app", "another bot", "nobody"])
async def test_whoever_asks_has_to_be_a_person(stage: Stage, who: str) -> None:
    workspace = stage.slack.workspace
    room = workspace.add_channel("room", [stage.helper.user, workspace.bot], is_private=True)
    answer = stage.helper.post(room.id, ANSWER)
    user_id = {"the app": workspace.bot.id, "another bot": stage.helper.user.id}.get(
        who, "U0NOBODY99"
    )
    execution = await ended(stage, run(stage, user_id=user_id, message=at(answer)))
    assert (execution.status, execution.error) == ("failed", NO_PERSON)
    assert stage.model.requests == []


async def test_two_texts_are_scored_for_the_workflow_alone(stage: Stage) -> None:
    execution = await ended(stage, run(stage, **TEXTS))
    assert execution.outputs == {"scored": True, "score": 4, "justification": WHY}
    prompt = stage.model.requests[0]["messages"][0]["content"]
    assert f"<question>{QUESTION}</question>" in prompt
    assert f"<response>{ANSWER}</response>" in prompt
    await stage.reaches(1, CaseStatus.DELIVERED)
    assert [
        entry
        for entry in stage.slack.workspace.journal.of("call")
        if "chat." in entry.data["method"]
    ] == []


async def test_the_person_whom_a_workflow_names_is_charged_nothing(
    open_step_stage: StageFactory,
) -> None:
    stage = await open_step_stage(max_cases_per_user_per_hour=1)
    for number in (1, 2):
        await ended(stage, run(stage, question=QUESTION, response=f"Answer {number}."))
    parent, answer = stage.ask_and_answer()
    stage.ann.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.verdict(parent)


async def test_a_reply_that_a_workflow_had_scored_is_scored_anew_for_a_person(stage: Stage) -> None:
    parent, answer = stage.ask_and_answer()
    await ended(stage, run(stage, message=at(answer)))
    await stage.verdict(parent)
    stage.ann.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.verdict(parent, 2)
    case = await stage.reaches(2, CaseStatus.DELIVERED)
    assert (case.requester_id, case.excluded) == (stage.ann.id, None)


async def test_a_reply_of_which_a_workflow_was_told_the_score_is_not_labelled_blind(
    stage: Stage,
) -> None:
    team_id, ben = stage.slack.workspace.team_id, stage.ben.id
    parent, answer = stage.ask_and_answer()
    stage.ann.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.reaches(1, CaseStatus.DELIVERED)
    assert await stage.log.assignments.has_any(team_id, ben, {parent.channel_id})
    await ended(stage, run(stage, message=at(answer)))
    assert not await stage.log.assignments.has_any(team_id, ben, {parent.channel_id})


@pytest.mark.needs("digest")
async def test_what_workflows_asked_for_is_counted_apart(stage: Stage) -> None:
    for number in range(1, 6):
        _, answer = stage.ask_and_answer(answer=f"Answer {number}.")
        await ended(stage, run(stage, message=at(answer)))
        await stage.reaches(number, CaseStatus.DELIVERED)
        said = shown(await stats(stage, count=number))
        count = "1 reply" if number == 1 else f"{number} replies"
        mean = ": mean 4.0 on a scale from 0 to 5" if number == 5 else ""
        assert f"{count} requested by workflows, not counted elsewhere{mean}." in said
        assert "chosen by people" not in said


async def test_an_unscored_step_has_no_score_and_says_why(stage: Stage) -> None:
    stage.model.script("I would rather not say.", "Nor now.")
    execution = await ended(stage, run(stage, **TEXTS))
    assert execution.outputs == {
        "scored": False,
        "reason": "The model gave no score I can rely on, and I do not guess.",
    }


async def test_without_a_question_nobody_is_asked_and_the_step_ends(stage: Stage) -> None:
    answer = stage.helper.post(CHANNEL, ANSWER)
    execution = await ended(stage, run(stage, message=at(answer)))
    assert execution.outputs == {"scored": False, "reason": NO_QUESTION}
    assert stage.ann.ephemerals(CHANNEL) == []
    assert stage.ann.view is None
    assert stage.model.requests == []


async def test_a_step_does_not_wait_for_what_a_person_is_yet_to_type(stage: Stage) -> None:
    answer = stage.helper.post(CHANNEL, ANSWER)
    stage.ann.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.modal(stage.ann)
    await stage.reaches(1, CaseStatus.ASKED)
    execution = await ended(stage, run(stage, message=at(answer)))
    assert execution.outputs == {"scored": False, "reason": NO_QUESTION}


async def test_where_verdicts_are_for_one_alone_the_workflow_is_told_and_nothing_posted(
    open_step_stage: StageFactory,
) -> None:
    stage = await open_step_stage(verdict_visibility="me")
    _, answer = stage.ask_and_answer()
    execution = await ended(stage, run(stage, message=at(answer)))
    assert execution.outputs == {"scored": True, "score": 4, "justification": WHY}
    await stage.reaches(1, CaseStatus.DELIVERED)
    assert (stage.ours(), stage.ann.ephemerals(CHANNEL), stage.ann.messages(stage.ann.im)) == (
        [],
        [],
        [],
    )


async def test_where_slack_lets_nobody_post_the_workflow_is_told_without_a_link(
    stage: Stage,
) -> None:
    stage.slack.fail("chat.postMessage", error="restricted_action", times=9)
    _, answer = stage.ask_and_answer()
    execution = await ended(stage, run(stage, message=at(answer)))
    assert execution.outputs == {"scored": True, "score": 4, "justification": WHY}
    assert stage.ann.ephemerals(CHANNEL) == []


@each(
    ("inputs", "error"),
    [
        ({}, EITHER_OR),
        ({"question": QUESTION}, EITHER_OR),
        (TEXTS | {"link": "https://pocket.slack.com/archives/C1/p1700000000000100"}, EITHER_OR),
        ({"link": "the one above"}, NO_LINK),
        ({"message": {"message_ts": "1700000000.000100"}}, NO_PLACE),
        ({"message": {"message_ts": "1.1", "channel_id": "C1"}}, NO_PLACE),
    ],
)
def test_inputs_that_ask_for_nothing_are_refused(inputs: Settings, error: str) -> None:
    with pytest.raises(RefusedError, match=re.escape(error)):
        to_request(inputs, "pocket.slack.com")


@pytest.mark.parametrize(
    ("host", "error"), [("other", "another workspace"), ("pocket", NOT_IN_BOTH)]
)
async def test_a_link_to_what_cannot_be_read_fails_the_step(
    stage: Stage, host: str, error: str
) -> None:
    execution = await ended(
        stage, run(stage, link=f"https://{host}.slack.com/archives/C0/p1700000000000100")
    )
    assert error in (execution.error or "")
    assert await stage.log.cases.newest(5) == []


async def test_of_a_private_channel_the_workflow_is_told_the_score_and_nothing_that_is_quoted(
    stage: Stage,
) -> None:
    workspace = stage.slack.workspace
    workspace.add_channel(
        "secret", [stage.ann.user, stage.helper.user, workspace.bot], is_private=True
    )
    parent = stage.ann.post("secret", QUESTION)
    answer = stage.helper.post("secret", ANSWER, thread_ts=parent.ts)
    execution = await ended(stage, run(stage, message=at(answer)))
    assert execution.outputs is not None
    assert execution.outputs.keys() == {"scored", "score", "verdict_link"}
    assert [WHY in message.text for message in stage.ann.thread("secret", parent.ts)] == [
        False,
        False,
        True,
    ]


async def test_people_of_another_company_are_refused(stage: Stage) -> None:
    stage.slack.workspace.user("ann").team_id = "T0OTHER"
    execution = await ended(stage, run(stage, **TEXTS))
    assert execution.error == FOREIGN


async def test_half_of_the_workspaces_day_fails_the_step(open_step_stage: StageFactory) -> None:
    stage = await open_step_stage(max_cases_per_day=2)
    await ended(stage, run(stage, **TEXTS))
    execution = await ended(stage, run(stage, question=QUESTION, response="Another one."))
    assert (execution.error or "").startswith("Workflows asked for one score in the last 24 hours")
    assert len(await stage.log.cases.newest(5)) == 1


async def test_a_channel_that_is_off_fails_the_step(open_step_stage: StageFactory) -> None:
    stage = await open_step_stage(channels_allowed="C0ELSEWHERE")
    _, answer = stage.ask_and_answer()
    execution = await ended(stage, run(stage, message=at(answer)))
    assert execution.error == CHANNEL_OFF
    execution = await ended(stage, run(stage, **TEXTS))
    assert execution.outputs is not None


async def test_told_of_again_a_step_that_is_under_way_does_not_fail(stage: Stage) -> None:
    """Whoever it runs for has left the channel since."""
    gate = asyncio.Event()
    stage.model.script(Held(gate, GOOD))
    _, answer = stage.ask_and_answer()
    execution = run(stage, message=at(answer))
    assert execution.delivery is not None
    await stage.slack.settled(execution.delivery)
    stage.ann.leave(CHANNEL)
    stage.slack.workspace.deliveries.redeliver(execution.delivery)
    await stage.slack.until(lambda: len(stage.slack.workspace.journal.of("ack")) == 2)
    gate.set()
    assert (await ended(stage, execution)).status == "completed"
    assert ends(stage) == ["completeSuccess ok"]


async def test_two_steps_on_one_message_share_its_case(stage: Stage) -> None:
    parent, answer = stage.ask_and_answer()
    first = await ended(stage, run(stage, message=at(answer)))
    second = await ended(stage, run(stage, link=link(stage, answer)))
    assert first.outputs == second.outputs
    assert is_verdict(await stage.verdict(parent))
    assert len(await stage.log.cases.newest(5)) == 1
    assert len(stage.model.requests) == 1


async def test_a_step_waits_for_what_a_person_has_asked_for(stage: Stage) -> None:
    gate = asyncio.Event()
    stage.model.script(Held(gate, GOOD))
    _, answer = stage.ask_and_answer()
    await stage.slack.settled(stage.ben.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer))
    execution = run(stage, message=at(answer))
    assert execution.delivery is not None
    await stage.slack.settled(execution.delivery)
    assert execution.status == "running"
    gate.set()
    await ended(stage, execution)
    assert execution.outputs is not None
    assert execution.outputs["score"] == 4
    assert len(await stage.log.cases.newest(5)) == 1


async def test_slack_in_trouble_is_told_later(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.slack.fail("functions.completeSuccess", status=500, is_applied=True)
    execution = await ended(stage, run(stage, **TEXTS))
    await stage.reaches(1, CaseStatus.DELIVERED)
    assert execution.outputs is not None
    assert ends(stage)[1:] == ["completeSuccess execution_not_in_running_state"]
    assert "step_not_ended" not in capsys.readouterr().out


async def test_a_manifest_with_other_outputs_fails_the_step(open_stage: StageFactory) -> None:
    manifest = load_manifest(parts=[WORKFLOW_STEP])
    del manifest["functions"][FUNCTION_SCORE_REPLY]["output_parameters"]["properties"][
        "justification"
    ]
    stage: Stage = await open_stage(manifest=manifest)
    execution = await ended(stage, run(stage, **TEXTS))
    assert execution.error == OTHER_OUTPUTS
    await stage.reaches(1, CaseStatus.DELIVERED)


async def test_an_execution_that_slack_does_not_know_holds_nothing_up(stage: Stage) -> None:
    stage.slack.fail("functions.completeSuccess", error="function_execution_not_found")
    execution = run(stage, **TEXTS)
    assert execution.delivery is not None
    await stage.slack.settled(execution.delivery)
    await stage.reaches(1, CaseStatus.DELIVERED)
    assert await Executions(stage.log.database).waiting(1) == []
    stage.slack.workspace.executions.fail(execution, "as Slack may")


async def test_without_stored_texts_the_workflow_is_told_all_the_same(
    open_step_stage: StageFactory,
) -> None:
    stage = await open_step_stage(store_text="none")
    execution = await ended(stage, run(stage, **TEXTS))
    assert execution.outputs == {"scored": True, "score": 4, "justification": WHY}
    case = await stage.reaches(1, CaseStatus.DELIVERED)
    assert (case.question, case.response) == (None, None)


async def test_a_score_that_was_forgotten_meanwhile_fails_the_step(
    stage: Stage, tmp_path: Path
) -> None:
    """The process died between the step that joins a settled case, and the job that tells it; the
    next start looks.
    """
    _, answer = stage.ask_and_answer()
    await ended(stage, run(stage, message=at(answer)))
    case = await stage.reaches(1, CaseStatus.DELIVERED)
    execution = stage.slack.workspace.executions.start(
        stage.slack.workspace.manifest.function(FUNCTION_SCORE_REPLY), {}, stage.ann.id
    )

    async def join(connection: AsyncConnection) -> None:
        await Executions(stage.log.database).add(
            connection, case, queries.Execution(execution.id, quotes=True)
        )

    await stage.log.database.write(join)
    assert await stage.log.forgetting.forget([1], stage.ann.id) == [1]
    assert stage.stop_bot is not None
    await stage.stop_bot()
    async with running_bot(make_settings(stage.slack, stage.model, tmp_path), 0):
        assert (await ended(stage, execution)).error == FORGOTTEN


async def test_the_step_that_came_in_is_durable_before_the_ack(
    stage: Stage, tmp_path: Path
) -> None:
    found: list[Any] = []

    def look(entry: Entry) -> None:
        if entry.kind == "ack":
            with closing(sqlite3.connect(tmp_path / "log.db")) as log:
                found.extend(
                    log.execute(
                        "SELECT executions.id, case_id, response FROM executions, cases"
                    ).fetchall()
                )

    stage.slack.workspace.journal.watch(look)
    execution = run(stage, **TEXTS)
    await ended(stage, execution)
    await stage.slack.until(lambda: found)
    assert found == [(execution.id, 1, ANSWER)]


async def test_a_step_is_ended_when_its_own_token_has_died(stage: Stage) -> None:
    gate = asyncio.Event()
    stage.model.script(Held(gate, GOOD))
    execution = run(stage, **TEXTS)
    execution.expires_at = 0
    gate.set()
    assert (await ended(stage, execution)).status == "completed"


def _stored(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("log.db*"))


async def test_the_token_of_a_step_is_kept_nowhere(
    stage: Stage,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    _, answer = stage.ask_and_answer()
    execution = await ended(stage, run(stage, message=at(answer)))
    await stage.reaches(1, CaseStatus.DELIVERED)
    stored = _stored(tmp_path)
    assert execution.id.encode() in stored
    said = "".join(capsys.readouterr()) + caplog.text
    assert execution.token.encode() not in stored + said.encode()


async def test_mentions_in_a_justification_reach_nobody(stage: Stage) -> None:
    stage.model.script("score: 4\nIt says <!channel> and <@U1> & <b>.")
    execution = await ended(stage, run(stage, **TEXTS))
    assert execution.outputs is not None
    assert execution.outputs["justification"] == "It says < !channel> and < @U1> & <b>."


async def test_an_error_of_ours_fails_the_step_too(stage: Stage) -> None:
    stage.slack.fail("users.info", error="missing_scope")
    execution = await ended(stage, run(stage, **TEXTS))
    assert execution.error == WENT_WRONG
    assert execution.delivery is not None
    assert (await stage.slack.settled(execution.delivery)).is_acked
    assert execution.delivery.attempt == 0
    assert await stage.log.cases.newest(5) == []


async def test_with_postgresql_a_worker_ends_what_the_front_took_in(
    model_server: ModelServer, postgres_url: str, tmp_path: Path
) -> None:
    model_server.script(GOOD)
    async with pocket_slack([WORKFLOW_STEP]) as slack:
        settings = make_settings(slack, model_server, tmp_path, database_url=postgres_url)
        async with running_bot(settings, 0, role="front"), running_bot(settings, 0, role="worker"):
            await slack.connected()
            ann = slack.person("ann")
            execution = ann.run_step(FUNCTION_SCORE_REPLY, {"user_id": ann.id} | TEXTS)
            await slack.until(lambda: execution.status == "completed")
            assert execution.outputs == {"scored": True, "score": 4, "justification": WHY}
