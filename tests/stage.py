"""The real bot over real sockets: the pocket Slack on one side, the scriptable model server on the
other.
"""

import asyncio
import shutil
import sqlite3
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack, closing
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from bot.app import RunningBot, running_bot
from bot.domain.case import CaseStatus, LoggedCase
from bot.pipeline.engine import Engine
from bot.pipeline.retries import MODEL_PAUSES
from bot.services import Services
from bot.settings import Settings
from bot.slack.ids import ACTION_WRONG_QUESTION, BLOCK_QUESTION, SHORTCUT_SCORE_REPLY
from bot.slack.manifest import load_manifest
from bot.store import Store
from judge.scoring.ways import USUAL
from pocket_slack import Delivery, Entry, Message, Person, Sandbox, View, Workspace
from tests.model_server import ModelServer
from tests.patience import ONLY_A_HANG_S, UNHURRIED
from tests.postgres import Cluster

CHANNEL = "help-desk"
QUESTION = "How do I undo my last commit?"
ANSWER = "Run git reset --soft HEAD~1; the changes stay staged."
PASSWORD = "s:e/c@r%e t#?&=[Tr0ub4dor"  # for the guarded database
GOOD = "score: 4\nIt answers the question directly and says what happens to the changes."
SCORED = "Score 4 of 5"  # what the app says when the model says GOOD

LOST: tuple[dict[str, Any], ...] = (
    {"drop": True, "is_applied": True},
    {"status": 500, "is_applied": True},
    {"error": "internal_error", "is_applied": True},
)
"""Faults after which Slack has done what a call asked for, but its answer is lost."""


def manifest_without(*scopes: str) -> dict[str, Any]:
    manifest = load_manifest()
    asked_for = manifest["oauth_config"]["scopes"]
    for kind, names in asked_for.items():
        asked_for[kind] = [name for name in names if name not in scopes]
    return manifest


