"""`judge-bot doctor`: checks everything that can go wrong before it does, and says how to fix it."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import typer
from pydantic import SecretStr

from bot import judges
from bot.commands import screens
from bot.commands.channels import installed
from bot.errors import BotError, SettingsError, SlackError, StoreError
from bot.setting_values import readable_on_the_way_to
from bot.settings import Settings, files_with_secrets, load_settings
from bot.slack import client as slack_client
from bot.slack import manifest
from bot.store import Store, ownership
from bot.store.address import to_address
from bot.store.errors import STORE_ERRORS, reason_of
from bot.store.opening import check_writable
from judge import JudgeError, load_rubric
from judge.cli.options import say
from judge.scoring.numbers import number_of
from judge.scoring.ways import USUAL

_WITH_EVENTS = f"`judge-bot manifest --with {manifest.MESSAGE_EVENTS}`"


async def event_scopes(client: slack_client.SlackClient, settings: Settings) -> str:
    """A line that says that the scopes allow message events; raises SlackError if they do not."""
    scopes = (await slack_client.identify(client)).scopes
    if missing := [
        scope for scope in ("channels:history", "groups:history") if scope not in scopes
    ]:
        raise SlackError(
            f"WATCH_BY=events: scopes are missing: {', '.join(missing)}; paste what "
            f"{_WITH_EVENTS} prints (api.slack.com/apps > your app > App Manifest) and reinstall "
            "the app with them, or set WATCH_BY=looking"
        )
    return (
        "WATCH_BY=events: the scopes are there; Slack does not say whether the app subscribes to "
        f"message events; the manifest of {_WITH_EVENTS} does"
    )


_MOST_S = 120.0  # beyond JUDGE_TIMEOUT_S, to measure a slow one
Check = Callable[[slack_client.SlackClient, Settings], Awaitable[str]]


async def examine(*, serves_http: bool) -> bool:
    """Whether all checks pass; prints a line for each check."""
    given: dict[str, Any] = {"serve_http": True} if serves_http else {}
    try:
        settings = load_settings(**given)
    except SettingsError as exc:
        say(f"wrong  {exc}")
        return False
    _show(settings)
    async with slack_client.web_client(settings.slack_bot_token, settings.slack_api_url) as client:
        is_well = await _are_well(_checks(settings), [client], settings)
        clients: Sequence[slack_client.SlackClient] = [client]
        if is_well and settings.is_for_many:
            clients = await _clients(settings, client)
            is_well = await _are_well(_of_workspace(settings), clients, settings)
            if not clients:
                typer.echo("note   no workspace has the app: open /slack/install in a browser")
        if is_well and clients:  # otherwise the same problem would be reported twice
            typer.echo(
                "       Slack checks all messages and windows, which takes about a minute ..."
            )
            is_well = await _are_well([screens.check], clients[:1], settings)
    return is_well


async def _clients(
    settings: Settings, client: slack_client.SlackClient
) -> Sequence[slack_client.SlackClient]:
    """One for each workspace that has the app."""
    if _is_new(settings):
        return ()
    async with await Store.open(settings.database_url) as store:
        return [*(await installed(settings, store.database, client)).values()]


def _show(settings: Settings) -> None:
    typer.echo("ok     settings are complete:")
    typer.echo(
        "\n".join(f"       {name:<10} {value}" for name, value in settings.in_force().items())
    )
    if host := readable_on_the_way_to(settings.openai_base_url or ""):
        say(
            f"note   OPENAI_BASE_URL: http:// to {host}: texts and key are sent unencrypted; "
            "use https:// unless the network is private"
        )


def _of_workspace(settings: Settings) -> list[Check]:
    return [_bot_token, event_scopes] if settings.watch_by == "events" else [_bot_token]


def _checks(settings: Settings) -> Iterator[Check]:
    yield from [_files] if settings.is_for_many else [_files, *_of_workspace(settings)]
    if not settings.serve_http:
        yield _app_token
    yield _database
    yield partial(_try_model, name="JUDGE_MODEL")
    for model in settings.judge_models:
        yield partial(_try_model, name="JUDGE_MODELS", judge_model=model)
    if settings.watch_tier:
        yield partial(_try_model, name="WATCH_TIER", judge_tier=settings.watch_tier)


async def _are_well(
    checks: Iterable[Check], clients: Sequence[slack_client.SlackClient], settings: Settings
) -> bool:
    """Prints a line for each check of each client; what several find wrong, only once."""
    wrong: list[str] = []
    for client, check in product(clients, checks):
        try:
            say(f"ok     {await check(client, settings)}")
        except (BotError, JudgeError) as exc:
            if str(exc) not in wrong:
                say(f"wrong  {exc}")
            wrong.append(str(exc))
    return not wrong


async def _files(_: slack_client.SlackClient, __: Settings) -> str:
    if exposed := ownership.open_to_others(files_with_secrets()):
        raise SettingsError(
            f"other users can read the secrets in {', '.join(map(str, exposed))}; "
            f"{ownership.to_mend(exposed)}"
        )
    return "secrets: no other user can read their files"


async def _bot_token(client: slack_client.SlackClient, settings: Settings) -> str:
    identity = await slack_client.identify(client)
    whose = identity.team_id if settings.is_for_many else "SLACK_BOT_TOKEN"
    needed = [scope for scope in manifest.bot_scopes() if scope not in manifest.OFF_WITHOUT]
    if missing := [scope for scope in needed if scope not in identity.scopes]:
        raise SlackError(
            f"{whose}: scopes are missing: {', '.join(missing)}; paste {manifest.manifest_path()} "
            "again (api.slack.com/apps > your app > App Manifest) and reinstall the app"
        )
    off = [
        f"{said} ({scope})"
        for scope, said in manifest.OFF_WITHOUT.items()
        if scope not in identity.scopes
    ]
    granted = f"without these scopes {'; '.join(off)}" if off else "with all scopes"
    return f"{whose}: bot {identity.user} in workspace {identity.team}, {granted}"


async def _app_token(client: slack_client.SlackClient, settings: Settings) -> str:
    await slack_client.open_socket_url(client, settings.slack_app_token or SecretStr(""))
    return "SLACK_APP_TOKEN: Socket Mode can be opened"


async def _database(_: slack_client.SlackClient, settings: Settings) -> str:
    address = to_address(settings.database_url)
    if _is_new(settings):
        check_writable(address, makes=False)
        said = f"{address.shown} can be created, by the bot's first start"
    else:
        async with await Store.open(settings.database_url) as store:
            count = sum((await store.cases.counts()).values())
            try:
                await store.processes.sign(is_connected=False)
                await store.processes.leave()
            except STORE_ERRORS as exc:
                reason = reason_of(exc)
                raise StoreError(
                    f"DATABASE_URL {address.shown}: cannot be written: {reason}"
                ) from exc
        said = f"can be written, {number_of(count, 'case')}"
    exposed = ownership.open_to_others(ownership.beside(address.file)) if address.file else ()
    if exposed:
        raise StoreError(
            f"DATABASE_URL: other users can read the database; {ownership.to_mend(exposed)}"
        )
    return f"DATABASE_URL: {said}"


def _is_new(settings: Settings) -> bool:
    """Whether there is no database yet, which a check must not create."""
    file = to_address(settings.database_url).file
    return file is not None and not file.exists()


async def _try_model(
    _: slack_client.SlackClient, settings: Settings, *, name: str, **changes: Any
) -> str:
    """A line that says that the model of the setting `name`, with these changes of the settings,
    scores.
    """
    settings = settings.model_copy(update=changes)
    try:
        one_rating = settings.model_copy(update={"judge_samples": 1})
        async with judges.open_judges(one_rating) as make:
            judge = make(load_rubric(settings.judge_rubric), None, None, None)
            async with asyncio.timeout(_MOST_S + settings.judge_timeout_s):
                verdict = await judge.score(*USUAL)
                retirements = await judge.retirements()
    except JudgeError as exc:
        raise BotError(f"{name}: {exc}" if changes else str(exc)) from exc
    except TimeoutError as exc:
        raise BotError(f"{name}: no answer from {judge.model} within minutes") from exc
    if verdict.unscored:
        raise BotError(
            f"{name} {verdict.model!r}: answers, but gave no usable score "
            f"({verdict.unscored.detail}); try another"
        )
    said = [f"{name}: {verdict.model} scores with {verdict.rubric}", *judge.shortfalls]
    said += [*map(str, retirements), *_of_time(verdict.latency_ms or 0, settings.judge_timeout_s)]
    return "; ".join(said)


def _of_time(latency_ms: int, timeout_s: float) -> Iterator[str]:
    if latency_ms:
        yield f"a rating took {latency_ms / 1000:.1f} s"
    # A verdict takes two ratings, and a busy server three times as long.
    needed_s = 6 * math.ceil(latency_ms / 1000)
    if needed_s > timeout_s:
        yield f"set JUDGE_TIMEOUT_S={needed_s}"
