"""The app where all optional scopes were declined: it reads no messages, and says so."""

from pathlib import Path

import pytest

from bot.domain.case import CaseStatus
from bot.slack import ids
from bot.slack.manifest import OFF_WITHOUT, load_manifest, manifest_path
from pocket_slack import Message, Sandbox, Workspace
from tests.gestures import GONE, go_ahead, link, up_to_date
from tests.model_server import ModelServer
from tests.patience import UNHURRIED
from tests.programs import environment, run
from tests.stage import (
    ANSWER,
    CHANNEL,
    GOOD,
    QUESTION,
    SCORED,
    Stage,
    StageFactory,
    shown,
)


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage(declined=OFF_WITHOUT)
    return opened


async def score_as_typed(stage: Stage) -> tuple[Message, Message]:
    """A reply that ann has had scored, once she has typed its question, and the verdict."""
    parent, answer = stage.ask_and_answer()
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    window = shown(await stage.modal(stage.ann))
    assert "I cannot read messages here, so I do not know which question" in window
    assert ANSWER in window
    stage.ann.submit({ids.BLOCK_QUESTION: QUESTION})
    verdict = await stage.verdict(parent)
    await stage.reaches(1, CaseStatus.DELIVERED)
    return answer, verdict


async def test_a_reply_is_scored_once_its_question_is_typed(stage: Stage) -> None:
    answer, verdict = await score_as_typed(stage)
    before = shown(verdict)
    assert verdict.text.startswith(SCORED)
    assert "(as typed):" in before
    # An edit that the app hears of changes nothing, because it cannot read the verdict.
    team_id = stage.slack.workspace.team_id
    assert await stage.log.edits.note_edited(team_id, answer.channel_id, answer.ts, "Another.")
    await up_to_date(stage)
    assert shown(stage.ours()[-1]) == before


async def test_a_link_is_not_scored_and_the_person_is_told_what_to_do(stage: Stage) -> None:
    _, answer = stage.ask_and_answer()
    stage.ann.command(CHANNEL, ids.COMMAND, link(stage, answer))
    await stage.slack.until(
        lambda: len(stage.ann.ephemerals(CHANNEL)) == 2
    )  # that it is accepted, and that it cannot be, in any order
    said = "".join(map(shown, stage.ann.ephemerals(CHANNEL)))
    assert "I cannot read messages here. Open the message's menu" in said
    assert stage.model.requests == []
    assert stage.ours() == []


@pytest.mark.needs("privacy")
async def test_forgotten_words_leave_the_verdict_though_it_cannot_be_read(stage: Stage) -> None:
    _, before = await score_as_typed(stage)
    assert QUESTION in shown(before)
    await go_ahead(stage, stage.ann)
    await up_to_date(stage)
    (verdict,) = stage.ours()
    words = shown(verdict)
    assert (verdict.text, GONE in words, SCORED in words) == (SCORED, True, True)
    assert QUESTION not in words
    assert "answers the question directly" not in words


async def test_doctor_says_what_is_off_and_finds_nothing_wrong(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(GOOD)
    workspace = Workspace(load_manifest(), limits=UNHURRIED, declined=OFF_WITHOUT)
    async with Sandbox(workspace) as slack:
        code, out, _ = await run("doctor", environment(slack, model_server, tmp_path), tmp_path)
    (line,) = [line for line in out.splitlines() if "SLACK_BOT_TOKEN" in line]
    assert code == 0
    assert line.startswith("ok     SLACK_BOT_TOKEN: bot ")
    for scope, off in OFF_WITHOUT.items():
        assert scope in line
        assert off in line


async def test_doctor_wants_the_scopes_that_are_not_optional(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(GOOD)
    manifest = load_manifest()
    manifest["oauth_config"]["scopes"]["bot"].remove("groups:read")
    async with Sandbox(Workspace(manifest)) as slack:
        code, out, _ = await run("doctor", environment(slack, model_server, tmp_path), tmp_path)
    assert code == 1
    assert f"scopes are missing: groups:read; paste {manifest_path()} again" in out
