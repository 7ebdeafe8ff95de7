"""HTTP mode: signed payloads come in over HTTP; and in every mode health and metrics are answered."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest
from slack_sdk.signature import SignatureVerifier

from bot.app import running_bot
from bot.commands.health import examine
from bot.settings import Settings
from bot.slack.http import EVENTS
from bot.slack.incoming import Traffic
from bot.store import Store
from pocket_slack import Sandbox
from tests.cases import newest
from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.postgres import free_port
from tests.programs import pocket_slack
from tests.stage import CHANNEL, GOOD, is_verdict, make_settings

SECRET = "a signing secret"


@dataclass
class Front:
    """The bot's HTTP side, as Slack and Prometheus see it."""

    slack: Sandbox
    settings: Settings
    session: aiohttp.ClientSession
    log: Store

    async def get(self, path: str) -> tuple[int, str]:
        async with self.session.get(
            f"http://127.0.0.1:{self.settings.metrics_port}{path}"
        ) as answer:
            return answer.status, await answer.text()

    async def is_ready(self) -> None:
        """Returns once the process can do its work."""
        async with asyncio.timeout(ONLY_A_HANG_S):
            while await self.get("/readyz") != (200, "ok\n"):  # noqa: ASYNC110 - it asks like a stranger
                await asyncio.sleep(0.01)

    async def command(self, text: str) -> tuple[int, str]:
        """A slash command, signed as Slack does."""
        person = self.slack.person("ann")
        channel = self.slack.workspace.channel(CHANNEL)
        fields = {
            "command": "/judge",
            "text": text,
            "team_id": self.slack.workspace.team_id,
            "channel_id": channel.id,
            "user_id": person.user.id,
            "user_name": "ann",
            "trigger_id": "1.2.3",
        }
        return await self.send(urlencode(fields))

    async def send(self, body: str) -> tuple[int, str]:
        """Any body, signed as Slack does."""
        stamp = str(int(time.time()))
        signature = SignatureVerifier(SECRET).generate_signature(timestamp=stamp, body=body)
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": signature or "",
        }
        url = f"http://127.0.0.1:{self.settings.http_port}{EVENTS}"
        async with self.session.post(url, data=body, headers=headers) as answer:
            return answer.status, await answer.text()


@pytest.fixture
async def front(model_server: ModelServer, tmp_path: Path) -> AsyncIterator[Front]:
    model_server.script(GOOD)
    more: dict[str, Any] = {
        "serve_http": True,
        "slack_signing_secret": SECRET,
        "http_port": free_port(),
    }
    async with pocket_slack() as slack, aiohttp.ClientSession() as session:
        settings = make_settings(slack, model_server, tmp_path, **more, metrics_port=free_port())
        async with running_bot(settings, grace_s=0) as bot:
            yield Front(slack, settings, session, bot.services.store)


async def test_what_would_be_acknowledged_too_late_is_refused_and_leaves_no_case(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Traffic, "accept_within_s", -1.0)
    status, _ = await front.command("What is 2 + 2? | Four, since two and two make four.")
    assert status == 500  # Slack tells the person
    assert await newest(front.log, 1) == []
    assert front.slack.person("ann").ephemerals(CHANNEL) == []


async def test_an_event_is_taken_however_late(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody was told that it failed, and Slack does not tell of it again."""
    monkeypatch.setattr(Traffic, "accept_within_s", -1.0)
    ann = front.slack.person("ann")
    parent = ann.post(CHANNEL, "What is 2 + 2?")
    front.slack.person("helper").post(CHANNEL, "Four.", thread_ts=parent.ts)
    ann.post(CHANNEL, "@Slack Judge score this", thread_ts=parent.ts)
    mention = front.slack.workspace.deliveries.latest()[-1]
    assert await front.send(json.dumps(mention.payload)) == (200, "")
    await front.slack.until(lambda: is_verdict(ann.thread(CHANNEL, parent.ts)[-1]))


async def test_a_command_is_read_whatever_words_are_in_it(front: Front) -> None:
    """Bolt takes one with this word in its text for a form without fields."""
    status, said = await front.command("payload")
    assert (status, "/judge" in said) == (200, True)


async def test_health_and_metrics_of_cases_tokens_and_time_are_answered_in_socket_mode(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(GOOD)
    async with pocket_slack() as slack, aiohttp.ClientSession() as session:
        settings = make_settings(slack, model_server, tmp_path, metrics_port=free_port())
        async with running_bot(settings, grace_s=0) as bot:
            front = Front(slack, settings, session, bot.services.store)
            assert await front.get("/healthz") == (200, "ok\n")
            await front.is_ready()
            ann = slack.person("ann")
            ann.command(CHANNEL, "/judge", "What is 2 + 2? | Four, since two and two make four.")
            messages = slack.workspace.channel(CHANNEL).messages
            await slack.until(lambda: any(map(is_verdict, messages.values())))
            _, text = await front.get("/metrics")
    for line in (
        "slack_judge_verdict_seconds_count",
        'slack_judge_tokens_total{kind="input"}',
        "slack_judge_cases{",
        "slack_judge_cases_running",
    ):
        assert line in text


async def test_health_knows_a_bot_at_work_and_one_that_has_gone(
    model_server: ModelServer, database_url: str, tmp_path: Path
) -> None:
    async with pocket_slack() as slack:
        settings = make_settings(slack, model_server, tmp_path, database_url=database_url)
        async with running_bot(settings, grace_s=0) as bot:
            async with asyncio.timeout(ONLY_A_HANG_S):
                while "alive and connected" not in (await examine(database_url))[1]:  # noqa: ASYNC110 - it asks like a stranger
                    await asyncio.sleep(0.1)
            assert (await examine(database_url))[0]
            await bot.services.store.processes.sign(is_connected=False)
            assert "Slack cannot reach it" in (await examine(database_url))[1]
    assert await examine(database_url) == (
        False,
        "no bot has been started on this machine; judge-bot serve starts one",
    )


async def test_health_of_a_database_that_is_not_there_is_a_sentence_and_makes_none(
    tmp_path: Path,
) -> None:
    is_well, said = await examine(f"sqlite+aiosqlite:///{tmp_path}/none.db")
    assert (is_well, "there is no such file" in said) == (False, True)
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240 - nothing else runs
    is_well, said = await examine(f"postgresql+asyncpg://judge@127.0.0.1:{free_port()}/none")
    assert (is_well, ": the database is out of reach: " in said) == (False, True)
