"""`judge-bot demo`: the bot beside a pocket Slack, to use in a browser or to watch in the terminal."""

import asyncio
import os
import re
import signal
import tempfile
import webbrowser
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from bot import settings
from bot.app import running_bot
from bot.commands import demo_past
from bot.domain.case import Visibility
from bot.errors import BotError
from bot.pipeline.verdict_text import VERDICT_BEGINS
from bot.slack import ids
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.slack.message_text import read
from bot.slack.mrkdwn import to_terminal
from judge import DEFAULT_MODEL
from judge.scoring.model.addresses import OPENAI_URL
from pocket_slack import Delivery, Message, Person, Sandbox, SandboxError, Workspace
from pocket_slack.journal import Entry

NAME = "helper"
_WORD = re.compile(r"\b\w{3,}")
_STEM = 4
"""Of "drops" and "dropping", so many letters are compared."""
_COMMON = frozenset(
    _WORD.findall(
        "about and any anybody are can could does for from good have hello help hey how more "
        "morning now please should some tell test than thank thanks that the there this what "
        "when where which who why will with would you your"
    )
)


def answer_people(slack: Sandbox) -> None:
    """Answers each new question in help-desk in a thread, from now on.

    The answer is that of the earlier question with the most words in common, one of which came in
    several messages. A question in the thread of one of these gets a wrong answer, if there is one.
    """
    helper = slack.person(NAME)
    channel = slack.workspace.channel(demo_past.CHANNEL)
    known = _answered(helper, channel.id)
    wrong = {
        _closest(each["question_begins"], known): each["answer"] for each in demo_past.SAID["wrong"]
    }

    def answer(entry: Entry) -> None:
        if entry.kind != "message" or entry.data["channel"] != channel.id:
            return
        asked = entry.data["message"]
        if {"bot_id", "subtype"} & asked.keys() or "<@" in asked["text"]:
            return
        parent = channel.messages[asked.get("thread_ts") or asked["ts"]]
        question = _closest(parent.text, known)
        if parent.ts == asked["ts"]:
            helper.post_in_parts(
                channel.id, known.get(question, [demo_past.SAID["unknown"]]), parent.ts
            )
        elif question in wrong:
            helper.post_in_parts(channel.id, [wrong[question]], parent.ts)

    slack.workspace.journal.watch(answer)


def _answered(helper: Person, channel_id: str) -> dict[str, list[str]]:
    """The messages that answer each earlier question."""
    known = dict[str, list[str]]()
    for parent in helper.messages(channel_id):
        replies = helper.thread(channel_id, parent.ts)[1:]
        if said := [reply.text for reply in replies if reply.author.name == NAME]:
            known[parent.text] = said
    return known


def _closest(question: str, known: Mapping[str, list[str]]) -> str:
    """The known question with the most words in common; empty if there are fewer than two."""
    common, found = max((len(_words(question) & _words(each)), each) for each in known)
    return found if common >= 2 else ""


def _words(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.lower()) if word not in _COMMON}


_WITHOUT_MODEL = """
No key is set, so the offline rater scores here: a word counter, not a judge.
With OPENAI_API_KEY or OPENAI_BASE_URL set, a model does."""
_INVITATION = """
A small workspace with the bot in it is ready; the page lists six first steps:"""
_PAST = f"""
#{demo_past.CHANNEL} has verdicts written by hand, as examples of a model's, and
@{NAME}, who answers what you ask there. #{demo_past.PAST_CHANNEL} has eight weeks of
made-up scores, and what the app tells of them: an alert, what a release has
changed, and the week's digest. /judge help lists what you can type."""
_PATIENCE_S = 180
_MOST_TRIES = 5


async def show(port: int, *, opens: bool) -> None:
    """Runs the bot with a pocket Slack, whose page explains the rest, until SIGINT or SIGTERM."""
    try:
        stopping = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite+aiosqlite:///{folder}/demo.db"
            workspace = demo_past.demo_workspace()
            if not _has_model():
                demo_past.post_offline_note(workspace)
            await demo_past.write_past(url, workspace)
            async with Sandbox(workspace, port) as slack, running_bot(_settings(slack, url), 1):
                answer_people(slack)
                _invite(slack.url)
                if opens:
                    webbrowser.open(slack.url)
                await stopping.wait()
    except SandboxError as exc:
        raise BotError(str(exc)) from exc


