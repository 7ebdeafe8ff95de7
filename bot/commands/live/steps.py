"""The steps of a check on a real workspace: what is asked of Slack, and what a person does."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import typer
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.commands.live.report import BY_HTTP, NOBODY, Step, reason, to_fields
from bot.errors import SlackError
from bot.figures.charts import charts
from bot.figures.week import Tally
from bot.slack.blocks import header, section
from bot.slack.client import Identity, connection_word, open_socket_url, slack_word
from bot.slack.incoming import Traffic
from bot.slack.messages import ADDED, to_metadata
from bot.slack.messenger import WITHOUT_PREVIEWS
from judge.scoring.rubric import Scale

MARK = "slack_judge_live"
"""The type of the metadata of each post, by which a later check finds what an earlier one has left."""

_TITLE = "Live check of Slack Judge"
_SAID = (
    "It is for the steps in the terminal, and goes when the check is over; a Home tab, when "
    "you open it anew."
)
_BLOCKS = [header(_TITLE), section(_SAID)]
_CELLS = [
    [{"type": "raw_text", "text": "Score"}],
    [{"type": "raw_number", "value": 4, "text": "4"}],
]
_TABLE = {"type": "data_table", "caption": "Scores", "rows": _CELLS}
_DRAWN = [charts(Tally({4: 6, 5: 4}), (), Scale(0, 5), "random")[0].block, _TABLE]
_LIMITS = ("x-oauth-scopes", "x-accepted-oauth-scopes", "retry-after", "x-ratelimit")


class NotSoError(Exception):
    """Slack answered, but not what the app relies on; the message is ours."""


@dataclass
class Run:
    """A check: where it posts, and what it has to delete."""

    client: AsyncWebClient
    app_token: SecretStr | None
    identity: Identity
    channel_id: str
    person_id: str = ""
    has_begun: bool = False
    longest_ms: int = 0  # of the calls of a step
    posted: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    under_way: list[asyncio.Future[object]] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)

    @property
    def person(self) -> str:
        if not self.person_id:
            raise NotSoError(NOBODY)
        return self.person_id

    async def ask(self, method: str, **arguments: Any) -> Any:
        """The answer as Slack gave it; an answer of the SDK has None in place of a field that is
        missing.
        """
        began = time.monotonic()
        answer = await getattr(self.client, method)(**arguments)
        self.longest_ms = max(self.longest_ms, _since(began))
        return answer.data

    async def here(self, method: str, **arguments: Any) -> Any:
        return await self.ask(method, channel=self.channel_id, **arguments)

    async def post(self, text: str, **more: Any) -> object:
        self.has_begun = True
        more |= {"metadata": to_metadata(MARK, {"check": 1}), **WITHOUT_PREVIEWS}
        answer = await self.here("chat_postMessage", text=text, **more)
        self.posted.append(answer["ts"])
        return answer

    async def take(self, name: str, step: "Callable[[Run], Coroutine[Any, Any, object]]") -> Step:
        """The outcome of a step; raises SlackError if Slack cannot be reached."""
        self.longest_ms, why, answer = 0, "", None
        try:
            self.under_way = [asyncio.ensure_future(step(self))]
            answer = await asyncio.shield(self.under_way[0])
        except SlackApiError as exc:
            why = reason(slack_word(exc))
        except NotSoError as exc:
            why = str(exc)
        except (LookupError, TypeError, AttributeError) as exc:
            why = (
                f"the field {exc.args[0]} is missing"
                if isinstance(exc, KeyError)
                else "another form than documented"
            )
        except (aiohttp.ClientError, TimeoutError) as exc:
            raise SlackError(
                f"the connection to Slack is lost at the step {name!r} ({connection_word(exc)})"
            ) from exc
        return Step(step=name, took_ms=self.longest_ms, why=why, fields=to_fields(answer, self.ids))


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)


async def _connect(run: Run) -> Any:
    if not run.app_token:
        raise NotSoError(BY_HTTP)
    url = await open_socket_url(run.client, run.app_token)
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
        return await socket.receive_json(timeout=30)


async def _connect_alone(run: Run) -> object:
    hello = await _connect(run)
    if hello["num_connections"] > 1:
        raise SlackError(
            "another process of this app is connected to Slack, and would get payloads; "
            "stop it first"
        )
    with suppress(SlackApiError):
        bot = await run.ask("bots_info", bot=run.identity.bot_id)
        if bot["bot"]["app_id"] != hello["connection_info"]["app_id"]:
            raise SlackError(
                "SLACK_APP_TOKEN belongs to another app than SLACK_BOT_TOKEN; copy both "
                "from one app"
            )
    return hello


async def _identify(run: Run) -> object:
    answer: Any = await run.client.auth_test()
    return {
        **answer.data,
        "headers": {name.lower(): 0 for name in answer.headers if name.lower().startswith(_LIMITS)},
    }


async def _look_at_channel(run: Run) -> object:
    answer = await run.here("conversations_info")
    if answer["channel"]["is_archived"]:
        raise SlackError("--channel: the channel is archived; name another one")
    if not answer["channel"]["is_member"]:
        raise SlackError(
            "--channel: the app is not in the channel; type /invite @Slack Judge in it"
        )
    return answer


async def _tell_apart(run: Run) -> object:
    found: dict[str, Any] = {}
    for member in (await run.here("conversations_members", limit=20))["members"]:
        user = await run.ask("users_info", user=member)
        found.setdefault("app" if user["user"]["is_bot"] else "person", user)
    run.person_id = found["person"]["user"]["id"] if "person" in found else ""
    return found | {"bot": await run.ask("bots_info", bot=run.identity.bot_id)}


async def _post(run: Run) -> object:
    try:
        return await run.post(_TITLE, blocks=_BLOCKS)
    except SlackApiError as exc:
        raise SlackError(
            f"--channel: Slack refuses a post there ({reason(slack_word(exc))}); name another one"
        ) from exc


async def _read_metadata(run: Run) -> object:
    only = {"oldest": run.posted[0], "latest": run.posted[0], "inclusive": True}
    answer = await run.here("conversations_history", include_all_metadata=True, **only)
    if [each["metadata"]["event_type"] for each in answer["messages"]] != [MARK]:
        raise NotSoError("other metadata came back")
    return answer


async def _turn_pages(run: Run) -> object:
    pages: list[Any] = []
    cursor = None
    for number in range(3):
        await run.post(f"Reply {number + 1}", thread_ts=run.posted[0])
    while not pages or (cursor and len(pages) < len(run.posted)):
        pages.append(
            await run.here("conversations_replies", ts=run.posted[0], limit=2, cursor=cursor)
        )
        cursor = pages[-1].get("response_metadata", {}).get("next_cursor")
    if {each["ts"] for page in pages for each in page["messages"]} != set(run.posted):
        raise NotSoError("the pages have other messages than the thread")
    return pages


async def _react(run: Run) -> object:
    added = await run.here("reactions_add", name="eyes", timestamp=run.posted[0])
    return {"added": added, "read": await run.here("reactions_get", timestamp=run.posted[0])}


async def _share_file(run: Run) -> object:
    answer = await run.here(
        "files_upload_v2", content="{}\n", filename="live.jsonl", thread_ts=run.posted[0]
    )
    run.files.append(answer["file"]["id"])
    return answer["file"]


ALONE: Mapping[str, Callable[[Run], Coroutine[Any, Any, object]]] = {
    "connection": _connect_alone,
    "reconnection": _connect,
    "identity and limits": _identify,
    "channel": _look_at_channel,
    "people and bots": _tell_apart,
    "post": _post,
    "update": lambda run: run.here("chat_update", ts=run.posted[0], text=_TITLE, blocks=_BLOCKS),
    "metadata": _read_metadata,
    "thread in pages": _turn_pages,
    "reaction": _react,
    "ephemeral": lambda run: run.here(
        "chat_postEphemeral", user=run.person, text=_TITLE, blocks=_BLOCKS
    ),
    "chart and table": lambda run: run.post(
        "A chart and a table", blocks=_DRAWN, thread_ts=run.posted[0]
    ),
    "Home": lambda run: run.ask(
        "views_publish", user_id=run.person, view={"type": "home", "blocks": _BLOCKS}
    ),
    "file": _share_file,
}
"""What is done without anybody, before the app is connected."""

WITH_PERSON: Mapping[str, str] = {
    "command with text": "type /judge Why? | Because. in the channel",
    "button": "press a button below the verdict, which only you see",
    "command alone": "type /judge in the channel: a window opens",
    "window sent": "fill the window in and send it",
    "right click": "on the new message in the channel: More actions, then Score this reply",
    "emoji": "put an emoji on that message",
}
"""What a person does, in any order, and how."""

_OF_TYPE = {
    "message_action": "right click",
    "block_actions": "button",
    "view_submission": "window sent",
}


def _kind_of(body: Mapping[str, Any], own_ids: frozenset[str]) -> str | None:
    """Which of the steps of a person a payload is; None if it is none of them."""
    if event := body.get("event"):
        return "emoji" if event.get("type") == ADDED and event.get("user") not in own_ids else None
    if "command" in body:
        return "command with text" if body.get("text") else "command alone"
    return _OF_TYPE.get(str(body.get("type")))


class Watched(Traffic):
    """Notes what a person does, with the payload's fields and the time until Slack had its answer."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self._run = run
        self.done: dict[str, Step] = {}
        self.all_done = asyncio.Event()

    @contextmanager
    def payload(self, body: Mapping[str, Any]) -> Iterator[None]:
        kind, began = _kind_of(body, self._run.identity.own_ids), time.monotonic()
        fields = to_fields(body, self._run.ids)
        with super().payload(body):
            yield
        if kind and kind not in self.done:
            self.done[kind] = Step(step=kind, took_ms=_since(began), fields=fields)
            typer.echo(f"  done: {kind}")
            if len(self.done) == len(WITH_PERSON):
                self.all_done.set()
