"""`judge-bot`: serve, health, doctor, manifest, demo, digest, export, view, release, mcp, purge, ..."""

import asyncio
import logging
import sys
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from judge.cli.options import Version, make_app, refuse_clash, say
from judge.errors import JudgeError, needs_extra

T = TypeVar("T")

app = make_app()
Http = Annotated[
    bool,
    typer.Option("--http", help="Receive Slack's requests at HTTP_PORT, not over Socket Mode."),
]
Channel = Annotated[
    str, typer.Option("--channel", metavar="CHANNEL", help="The channel, by its name or its id.")
]
Watched = Annotated[
    bool,
    typer.Option("--watched", help="Replies that watches drew, instead of those people chose."),
]


def _to_day(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as exc:
        raise typer.BadParameter(
            f"{text[:40]!r} is not a day; expected one such as 2026-11-01"
        ) from exc


Since = Annotated[
    datetime | None,
    typer.Option(parser=_to_day, metavar="DAY", help="Only from that day on (UTC)."),
]


@app.callback()
def judge_bot(version: Version = False) -> None:
    """Scores replies in Slack, right in the thread."""


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Runs a command's work and returns its result; only warnings and errors are logged."""
    from bot.logs import configure_logs

    configure_logs("console", logging.WARNING)
    return asyncio.run(work)


@app.command()
def serve(http: Http = False) -> None:
    """Run the bot.

    With PostgreSQL, any number of processes share the work. The settings come from the environment and .env.
    """
    from bot.app import serve as run
    from bot.logs import configure_logs
    from bot.settings import load_settings, read_variables

    given: dict[str, Any] = {"serve_http": True} if http else {}
    settings = load_settings(**given)
    read_variables("OTEL_")
    configure_logs(settings.log_format)
    loop = None  # asyncio's own
    with suppress(ImportError):
        loop = import_module("uvloop").new_event_loop
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(run(settings))


@app.command()
def health() -> None:
    """Check whether a bot on this machine is running and well.

    Exit code 0 if it is, 1 if not.
    """
    from bot.commands.health import examine
    from bot.settings import StoreSettings, load

    is_well, sentence = asyncio.run(examine(load(StoreSettings).database_url))
    typer.echo(f"{'ok' if is_well else 'wrong'}: {sentence}")
    raise typer.Exit(0 if is_well else 1)


@app.command()
def doctor(http: Http = False) -> None:
    """Check settings, tokens, database and model."""
    from bot.commands.doctor import examine

    if not _run(examine(serves_http=http)):
        raise typer.Exit(1)


@app.command()
def manifest(
    parts: Annotated[
        str,
        typer.Option(
            "--with",
            metavar="PARTS",
            help="Optional parts, separated by a comma; a wrong name lists them.",
        ),
    ] = "",
) -> None:
    """Print the manifest to paste into Slack.

    The part message-events makes Slack send every message in the app's channels.
    """
    from bot.slack.manifest import to_yaml

    typer.echo(to_yaml(parts), nl=False)


@app.command()
def demo(
    port: Annotated[int, typer.Option(help="Port of the page; 0 takes a free one.")] = 8123,
    page: Annotated[
        bool | None,
        typer.Option(
            "--page/--script",
            help="Show the page, or print a short example and exit. By default the page, "
            "if it is started in a terminal.",
        ),
    ] = None,
    opens: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Try the bot in the browser: no workspace, no key."""
    with needs_extra("the demo", "demo", "pocket_slack"):
        from bot.commands.demo import play, show
    if page is None:
        page = opens or sys.stdin.isatty()
        if not page:
            typer.echo("Outside a terminal this prints an example; --page shows the page.")
    _run(show(port, opens=opens) if page else play())


@app.command()
def digest(
    channel: Channel,
    week: Annotated[str, typer.Option(help="A day of an earlier week, or a month.")] = "",
) -> None:
    """Show the digest of a channel's last week in the terminal.

    Nothing is posted. It needs SLACK_BOT_TOKEN (or TOKEN_KEYS), also with an id.
    """
    from bot.commands.in_channel import preview
    from bot.settings import PreviewSettings, load

    _run(preview(load(PreviewSettings), channel, week))


@app.command()
def export(
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file; the terminal by default.")
    ] = None,
    since: Since = None,
    has_unlabelled: Annotated[
        bool, typer.Option("--all", help="Also cases without a label.")
    ] = False,
    watched: Watched = False,
    team: Annotated[
        str | None, typer.Option(metavar="ID", help="Only that workspace, such as T0123ABCD.")
    ] = None,
    channel: Annotated[
        str | None, typer.Option(metavar="ID", help="Only that channel, such as C0123ABCD.")
    ] = None,
    low: Annotated[
        bool,
        typer.Option(
            "--low",
            help="All cases with a low score, with points and cause, and with --texts the "
            "judge's reason.",
        ),
    ] = False,
    form: Annotated[
        Literal["jsonl", "csv", "parquet", "langfuse"] | None,
        typer.Option(
            "--format",
            help="A table, or what Langfuse loads; by default from the output's name.",
        ),
    ] = None,
    has_texts: Annotated[
        bool, typer.Option("--texts", help="Also the texts and the reasons of people.")
    ] = False,
    user: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Instead, everything stored about this person, with texts."
        ),
    ] = None,
    questions: Annotated[
        bool,
        typer.Option(
            "--questions", help="Instead, the questions to watched assistants, without words."
        ),
    ] = False,
    standings: Annotated[
        bool, typer.Option("--standings", help="Instead, the standing of each watched assistant.")
    ] = False,
) -> None:
    """Write labels, questions, standings, or all about one person.

    Read them with `judge agreement FILE --label human`; with --all it corrects their mean.
    """
    from bot.commands.export import export_labels, export_person
    from bot.commands.export_questions import export_questions
    from bot.commands.export_standings import export_standings
    from bot.store.export import Selection

    narrowing: dict[str, object] = {"--since": since, "--team": team, "--channel": channel}
    of_verdicts: dict[str, object] = {
        "--all": has_unlabelled,
        "--watched": watched,
        "--low": low,
        "--texts": has_texts,
    }
    if questions:
        _refuse(of_verdicts, "--questions")
        _run(export_questions(output, form, since, team, channel))
        return
    if standings:
        _refuse(narrowing | of_verdicts, "--standings")
        _run(export_standings(output, form))
        return
    if user is None:
        which = Selection(since, has_unlabelled or low, watched, team, channel, low)
        _run(export_labels(output, which, form, has_texts=has_texts))
        return
    _refuse(narrowing | of_verdicts | {"--format": form}, "--user")
    _run(export_person(output, user))


def _refuse(options: Mapping[str, object], beside: str) -> None:
    """Raises BadParameter if one of these options is given."""
    if given := [option for option, value in options.items() if value]:
        raise typer.BadParameter(f"{given[0]} cannot be combined with {beside}")


@app.command()
def view(
    channel: Channel,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="The page; by default the channel's id with .html, here."
        ),
    ] = None,
    since: Since = None,
    watched: Watched = False,
) -> None:
    """Make an HTML page of a channel's scored replies.

    It shows what everybody in the channel could see, and people's labels without names.
    """
    from bot.commands.view import view as make

    _run(make(channel, output, since, watched=watched))


@app.command()
def release(
    channel: Channel,
    assistant: Annotated[
        str, typer.Option(metavar="NAME", help="The watched assistant, by name or id.")
    ],
    note: Annotated[str, typer.Argument(help="What has changed.")] = "",
) -> None:
    """Mark a release of a watched assistant.

    Its scores are then compared with those before it. It needs SLACK_BOT_TOKEN (or TOKEN_KEYS),
    also with an id.
    """
    from bot.commands.in_channel import release as mark
    from bot.settings import PreviewSettings, load

    _run(mark(load(PreviewSettings), channel, assistant, note))


@app.command()
def mcp() -> None:
    """Let an assistant read a channel's figures.

    The assistant starts this command and talks to it over standard input and output (Model Context
    Protocol).
    """
    with needs_extra("mcp", "mcp", "mcp"):
        from bot.commands.mcp import serve as answer
    _run(answer())


@app.command()
def purge(
    days: Annotated[
        int | None,
        typer.Option(
            min=1, max=36_500, help="Delete cases older than this; RETENTION_DAYS by default."
        ),
    ] = None,
    team: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Instead, everything of this workspace (T0123ABCD)."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete old cases from the database; messages in Slack stay.

    The texts, ratings and labels of a case are deleted with it. In a terminal, it says how many,
    and asks before.
    """
    from bot.commands.purge import count
    from bot.commands.purge import purge as delete

    if team is not None and days is not None:
        raise typer.BadParameter("--days cannot be combined with --team, which deletes everything")
    found, before = _run(count(days, team))
    # Not in the event loop, which would take the first Ctrl-C, and not where a timer runs it.
    if found and not yes and (team or sys.stdin.isatty()):
        typer.confirm("Delete them all? Messages in Slack stay.", abort=True)
    _run(delete(before, team))


@app.command()
def copy(
    source: Annotated[str, typer.Option("--from", metavar="URL", help="The database to copy.")],
    target: Annotated[
        str,
        typer.Option("--to", metavar="URL", help="An empty one, or where a copy was interrupted."),
    ],
) -> None:
    """Copy everything stored to another database.

    Stop the bot before. URLs are as in DATABASE_URL; PGPASSWORD keeps the password out of them.
    """
    from bot.commands.copy import copy as move

    _run(move(source, target))


installations = make_app(help="The workspaces that installed the app by OAuth.")
app.add_typer(installations, name="installations")


@installations.command("list")
def list_installations() -> None:
    """List them.

    No token is shown.
    """
    from bot.commands.installations import show

    _run(show())


@installations.command("remove")
def remove_installation(
    team: Annotated[str, typer.Argument(metavar="ID", help="Its id, such as T0123ABCD.")],
) -> None:
    """Delete a workspace's token and end its watches and digests.

    A running bot follows within a minute.
    """
    from bot.commands.installations import remove

    _run(remove(team))


@app.command()
def audit(since: Since = None) -> None:
    """Show who deleted, exported or changed settings.

    Newest last.
    """
    from bot.commands.audit import show

    _run(show(since))


def main() -> None:
    """The entry point: an error becomes one plain sentence and exit code 2, never a traceback."""
    from bot.errors import BotError

    try:
        refuse_clash()
        app()
    except (BotError, JudgeError) as exc:
        say(f"judge-bot: {exc}", err=True)
        sys.exit(2)