@dataclass
class Stage:
    """A running bot with its Slack, its model and its log."""

    slack: Sandbox
    model: ModelServer
    log: Store
    ann: Person
    ben: Person
    helper: Person
    stop_bot: Callable[[], Awaitable[None]] | None = None
    services: Services | None = None

    @classmethod
    def beside(cls, slack: Sandbox, model: ModelServer) -> "Stage":
        """A stage for a bot in a process of its own."""
        people = [slack.person(name) for name in ("ann", "ben", "helper")]
        return cls(slack, model, None, *people)  # type: ignore[arg-type]

    @property
    def workspace(self) -> Workspace:
        return self.slack.workspace

    @property
    def place(self) -> tuple[str, str]:
        """The team and the channel."""
        return self.workspace.team_id, self.workspace.channel(CHANNEL).id

    def ask_and_answer(
        self, question: str = QUESTION, answer: str = ANSWER, opening: str = "", **content: Any
    ) -> tuple[Message, Message]:
        """A question by ann and an answer by the assistant in its thread, which ben may have
        opened.
        """
        if opening:
            parent = self.ben.post(CHANNEL, opening)
            self.ann.post(CHANNEL, question, thread_ts=parent.ts)
        else:
            parent = self.ann.post(CHANNEL, question)
        return parent, self.helper.post(CHANNEL, answer, thread_ts=parent.ts, **content)

    def another_app(self) -> Person:
        """Another app, in the channel."""
        self.workspace.add_bot("pager")
        pager = self.slack.person("pager")
        pager.join(CHANNEL)
        return pager

    def ask_for_score(self, question: str = QUESTION, answer: str = ANSWER) -> Message:
        """A question and an answer, which ann has scored; gives the thread's parent."""
        parent, reply = self.ask_and_answer(question, answer)
        self.ann.shortcut(SHORTCUT_SCORE_REPLY, reply)
        return parent

    async def verdict(
        self, parent: Message, count: int = 1, reader: Person | None = None
    ) -> Message:
        """The latest of `count` verdicts in a thread, once there are that many."""

        def found() -> list[Message]:
            return [m for m in (reader or self.ann).thread(CHANNEL, parent.ts) if is_verdict(m)]

        await self.slack.until(lambda: len(found()) >= count)
        assert len(found()) == count
        verdict = found()[-1]
        if self.log is not None:  # if the bot runs in the test's process
            await self._noted(verdict)
        return verdict

    async def _noted(self, verdict: Message) -> None:
        """Returns once the store has the case as delivered, a moment after its post; a click could
        come before that.
        """
        case_id = verdict.metadata["event_payload"]["case_id"]
        async with asyncio.timeout(ONLY_A_HANG_S):
            while (case := await self.log.cases.get(case_id)) and case.status is CaseStatus.JUDGED:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def told(self, person: Person, count: int = 1, channel: str = CHANNEL) -> Message:
        """The latest ephemeral message that a person sees, once there are `count`."""
        await self.slack.until(lambda: len(person.ephemerals(channel)) >= count)
        return person.ephemerals(channel)[-1]

    def services_at(self, later: timedelta, **changes: Any) -> Services:
        """The bot's services with a clock that is ahead by `later`."""
        assert self.services
        return replace(self.services, clock=lambda: datetime.now(UTC) + later, **changes)

    async def reaches(self, case_id: int, status: CaseStatus) -> LoggedCase:
        """A case, once it has that status; polled, because the store has no events to wait for."""
        async with asyncio.timeout(ONLY_A_HANG_S):
            while (case := await self.log.cases.get(case_id)) is None or case.status is not status:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return case

    async def eventually(self, condition: Callable[[], Awaitable[object]]) -> None:
        """Returns once that is true of the store; polled, because the store has no events to wait
        for.
        """
        async with asyncio.timeout(ONLY_A_HANG_S):
            while not await condition():  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def scrubbed(self) -> None:
        """Returns once the store's journal is empty; at the first try the bot may still be reading."""
        await self.eventually(self.log.forgetting.scrub)

    async def cases(self) -> int:
        """How many cases there are."""
        return sum((await self.log.cases.counts()).values())

    async def score(self, reply: Message, person: Person | None = None) -> None:
        """Returns once a person's request to score a reply is acknowledged; by default it is ann's."""
        await self.slack.settled((person or self.ann).shortcut(SHORTCUT_SCORE_REPLY, reply))

    async def fill_in(self, person: Person, values: dict[str, Any] | None = None) -> Delivery:
        """The submission of the window in front of a person, once it is answered."""
        await self.modal(person)
        return await self.slack.settled(person.submit(values or {}))

    async def correct(
        self, person: Person, verdict: Message, question: str = "Which tool?"
    ) -> Delivery:
        """The submission of another question for the reply of a verdict."""
        person.click(verdict, ACTION_WRONG_QUESTION)
        return await self.fill_in(person, {BLOCK_QUESTION: question})

    async def modal(self, person: Person) -> View:
        """The modal in front of a person, once it is open."""
        view = await self.slack.until(lambda: person.view)
        assert view is not None
        return view

    def ours(self) -> list[Message]:
        """The messages of the bot in the channel."""
        channel = self.workspace.channel(CHANNEL)
        return [m for m in channel.messages.values() if m.author is self.workspace.bot]


def is_verdict(message: Message) -> bool:
    """Whether a message is a verdict and not a placeholder for one."""
    return message.text.startswith(("Score ", "Unscored"))


def shown(message: Message | View) -> str:
    """All words of a message's or modal's blocks, as sent."""
    blocks = message.blocks if isinstance(message, Message) else message.body["blocks"]
    return "\n".join(_words(blocks))


def _words(part: Any) -> list[str]:
    if isinstance(part, list):
        return [word for item in part for word in _words(item)]
    if isinstance(part, dict):
        own = [part["text"]] if isinstance(part.get("text"), str) else []
        return own + [
            word for key, item in part.items() if key != "text" or not own for word in _words(item)
        ]
    return []


def assert_without_words(stage: Stage, why: str) -> str:
    """Checks that the only verdict says its score and why nothing is quoted any more; returns all
    its words.
    """
    (verdict,) = stage.ours()
    words = shown(verdict)
    assert verdict.text == SCORED
    assert why in words
    assert ANSWER not in words
    assert QUESTION not in words
    return words


def responses_at_the_ack(stage: Stage, folder: Path) -> list[list[str]]:
    """The responses in the store at each acknowledgement from now on."""
    found: list[list[str]] = []

    def look(entry: Entry) -> None:
        if entry.kind == "ack":
            with closing(sqlite3.connect(folder / "log.db")) as log:
                found.append(
                    [response for (response,) in log.execute("SELECT response FROM cases")]
                )

    stage.slack.workspace.journal.watch(look)
    return found


def buttons(message: Message) -> list[str]:
    """The action ids of a message's buttons."""
    return [
        e["action_id"]
        for block in message.blocks
        if block["type"] == "actions"
        for e in block["elements"]
    ]


