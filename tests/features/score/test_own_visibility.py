"""Who sees a person's verdicts, as they have chosen it themselves: honoured however they ask."""

from collections.abc import Callable
from typing import Any

import pytest

from bot.domain.case import Visibility
from bot.slack import ids
from bot.store import Store
from pocket_slack import View
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory


async def choose(stage: Stage, visibility: Visibility | None) -> None:
    await stage.log.people.save_visibility(stage.slack.workspace.team_id, stage.ann.id, visibility)


def by_shortcut(stage: Stage) -> None:
    _, answer = stage.ask_and_answer()
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)


def by_link(stage: Stage) -> None:
    parent, answer = stage.ask_and_answer()
    stage.ann.command(CHANNEL, ids.COMMAND, stage.slack.workspace.permalink(answer.channel_id, answer.ts, parent.ts))


def by_texts(stage: Stage) -> None:
    stage.ann.command(CHANNEL, ids.COMMAND, f"{QUESTION} | {ANSWER}")


@pytest.mark.parametrize("ask", [by_shortcut, by_link, by_texts])
async def test_only_me_posts_nothing_for_others(stage: Stage, ask: Callable[[Stage], Any]) -> None:
    await choose(stage, Visibility.ME)
    ask(stage)
    await stage.slack.until(lambda: any(m.text.startswith("Score 4") for m in stage.ann.ephemerals(CHANNEL)))
    assert stage.ours() == []
    assert (await stage.log.cases.get(1)).visibility is Visibility.ME


def preselected(view: View) -> str:
    (element,) = [b["element"] for b in view.body["blocks"] if b.get("block_id") == ids.BLOCK_VISIBILITY]
    return str(element["initial_option"]["value"])


async def test_the_window_begins_with_it(stage: Stage) -> None:
    await choose(stage, Visibility.ME)
    stage.ann.command(CHANNEL, ids.COMMAND)
    assert preselected(await stage.modal(stage.ann)) == Visibility.ME
    stage.ben.command(CHANNEL, ids.COMMAND)
    assert preselected(await stage.modal(stage.ben)) == Visibility.THREAD


async def test_it_goes_before_the_setting_of_the_workspace(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(verdict_visibility="me")
    await choose(stage, Visibility.THREAD)
    parent, answer = stage.ask_and_answer()
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.verdict(parent)


async def test_taken_back_the_setting_of_the_workspace_counts(stage: Stage) -> None:
    await choose(stage, Visibility.ME)
    await choose(stage, None)
    parent, answer = stage.ask_and_answer()
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    await stage.verdict(parent)


async def test_a_choice_is_that_persons_in_that_team(database_url: str) -> None:
    log = await Store.open(database_url)
    people = log.people
    await people.save_visibility("T1", "U1", Visibility.ME)
    found = [await people.visibility(*who) for who in (("T1", "U1"), ("T2", "U1"), ("T1", "U2"))]
    await log.close()
    assert found == [Visibility.ME, None, None]
