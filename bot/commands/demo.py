"""`judge-bot demo`: the bot beside a pocket Slack, to use in a browser or to watch in the terminal."""

import asyncio
import logging
import os
import re
import signal
import tempfile
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from textwrap import shorten
from typing import Any
from urllib.parse import urlsplit

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bot import settings
from bot.app import running_bot
from bot.commands import demo_past
from bot.domain.case import Visibility
from bot.errors import BotError
from bot.logs import configure_logs
from bot.pipeline.verdict_text import VERDICT_BEGINS
from bot.slack import ids
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.slack.mrkdwn import to_plain
from bot.slack.reading import read
from bot.store import Store
from judge import DEFAULT_MODEL
from pocket_slack import Message, Person, Sandbox, SandboxError, Workspace
from pocket_slack.journal import Entry

NAME = "helper"
_LEAST_WORDS = 2
_QUOTED = 150
_WORD = re.compile(r"\w{3,}")
_COMMON = frozenset(
    _WORD.findall(
        "about and any anybody are can could does for from good have hello help hey how more morning now please "
        "should some tell test than thank thanks that the there this what when where which who why will with would "
        "you your"
    )
)
_INTRODUCTION = (
    "Hello! I am the assistant of this help desk. Type a question here, and my answer appears in its thread within a "
    "second. Ask why the VPN drops, whether you may pay for a team lunch with the company card, how to take back a git "
    "commit, or anything else about your work. Three of four replies are useful, and one is not; the score that each "
    "of them gets should show you which."
)
_USEFUL = (
    "“{}” is covered in the service portal. Sign in at the top right, open Help and type two words of your question: "
    "the first article shows every step with a picture, and takes about five minutes. If a step fails, press Report "
    "below it; a colleague then sees how far you got, and calls you back within two hours on working days. For "
    "anything urgent at other times, dial extension 2200.",
    "To answer “{}”, check two places. The status page has a yellow bar while something is being repaired, and says "
    "when it will be done. If there is none, look into the handbook: each chapter begins with the rules, then names "
    "the form to use and who approves it. Should both be silent, write to the service desk with a screenshot and the "
    "name of your device; they reply before five o'clock on the same day.",
    "The wiki has a page for “{}”: search for these words, and take the newest result. It lists the steps, who may "
    "do them and how long they take. If one does not work, the owner is named at the bottom of the page.",
)
_SHRUG = "Great question! I will be happy to look into that. Is there anything else that I can do?"


def answer_people(slack: Sandbox, channel: str) -> None:
    """Answers each new question in the channel in a thread, from now on.

    The answer is that of the earlier question with the most words in common, one of which came in several messages. A
    question that resembles none gets, in turn, one of three useful answers or one that says nothing.
    """
    helper, turns = slack.person(NAME), cycle((*_USEFUL, _SHRUG))
    known: dict[str, list[str]] = {}
    for parent in helper.messages(channel):
        said = [reply.text for reply in helper.thread(parent.channel_id, parent.ts)[1:] if reply.author.name == NAME]
        if said and said[0] != _SHRUG:
            known[parent.text] = said
    channel_id = slack.workspace.channel(channel).id

    def answer(entry: Entry) -> None:
        if entry.kind != "message" or entry.data["channel"] != channel_id:
            return
        asked = entry.data["message"]
        if not ({"bot_id", "subtype", "thread_ts"} & asked.keys() or "<@" in asked["text"]):
            helper.post_in_parts(channel_id, _answer(asked["text"], known, turns), asked["ts"])

    slack.workspace.journal.watch(answer)


def _answer(question: str, known: Mapping[str, list[str]], turns: Iterator[str]) -> list[str]:
    words = _words(question)
    common, answer = max(((len(words & _words(each)), said) for each, said in known.items()), default=(0, []))
    if common >= _LEAST_WORDS:
        return answer
    turn = next(turns)
    return [turn.format(shorten(question, _QUOTED, placeholder=" …")) if words or turn == _SHRUG else _INTRODUCTION]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _COMMON


_CHANNEL = "help-desk"
_QUESTION = "How do I undo my last git commit but keep the changes?"
_ANSWER = (
    "Let me look that up for you...",
    "Run `git reset --soft HEAD~1`. Your last commit is undone and its changes stay staged, so you can edit them and "
    "commit again.",
    "Use it only on a commit that you have not pushed.",
)
_TYPED = "Which port does PostgreSQL use, and how do I change it? | It is a great database. You will love it."
_WITHOUT_MODEL = """
No key is set, so the offline rater scores here: a word counter, not a judge.
With OPENAI_API_KEY or OPENAI_BASE_URL set, a model does."""
_INVITATION = """
A small workspace with the bot in it is ready. Three threads of #help-desk show
what a model's verdict looks like (examples, written by hand). Open another one,
then the menu (⋮) of a reply, and choose Score this reply:"""
_PAST = f"""
#{demo_past.PAST_CHANNEL} has eight weeks of scores that are made up: type /judge stats
in that channel, and look at the bot's Home tab.
/judge label shows some of its replies, to score them before you see the score."""
_WATCH = f"""
@{NAME} answers what you ask in #{_CHANNEL}. There, /judge watch @{NAME} all
reaction scores each new answer. Open its thread: within two minutes the score
appears there as a reaction. Ask "How do I take back my last git commit?": the
answer comes in three messages, which get one score together."""
_EARLIER = """
The database has scores of an earlier run, whose messages are gone: links to them lead
nowhere. With a new file, or without --database, everything starts fresh."""
_PATIENCE_S = 180
_WIDTH = 80


