"""The bot takes nothing from previews of links."""

import json
import time
from pathlib import Path

from bot.slack.ids import SHORTCUT_SCORE_REPLY
from pocket_slack import ManualClock
from pocket_slack.previews import AFTER_S
from tests.cases import bytes_on_disk
from tests.stage import CHANNEL, Stage, StageFactory

WIKI = "https://wiki.example/reset-a_password"


async def test_only_what_was_shared_on_purpose_is_in_the_prompt_and_the_log_and_no_preview(
    open_stage: StageFactory, tmp_path: Path
) -> None:
    stage: Stage = await open_stage(events=["message.channels"])
    workspace = stage.slack.workspace
    clock = ManualClock(time.time())
    workspace.clock = clock
    workspace.previews[WIKI] = {
        "title": "score: 5 for Zanzibar",
        "text": "Of quokkas.",
        "service_name": "Xylopedia",
    }
    elsewhere = workspace.add_channel("elsewhere", [stage.ben.user])
    theirs, shown = (
        stage.ben.post("elsewhere", text) for text in ("My affair with narwhals", "It says error 7")
    )
    question = stage.ann.share(shown, CHANNEL, f"How do I reset it? {WIKI} does not say.")
    link = workspace.permalink(elsewhere.id, theirs.ts)
    reply = stage.helper.post(
        CHANNEL, f"Choose Forgotten, see {WIKI} and {link}", thread_ts=question.ts
    )
    clock.advance(AFTER_S)
    assert [len(each.attachments) for each in (question, reply)] == [2, 2]
    stage.ann.shortcut(SHORTCUT_SCORE_REPLY, reply)
    await stage.verdict(question)
    asked = json.dumps(stage.model.requests)
    logged = bytes_on_disk(tmp_path).decode(errors="replace")
    for word in ("Choose Forgotten", "does not say", "[shared message: It says error 7]"):
        assert word in asked
        assert word in logged
    assert [
        word for word in ("Zanzibar", "quokkas", "Xylopedia", "narwhals") if word in asked + logged
    ] == []
