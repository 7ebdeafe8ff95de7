"""HTTP mode: signed payloads come in over HTTP; and in every mode health and metrics are answered."""

import asyncio
import time
from pathlib import Path
from urllib.parse import urlencode

import aiohttp
import pytest
from slack_sdk.signature import SignatureVerifier

from bot.app import running_bot
from bot.commands.health import examine
from bot.slack import ids
from bot.slack.http import EVENTS
from bot.slack.incoming import Traffic
from pocket_slack import payloads
from tests.cases import newest
from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.postgres import free_port
from tests.programs import pocket_slack
from tests.stage import CHANNEL, GOOD, is_verdict, make_settings

SECRET = "a signing secret"
TYPED = "What is 2 + 2? | Four, since two and two make four."


async def test_what_would_be_acknowledged_too_late_is_refused_and_leaves_no_case(
    model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Traffic, "accept_within_s", -1.0)
    http = {"serve_http": True, "slack_signing_secret": SECRET, "http_port": free_port()}
    async with pocket_slack() as slack, aiohttp.ClientSession() as session:
        workspace = slack.workspace
        channel = workspace.channel(CHANNEL)
        user = workspace.user("ann")
        body = urlencode(payloads.slash_command(workspace, user, channel, ids.COMMAND, TYPED))
        stamp = str(int(time.time()))
        signature = SignatureVerifier(SECRET).generate_signature(timestamp=stamp, body=body)
        headers = {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": signature or ""}
        settings = make_settings(slack, model_server, tmp_path, **http)
        async with running_bot(settings, grace_s=0) as bot:
            url = f"http://127.0.0.1:{settings.http_port}{EVENTS}"
            async with session.post(url, data=body, headers=headers) as answer:
                assert answer.status == 500  # Slack tells the person
            assert await newest(bot.services.store, 1) == []
        assert slack.person("ann").ephemerals(CHANNEL) == []


async def test_metrics_of_cases_tokens_and_time_are_answered_in_socket_mode(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(GOOD)
    async with pocket_slack() as slack, aiohttp.ClientSession() as session:
        settings = make_settings(slack, model_server, tmp_path, metrics_port=free_port())
        async with running_bot(settings, grace_s=0):
            slack.person("ann").command(CHANNEL, ids.COMMAND, TYPED)
            messages = slack.workspace.channel(CHANNEL).messages
            await slack.until(lambda: any(map(is_verdict, messages.values())))
            url = f"http://127.0.0.1:{settings.metrics_port}/metrics"
            async with session.get(url) as answer:
                text = await answer.text()
    for line in (
        "slack_judge_verdict_seconds_count",
        'slack_judge_tokens_total{kind="input"}',
        "slack_judge_cases{",
    ):
        assert line in text


async def test_health_knows_a_bot_at_work_and_one_that_has_gone(
    model_server: ModelServer, database_url: str, tmp_path: Path
) -> None:
    async with pocket_slack() as slack:
        settings = make_settings(slack, model_server, tmp_path, database_url=database_url)
        async with running_bot(settings, grace_s=0) as bot:
            async with asyncio.timeout(ONLY_A_HANG_S):
                while ", and connected" not in (await examine(database_url))[1]:  # noqa: ASYNC110 - it asks like a stranger
                    await asyncio.sleep(0.1)
            assert (await examine(database_url))[0]
            await bot.services.store.processes.sign(is_connected=False)
            assert "Slack cannot reach it" in (await examine(database_url))[1]
    assert await examine(database_url) == (
        False,
        "no bot is at work on this machine; judge-bot serve starts one",
    )


async def test_health_of_a_server_that_is_not_there_is_a_sentence() -> None:
    is_well, said = await examine(f"postgresql+asyncpg://judge@127.0.0.1:{free_port()}/none")
    assert (is_well, ": the database is out of reach: " in said) == (False, True)
