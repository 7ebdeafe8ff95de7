"""How far back a question is looked for; the clock is moved by hand."""

import pytest
from pydantic import SecretStr

from bot.pipeline.lookup import Lookup
from bot.slack.client import web_client
from bot.slack.manifest import load_manifest
from bot.slack.members import Members
from pocket_slack import Limits, ManualClock, Sandbox, Workspace
from tests.pipeline.test_verdict_text import a_case

MINUTE_S = 60.0


async def test_a_message_is_taken_for_the_question_up_to_fifteen_minutes_before() -> None:
    clock = ManualClock()
    workspace = Workspace(load_manifest(), clock=clock, limits=Limits.off())
    members = [workspace.add_user("ann"), workspace.add_bot("helper"), workspace.bot]
    for name in ("soon", "late"):
        workspace.add_channel(name, members)
    async with (
        Sandbox(workspace) as slack,
        web_client(SecretStr(slack.bot_token), slack.api_url) as client,
    ):
        for name, passed_s, expected in (
            ("soon", 15 * MINUTE_S - 1, "Which tool?"),
            ("late", 15 * MINUTE_S + 1, None),
        ):
            asked = slack.person("ann").post(name, "Which tool?")
            clock.advance(float(asked.ts) + passed_s - clock.now())
            answer = slack.person("helper").post(name, "Git.")
            assert float(answer.ts) - float(asked.ts) == pytest.approx(passed_s, abs=0.01)
            place = {"channel_id": answer.channel_id, "message_ts": answer.ts}
            case = a_case(question=None, response=None, author_id=members[1].id, **place)
            found = await Lookup(client, frozenset(), Members(client)).exchange(case)
            assert (name, found.question and found.question.text) == (name, expected)