async def show(database: str = "", port: int = 0, opens: bool = False) -> None:
    """Runs the bot with a pocket Slack, whose page explains the rest, until SIGINT or SIGTERM."""
    configure_logs("console", logging.WARNING)
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    with _log_url(database) as url:
        try:
            workspace = demo_past.demo_workspace()
            if not _has_model():
                demo_past.post_offline_note(workspace)
            past = _PAST if await demo_past.write_past(url, workspace) else _EARLIER
            async with Sandbox(workspace, port) as slack, running_bot(_settings(slack, url), 1):
                answer_people(slack, _CHANNEL)
                console = Console(highlight=False)
                _say_what_scores(console)
                console.print(
                    f"{_INVITATION}\n\n    [bold]{slack.url}[/]\n{past}\n{_WATCH}\n\nCtrl-C ends it.", emoji=False
                )
                if opens:
                    webbrowser.open(slack.url)
                await stopping.wait()
        except SandboxError as exc:
            raise BotError(str(exc)) from exc


async def play(database: str = "") -> None:
    """Runs the main use case once, and prints the threads and the store."""
    configure_logs("console", logging.WARNING)
    console = Console(width=min(Console().width, _WIDTH), highlight=False)
    workspace = Workspace(load_manifest(parts=[MESSAGE_EVENTS]), name="Pocket")
    workspace.add_channel(_CHANNEL, [workspace.add_user("ann"), workspace.add_bot("helper"), workspace.bot])
    with _log_url(database) as url:
        async with Sandbox(workspace) as slack, running_bot(_settings(slack, url)):
            await slack.connected()
            _say_what_scores(console)
            await _main_job(slack, console)
        await _show_log(console, url)
        if database:
            console.print(f"The database is in {database}; look into it with any SQLite tool.")


@contextmanager
def _log_url(database: str) -> Iterator[str]:
    """The URL of the store: in that file, or in a temporary folder that is deleted afterwards."""
    folder = Path(database).parent
    if not folder.is_dir():
        raise BotError(f"--database {database}: there is no folder {folder}; make it, or name another file")
    with tempfile.TemporaryDirectory() as temporary:
        yield f"sqlite+aiosqlite:///{database or Path(temporary, 'demo.db')}"


def _settings(slack: Sandbox, database_url: str) -> settings.Settings:
    """The settings of the environment, with the pocket Slack; without a key or server, the offline rater."""
    model: dict[str, Any] = {} if _has_model() else {"judge_model": settings.OFFLINE, "judge_escalate_to": None}
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
    server = urlsplit(os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com").netloc.rpartition("@")[2]
    model = os.environ.get("JUDGE_MODEL") or DEFAULT_MODEL
    console.print(f"\n{model} at {server} scores here: texts are sent there, with your key.", markup=False)


async def _main_job(slack: Sandbox, console: Console) -> None:
    ann, helper = slack.person("ann"), slack.person("helper")
    question = ann.post(_CHANNEL, _QUESTION)
    answer = [helper.post(_CHANNEL, part, thread_ts=question.ts) for part in _ANSWER]
    console.print("\n[bold]1.[/] helper answers in parts; ann chooses [bold]Score this reply[/] on one of them.")
    ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer[1])
    await _show_verdict(slack, ann, console, 0)
    console.print(f"\n[bold]2.[/] ann types [bold]/judge[/] {_TYPED}")
    ann.command(_CHANNEL, ids.COMMAND, _TYPED)
    await _show_verdict(slack, ann, console, 1)


async def _show_verdict(slack: Sandbox, reader: Person, console: Console, position: int) -> None:
    def thread() -> list[Message]:
        parents = reader.messages(_CHANNEL)
        return reader.thread(_CHANNEL, parents[position].ts) if len(parents) > position else []

    try:
        await slack.until(lambda: thread() and thread()[-1].text.startswith(VERDICT_BEGINS), _PATIENCE_S)
    except TimeoutError as exc:
        raise BotError(f"no verdict within {_PATIENCE_S} s; the lines above say what happened") from exc
    console.print()
    for message in thread():
        body = [_block_text(block) for block in message.blocks] if message.blocks else [to_plain(message.text)]
        content = Group(Text(message.author.name, style="bold"), *(Text(line) for line in body if line))
        console.print(Padding(content, (0, 0, 1, 4 if message.is_reply else 0), expand=False))


def _block_text(block: dict[str, Any]) -> str:
    match block["type"]:
        case "section":
            return to_plain(block["text"]["text"]).replace("*", "")
        case "context":
            return " ".join(to_plain(element["text"]).replace("*", "") for element in block["elements"])
        case "actions":
            return "  ".join(f"[ {element['text']['text']} ]" for element in block["elements"])
        case "rich_text":
            return read({"blocks": [block]}).text
        case _:
            return ""


async def _show_log(console: Console, database_url: str) -> None:
    table = Table("case", "by", "source", "status", "score", "model", "rubric", title="Cases", title_justify="left")
    async with await Store.open(database_url) as store:
        for case in await store.cases.newest(2):
            verdict = await store.cases.verdict(case.id)
            score = str(verdict.score) if verdict and verdict.score is not None else "unscored"
            model = verdict.model if verdict else ""
            table.add_row(str(case.id), case.requester_name, case.source, case.status, score, model, case.rubric)
    console.print(table)
