"""One bot that two workspaces have installed by OAuth; their channels, people and messages have the
same ids.
"""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import sqlalchemy as sa
from cryptography.fernet import Fernet
from pydantic import SecretStr
from yarl import URL

from bot.app import RunningBot, running_bot
from bot.slack.ids import SHORTCUT_SCORE_REPLY
from bot.slack.manifest import load_manifest
from bot.slack.oauth import INSTALL, REDIRECT
from bot.store import Store
from pocket_slack import Message, Person, Sandbox, Workspace
from tests.model_server import ModelServer
from tests.patience import UNHURRIED
from tests.postgres import free_port
from tests.stage import ANSWER, CHANNEL, GOOD, QUESTION, is_verdict, make_settings

KEY = Fernet.generate_key().decode()
ORGANISATION = "E0000000A"


@dataclass
class Company:
    """The bot, and the workspaces that may install it."""

    slack: Sandbox
    workspaces: list[Workspace]
    model: ModelServer
    settings: dict[str, Any]
    folder: Path
    address: URL | None = None
    """Of a proxy before the app."""
    _open: list[RunningBot] = field(default_factory=list)

    @property
    def bot(self) -> RunningBot:
        return self._open[-1]

    @property
    def store(self) -> Store:
        return self.bot.services.store

    async def values(self, column: sa.Column[Any]) -> Sequence[Any]:
        """What a table has in this column."""
        return await self.store.database.values(sa.select(column))

    async def do_periodic(self, name: str) -> None:
        """Does what a running bot does every minute, for all workspaces."""
        jobs = self.bot.workspaces.template.periodic_jobs
        await next(job.run() for job in jobs if job.name == name)

    @asynccontextmanager
    async def running(self, **changes: Any) -> AsyncIterator[RunningBot]:
        made = make_settings(self.slack, self.model, self.folder, **self.settings | changes)
        async with running_bot(made, grace_s=0) as bot:
            self._open.append(bot)
            await self.slack.connected()
            yield bot

    def page(self, path: str) -> URL:
        address = self.address or URL(f"http://127.0.0.1:{self.settings['http_port']}")
        return address.with_path(path)

    async def begin(self, session: aiohttp.ClientSession) -> URL:
        """Where the page sends a browser that wants to install the app, with a state."""
        async with session.get(self.page(INSTALL)) as answer:
            found = re.search(r'href="([^"]*/oauth/v2/authorize[^"]*)"', await answer.text())
            return URL(unescape(found[1]))

    async def approve(
        self, session: aiohttp.ClientSession, asked: URL, workspace: Workspace
    ) -> URL:
        """Where Slack sends the browser after a person of that workspace has approved."""
        async with session.get(
            asked.update_query(team=workspace.team_id), allow_redirects=False
        ) as answer:
            return URL(answer.headers["Location"])

    async def finish(self, session: aiohttp.ClientSession, back: URL, cookie: str | None) -> int:
        """The status of the page that the browser comes back to; it sends Secure cookies only over
        TLS, so by hand.
        """
        headers = {"Cookie": f"slack-app-oauth-state={cookie}"} if cookie else {}
        async with session.get(
            self.page(REDIRECT).with_query(back.query), headers=headers, allow_redirects=False
        ) as page:
            return page.status

    async def install(self, workspace: Workspace) -> int:
        async with aiohttp.ClientSession() as session:
            asked = await self.begin(session)
            back = await self.approve(session, asked, workspace)
            return await self.finish(session, back, asked.query["state"])

    def ask_for_score(self, workspace: Workspace, question: str = QUESTION) -> Message:
        """A question and an answer in that workspace, which ann has scored; gives the thread's
        parent.
        """
        ann = Person(workspace, "ann")
        helper = Person(workspace, "helper")
        parent = ann.post(CHANNEL, question)
        ann.shortcut(SHORTCUT_SCORE_REPLY, helper.post(CHANNEL, ANSWER, thread_ts=parent.ts))
        return parent

    async def verdict(self, workspace: Workspace, parent: Message) -> Message:
        """The first verdict in a thread, once it is there."""
        found = await self.slack.until(lambda: self.verdicts(workspace, parent))
        return found[0]

    def verdicts(self, workspace: Workspace, parent: Message) -> list[Message]:
        return [
            each for each in Person(workspace, "ann").thread(CHANNEL, parent.ts) if is_verdict(each)
        ]


def new_workspace(
    beside: Workspace | None = None, name: str = "Pocket", organisation: str | None = None
) -> Workspace:
    manifest = load_manifest(parts=["many-workspaces"])
    manifest["oauth_config"]["redirect_urls"] = ["https://judge.example/slack/oauth_redirect"]
    workspace = Workspace(
        manifest, limits=UNHURRIED, beside=beside, name=name, organisation=organisation
    )
    people = [workspace.add_user("ann"), workspace.add_user("ben"), workspace.add_bot("helper")]
    workspace.add_channel(CHANNEL, [*people, workspace.bot])
    return workspace


@pytest.fixture
def organisation() -> str | None:
    """The enterprise id of the first workspace, if it is an organisation."""
    return None


@pytest.fixture
async def company(
    model_server: ModelServer, tmp_path: Path, organisation: str | None
) -> AsyncIterator[Company]:
    """Two workspaces that have not installed the app, in Slack; the bot does not run yet."""
    model_server.script(GOOD)
    first = new_workspace(organisation=organisation)
    workspaces = [first, new_workspace(first, "Second")]
    async with Sandbox(first) as slack:
        settings = {
            "slack_bot_token": None,
            "slack_client_id": first.app.client_id,
            "slack_client_secret": SecretStr(first.app.client_secret),
            "token_keys": (SecretStr(KEY),),
            "workspaces_allowed": frozenset([ORGANISATION, *(each.team_id for each in workspaces)]),
            "http_port": free_port(),
        }
        yield Company(slack, workspaces, model_server, settings, tmp_path)


@pytest.fixture
async def both(company: Company, request: pytest.FixtureRequest) -> AsyncIterator[Company]:
    """The bot runs, and both workspaces have installed it."""
    async with company.running(**getattr(request, "param", {})):
        for each in company.workspaces:
            assert await company.install(each) == 200
        yield company
