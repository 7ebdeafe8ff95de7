"""The demo's verdicts that were written by hand: each says so, and can be used as any verdict."""

import shutil
from pathlib import Path

import pytest

from bot.commands.demo_past import (
    CHANNEL,
    EXAMPLE,
    demo_workspace,
    post_offline_note,
)
from bot.domain.verdict import MADE_UP
from bot.slack import ids
from bot.store import Store
from pocket_slack import Message, Person, Workspace
from tests.cases import url
from tests.commands.conftest import Past
from tests.texts import read


@pytest.fixture
def workspace(past: Past) -> Workspace:
    return past[1]


def examples(workspace: Workspace) -> list[Message]:
    return [
        each
        for each in workspace.channel(CHANNEL).messages.values()
        if each.author == workspace.bot
    ]


async def test_each_says_that_it_was_written_by_hand_and_has_the_buttons_of_its_case(
    workspace: Workspace, past: Past, tmp_path: Path
) -> None:
    found = examples(workspace)
    assert ["  ".join(read([message.blocks[0]]).split("  ")[:2]) for message in found] == [
        ":large_green_circle: Score 4 of 5  ●●●●○",
        "Score 3 of 5, ratings from 2 to 5  ●●●○○",
        ":red_circle: Score 1 of 5  ●○○○○",
    ]
    shutil.copy(past[0], tmp_path)
    async with await Store.open(url(tmp_path)) as store:
        for message in found:
            *_, made_of, note, buttons = message.blocks
            assert made_of["elements"][0]["text"].startswith(f"{MADE_UP} · 3 ratings: ")
            assert note["elements"][0]["text"] == EXAMPLE
            values = {each["action_id"]: each.get("value") for each in buttons["elements"]}
            case = await store.cases.get(int(values[ids.ACTION_DETAILS]))
            assert (case.reply_ts, case.parent_ts) == (message.ts, message.thread_ts)
            assert "&gt;" not in (case.response or "")


def test_without_a_model_the_newest_message_says_that_words_are_counted() -> None:
    workspace = demo_workspace()
    post_offline_note(workspace)
    note = Person(workspace, "ann").messages(CHANNEL)[-1]
    assert note.author == workspace.bot
    assert "a word counter, not a judge" in note.text