async def at_work(bot: RunningBot) -> None:
    """Returns once the queue runs, if this process has one."""
    for task in bot.tasks:
        if task.get_name() == "engine":
            engine = task.get_coro().cr_frame.f_locals["self"]
            async with asyncio.timeout(ONLY_A_HANG_S):
                while not await engine.is_running():  # noqa: ASYNC110
                    await asyncio.sleep(0.001)


async def find_nothing(*_: object) -> None:
    """What the jobs that each start runs do with a new log; they took half of its time."""


StageFactory = Callable[..., Any]


@pytest.fixture
async def open_stage(
    model_server: ModelServer, tmp_path: Path, empty_log: Path
) -> AsyncIterator[StageFactory]:
    """Opens the stage with the test's own settings; everything is closed afterwards."""
    async with AsyncExitStack() as stack:

        async def open_it(
            *,
            is_member: bool = True,
            model_pauses: Sequence[timedelta] = MODEL_PAUSES,
            events: Sequence[str] = (),
            manifest: dict[str, Any] | None = None,
            declined: Collection[str] = (),
            grace_s: float = 0,
            **settings: Any,
        ) -> Stage:
            manifest = deepcopy(manifest) if manifest else load_manifest()
            subscribed = (
                manifest["settings"]
                .setdefault("event_subscriptions", {})
                .setdefault("bot_events", [])
            )
            subscribed.extend(events)
            workspace = Workspace(manifest, limits=UNHURRIED, declined=declined)
            people = [
                workspace.add_user("ann"),
                workspace.add_user("ben"),
                workspace.add_bot("helper"),
            ]
            members = [*people, workspace.bot] if is_member else people
            workspace.add_channel(CHANNEL, members, is_private=not is_member)
            slack = await stack.enter_async_context(Sandbox(workspace))
            stack.callback(nothing_was_fetched, slack)
            model_server.script(GOOD)
            model_server.apart[USUAL[0]] = GOOD  # the try of a model when a watch is set
            is_new = "database_url" not in settings and not (tmp_path / "log.db").exists()
            process = await stack.enter_async_context(AsyncExitStack())
            with pytest.MonkeyPatch.context() as patch:
                if is_new:
                    shutil.copy(empty_log, tmp_path)
                    patch.setattr(Engine, "_do_periodic", find_nothing)
                bot = await process.enter_async_context(
                    running_bot(
                        make_settings(slack, model_server, tmp_path, **settings),
                        grace_s,
                        model_pauses,
                    )
                )
                bot.services.members.patience_s = ONLY_A_HANG_S
                await slack.connected()
                if is_new:
                    await at_work(bot)
            ann, ben, helper = (slack.person(name) for name in ("ann", "ben", "helper"))
            return Stage(
                slack,
                model_server,
                bot.services.store,
                ann,
                ben,
                helper,
                process.aclose,
                bot.services,
            )

        yield open_it


def nothing_was_fetched(slack: Sandbox) -> None:
    """Checks after each test that the app has told Slack not to fetch the links in people's texts."""
    calls = [entry.data for entry in slack.workspace.journal.of("call") if "args" in entry.data]
    posts = [data["args"] for data in calls if data["method"] == "chat.postMessage"]
    assert [
        post
        for post in posts
        if post.get("unfurl_links") is not False or post.get("unfurl_media") is not False
    ] == []


def make_settings(slack: Sandbox, model: ModelServer, folder: Path, **settings: Any) -> Settings:
    given: dict[str, Any] = {
        "slack_bot_token": slack.bot_token,
        "slack_app_token": slack.app_token,
        "slack_api_url": slack.api_url,
        "openai_base_url": model.base_url,
        "openai_api_key": "test",
        "judge_samples": 1,
        "database_url": f"sqlite+aiosqlite:///{folder}/log.db",
    }
    made = Settings.__new__(
        Settings
    )  # reading the environment as well takes a tenth of the bot's start
    BaseModel.__init__(made, **(given | settings))
    return made


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    """The stage with one rating per verdict and a model that gives 4."""
    opened: Stage = await open_stage()
    return opened


@pytest.fixture(scope="session")
def database_server(guarded_postgres: Cluster) -> Cluster:
    """The server with two roles that have the password; one of them is refused without TLS."""
    guarded_postgres.sql(
        *(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'" for name in ("ann", "tls_only"))
    )
    return guarded_postgres


@pytest.fixture
def database_name(database_server: Cluster) -> str:
    """A new database for one test, which belongs to ann."""
    name = f"t{uuid.uuid4().hex}"
    database_server.sql(f"CREATE DATABASE {name} OWNER ann")
    return name
