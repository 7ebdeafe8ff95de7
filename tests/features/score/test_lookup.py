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


@pytest.mark.parametrize(
    ("passed_s", "expected"), [(15 * MINUTE_S - 1, "Which tool?"), (15 * MINUTE_S + 1, None)]
)
async def test_a_message_is_taken_for_the_question_up_to_fifteen_minutes_before(
    passed_s: float, expected: str | None
) -> None:
    clock = ManualClock()
    workspace = Workspace(load_manifest(), clock=clock, limits=Limits.off())
    members = [workspace.add_user("ann"), workspace.add_bot("helper"), workspace.bot]
    channel = workspace.add_channel("help-desk", members)
    async with (
        Sandbox(workspace) as slack,
        web_client(SecretStr(slack.bot_token), slack.api_url) as client,
    ):
        asked = slack.person("ann").post("help-desk", "Which tool?")
        clock.advance(float(asked.ts) + passed_s - clock.now())
        answer = slack.person("helper").post("help-desk", "Git.")
        assert float(answer.ts) - float(asked.ts) == pytest.approx(passed_s, abs=0.01)
        place = {"team_id": workspace.team_id, "channel_id": channel.id, "message_ts": answer.ts}
        case = a_case(question=None, response=None, author_id=members[1].id, **place)
        found = await Lookup(client, frozenset(), Members(client)).exchange(case)
    assert (found.question.text if found.question else None) == expected