def _invite(url: str) -> None:
    console = Console(highlight=False)
    _say_what_scores(console)
    said = f"{_INVITATION}\n\n    [bold]{url}[/]\n{_PAST}\n\nCtrl-C ends it."
    console.print(said, emoji=False)


async def play() -> None:
    """Runs the main use case once, and prints the threads."""
    console = Console(width=min(Console().width, 80), highlight=False)
    workspace = Workspace(load_manifest(parts=[MESSAGE_EVENTS]), name="Pocket")
    workspace.add_channel(
        demo_past.CHANNEL, [workspace.add_user("ann"), workspace.add_bot("helper"), workspace.bot]
    )
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite+aiosqlite:///{folder}/demo.db"
        async with Sandbox(workspace) as slack, running_bot(_settings(slack, url)):
            await slack.connected()
            _say_what_scores(console)
            await _main_job(slack, console)


def _settings(slack: Sandbox, database_url: str) -> settings.Settings:
    """The settings of the environment, with the pocket Slack; without a key or server, the offline
    rater.
    """
    model: dict[str, Any] = {} if _has_model() else {"judge_model": settings.OFFLINE}
    return settings.load_settings(
        env_file=None,
        slack_bot_token=slack.bot_token,
        slack_app_token=slack.app_token,
        slack_api_url=slack.api_url,
        database_url=database_url,
        verdict_visibility=Visibility.THREAD,
        watch_by="events",
        **model,
    )


def _has_model() -> bool:
    return bool(os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL"))


def _say_what_scores(console: Console) -> None:
    if not _has_model():
        console.print(_WITHOUT_MODEL)
        return
    server = urlsplit(os.environ.get("OPENAI_BASE_URL") or OPENAI_URL).hostname
    model = os.environ.get("JUDGE_MODEL") or DEFAULT_MODEL
    console.print(
        f"\n{model} at {server} scores here: texts are sent there, with your key.", markup=False
    )


async def _main_job(slack: Sandbox, console: Console) -> None:
    ann = slack.person("ann")
    helper = slack.person("helper")
    script = demo_past.SAID["script"]
    question = ann.post(demo_past.CHANNEL, script["question"])
    answer = [
        helper.post(demo_past.CHANNEL, part, thread_ts=question.ts) for part in script["answer"]
    ]
    console.print(
        "\n[bold]1.[/] helper answers in parts; ann chooses [bold]Score this reply[/] on "
        "one of them."
    )
    await _until_acked(slack, lambda: ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer[1]))
    await _show_verdict(slack, ann, console, 0)
    console.print(f"\n[bold]2.[/] ann types [bold]/judge[/] {script['typed']}")
    typed = script["typed"]
    await _until_acked(slack, lambda: ann.command(demo_past.CHANNEL, ids.COMMAND, typed))
    await _show_verdict(slack, ann, console, 1)


async def _until_acked(slack: Sandbox, act: Callable[[], Delivery]) -> None:
    """Acts again, as a person would, if a busy machine was too late for Slack."""
    for _ in range(_MOST_TRIES):
        if (await slack.settled(act())).is_acked:
            return


async def _show_verdict(slack: Sandbox, reader: Person, console: Console, position: int) -> None:
    def thread() -> list[Message]:
        parents = reader.messages(demo_past.CHANNEL)[position : position + 1]
        return [each for parent in parents for each in reader.thread(parent.channel_id, parent.ts)]

    try:
        await slack.until(
            lambda: any(each.text.startswith(VERDICT_BEGINS) for each in thread()), _PATIENCE_S
        )
    except TimeoutError as exc:
        raise BotError(
            f"no verdict within {_PATIENCE_S} s; the lines above say what happened"
        ) from exc
    for message in thread():
        console.print(_to_text(message))


def _to_text(message: Message) -> Padding:
    body = to_terminal(read({"text": message.text, "blocks": message.blocks}).text)
    content = Text.assemble((message.author.name, "bold"), f"\n{body}")
    return Padding(content, (1, 0, 0, 4 if message.is_reply else 0), expand=False)
