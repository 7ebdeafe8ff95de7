"""Commands where several workspaces have installed the app: each names its workspace, or asks which
one is meant.
"""

import os
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import insert

from bot.store.schema import releases, watches
from pocket_slack import installing
from tests.cases import add
from tests.programs import run
from tests.stage import CHANNEL, GOOD
from tests.workspaces.conftest import KEY, Company


def environment(company: Company) -> dict[str, str]:
    app = company.workspaces[0].app
    return {
        "PATH": os.environ["PATH"],
        "SLACK_CLIENT_ID": app.client_id,
        "SLACK_CLIENT_SECRET": app.client_secret,
        "TOKEN_KEYS": KEY,
        "WORKSPACES_ALLOWED": ",".join(company.settings["workspaces_allowed"]),
        "SLACK_APP_TOKEN": app.token,
        "SLACK_API_URL": company.slack.api_url,
        "OPENAI_BASE_URL": company.model.base_url,
        "JUDGE_SAMPLES": "1",
        "DATABASE_URL": f"sqlite+aiosqlite:///{company.folder}/log.db",
    }


async def fill(company: Company) -> None:
    """A week with a score in each workspace, and a watch."""
    now = datetime.now(UTC)
    at = now - timedelta(days=now.weekday() + 3)
    for score, each in enumerate(company.workspaces, 2):
        channel_id = each.channel(CHANNEL).id
        author_id = each.user("helper").id
        place = {"team_id": each.team_id, "channel_id": channel_id, "author_id": author_id}
        await add(company.store, at=at, **place, score=score, message_ts="1.0")
        times = dict.fromkeys(("since", "look_at", "read_until"), now)
        watch = place | times | {"shows": "nothing", "share": 1.0, "per_day": 9}
        await company.store.database.execute(insert(watches).values(watch))
        await company.store.names.note(each.team_id, channel_id, CHANNEL)


@pytest.mark.needs("watch")  # which marks releases
async def test_a_command_for_a_channel_names_its_workspace_or_asks_which_one_is_meant(
    both: Company,
) -> None:
    await fill(both)
    for command in ("digest", "release", "view"):
        await names_its_workspace(both, command)
    assert await both.values(releases.c.team_id) == [both.workspaces[1].team_id]


async def names_its_workspace(both: Company, command: str) -> None:
    more = ("--assistant", "helper") if command == "release" else ()
    first, second = (each.team_id for each in both.workspaces)
    for given, expected in (
        (CHANNEL, f"say which: --channel {first}/{CHANNEL}, --channel {second}/{CHANNEL}"),
        (f"T9/{CHANNEL}", "no channel" if command == "view" else "the app is not installed there"),
    ):
        code, out, err = await run(
            command, environment(both), both.folder, "--channel", given, *more
        )
        assert (code, out, expected in err) == (2, "", True), err
    code, _, err = await run(
        command, environment(both), both.folder, "--channel", f"{second}/#{CHANNEL}", *more
    )
    assert (code, err) == (0, ""), command


async def test_doctor_says_of_each_installation_how_it_is(both: Company) -> None:
    first, second = both.workspaces
    both.model.script(GOOD)
    code, out, _ = await run("doctor", environment(both), both.folder)
    assert code == 0
    for each in both.workspaces:
        assert (
            f"ok     {each.team_id}: bot Slack Judge in workspace {each.name}, with all scopes"
            in out
        )
    second.dead_tokens[second.bot_token] = installing.REVOKED
    both.model.script(GOOD)
    code, out, _ = await run("doctor", environment(both), both.folder)
    assert code == 1
    assert f"ok     {first.team_id}" in out
    assert (
        f"wrong  {second.team_id}: Slack refuses it (token_revoked); install the app there again"
        in out
    )


async def test_doctor_names_the_setting_if_no_key_reads_a_token(both: Company) -> None:
    both.model.script(GOOD)
    other = {"TOKEN_KEYS": Fernet.generate_key().decode()}
    _, out, _ = await run("doctor", environment(both) | other, both.folder)
    assert out.count("TOKEN_KEYS: no key reads its token; add the key that was in use") == 2
