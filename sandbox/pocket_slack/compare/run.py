"""One way through the list, in one channel of one Slack, the real one or the stand-in."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import aiohttp

from pocket_slack.compare.calls import UPLOAD, Act, Call, filled, has
from pocket_slack.compare.fields import Fields, to_code, to_fields
from pocket_slack.errors import SandboxError, SlackError

MARK = "pocket_slack_compare"
"""The type of the metadata of each post, by which a later run finds what an earlier one has left."""

GONE = {"message_not_found", "file_deleted", "file_not_found"}
LOST = (aiohttp.ClientError, TimeoutError)
_TRIES = 15
_IN_THE_STAND_IN_S = 30.0
_TOO_MANY_REQUESTS = 429


@dataclass(frozen=True)
class Answer:
    """What came of a step; `error` says why there are no fields."""

    fields: Fields
    took_ms: int = 0
    error: str = ""


class Run:
    """Asks Slack, and knows what it has to delete.

    Args:
        slack: A session whose base URL is the Web API's.
        bot_token: What it calls with.
        app_token: What it connects with.
        channel: The channel's id; or its name, which must be one that the app is in.
    """

    def __init__(
        self, slack: aiohttp.ClientSession, bot_token: str, app_token: str, channel: str
    ) -> None:
        self._slack = slack
        self._bot_token = bot_token
        self._app_token = app_token
        self._channel = channel
        self._known: dict[str, Any] = {}
        self._bot_id = ""
        self._posted: set[str] = set()
        self._files: list[str] = []
        self._under_way: list[asyncio.Future[Any]] = []
        self._met: dict[str, asyncio.Event] = {}
        self.answers: dict[str, Answer] = {}

    async def begin(self) -> None:
        """Finds out who the app is, and finds the channel and a person in it.

        Raises:
            SandboxError: The app is not in the channel, or Slack refuses one of these calls.
        """
        try:
            identity = await self._ask("auth.test")
            self._known["CHANNEL"] = await self._find_channel()
            self._known["PERSON"] = await self._find_person()
        except SlackError as exc:
            raise SandboxError(f"Slack refuses what every run begins with ({exc.code})") from exc
        self._known["BOT_ID"] = self._bot_id = identity["bot_id"]

    async def _find_channel(self) -> str:
        name = self._channel.removeprefix("#")
        cursor = ""
        while True:
            page = await self._ask(
                "users.conversations", exclude_archived=True, limit=200, cursor=cursor
            )
            for channel in page["channels"]:
                if name in (channel["id"], channel["name"]):
                    return str(channel["id"])
            cursor = page.get("response_metadata", {}).get("next_cursor", "")
            if not cursor:
                raise SandboxError(
                    f"--channel {name}: the app is in no public channel of that name; /invite it"
                )

    async def _find_person(self) -> str | None:
        members = await self._ask("conversations.members", channel=self._known["CHANNEL"], limit=20)
        for member in members["members"]:
            user = await self._ask("users.info", user=member)
            if not user["user"]["is_bot"]:
                return str(member)
        return None

    async def take(self, call: Call) -> None:
        """Makes a call and notes the answer.

        Raises:
            SandboxError: The connection to Slack is lost.
        """
        began = time.monotonic()
        try:
            arguments = filled(call.arguments, self._known)
        except (LookupError, TypeError):
            self.answers[call.name] = Answer({}, error="not possible after what came before")
            return
        try:
            # A call that is interrupted may take effect later, so it is waited for before what was
            # posted is deleted.
            asking = asyncio.ensure_future(self._ask(call.method, **arguments))
            self._under_way.append(asking)
            answer = await asyncio.shield(asking)
        except SlackError as exc:
            self.answers[call.name] = Answer({}, _since(began), to_code(exc.code))
            return
        except LOST as exc:
            raise SandboxError(
                f"the connection to Slack is lost at the step {call.name!r} ({exc!r})"
            ) from exc
        self._known[call.name] = answer
        self.answers[call.name] = Answer(to_fields(answer), _since(began))

    async def _ask(self, method: str, **arguments: Any) -> Any:
        """The answer to a call, which waits if Slack has had too many.

        Raises:
            SlackError: Slack refuses.
        """
        if method == UPLOAD:
            async with self._slack.post(arguments["url"], data=arguments["content"]) as sent:
                return {"status": sent.status}
        if method == "chat.postMessage":
            arguments["metadata"] = {"event_type": MARK, "event_payload": {"run": 1}}
        form = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in arguments.items()
        }
        is_to_connect = method == "apps.connections.open"
        token = self._app_token if is_to_connect else self._bot_token
        headers = {"Authorization": f"Bearer {token}"}
        while True:
            async with self._slack.post(method, data=form, headers=headers) as response:
                if response.status == _TOO_MANY_REQUESTS:
                    await asyncio.sleep(int(response.headers.get("Retry-After", "1")))
                    continue
                answer = await response.json()
            if not answer["ok"]:
                raise SlackError(answer.get("error", ""))
            if method == "chat.postMessage":
                self._posted.add(answer["ts"])
            if method == "files.completeUploadExternal":
                self._files += [file["id"] for file in answer["files"]]
            return answer

    @asynccontextmanager
    async def connected(self, acts: tuple[Act, ...]) -> AsyncIterator[None]:
        """Connected over Socket Mode; payloads are acknowledged and noted.

        Raises:
            SandboxError: Slack refuses the app-level token, or another process is connected.
        """
        self._met = {act.name: asyncio.Event() for act in acts}
        try:
            url = (await self._ask("apps.connections.open"))["url"]
        except SlackError as exc:
            raise SandboxError(f"SLACK_APP_TOKEN: Slack refuses it ({exc.code})") from exc
        async with self._slack.ws_connect(url) as socket:
            hello = await socket.receive_json()
            if hello["num_connections"] > 1:
                raise SandboxError(
                    "another process of this app is connected, and would get payloads; stop it first"
                )
            listening = asyncio.create_task(self._listen(socket, acts))
            try:
                yield
            finally:
                listening.cancel()
                with suppress(asyncio.CancelledError):
                    await listening

    async def _listen(self, socket: aiohttp.ClientWebSocketResponse, acts: tuple[Act, ...]) -> None:
        async for frame in socket:
            envelope = json.loads(frame.data)
            if "envelope_id" not in envelope:
                continue
            await socket.send_json({"envelope_id": envelope["envelope_id"]})
            for act in acts:
                if self._met[act.name].is_set() or not self._is(act, envelope["payload"]):
                    continue
                self._known[act.name] = envelope["payload"]
                self.answers[act.name] = Answer(to_fields(envelope["payload"]))
                for call in act.then:
                    await self.take(call)
                self._met[act.name].set()

    def _is(self, act: Act, payload: Mapping[str, Any]) -> bool:
        try:
            return has(payload, filled(act.payload, self._known))
        except (LookupError, TypeError):
            return False

    async def act(self, act: Act, perform: Callable[[dict[str, Any]], object]) -> None:
        """Has a person of the stand-in do something, and waits for its payload.

        Raises:
            SandboxError: Another payload comes, or none.
        """
        try:
            perform(filled(act.act, self._known))
            async with asyncio.timeout(_IN_THE_STAND_IN_S):
                await self._met[act.name].wait()
        except (LookupError, TypeError, TimeoutError) as exc:
            raise SandboxError(f"the list of calls: nothing comes of {act.name!r} here") from exc

    async def acted(self, patience_s: float) -> None:
        """Returns once people have done everything, or after that time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                for event in self._met.values():
                    await event.wait()

    async def delete(self, pause_s: float) -> None:
        """Deletes everything that was posted, also what an earlier run has left.

        Raises:
            SandboxError: Slack refuses, or cannot be reached for a while.
        """
        await asyncio.gather(*self._under_way, return_exceptions=True)
        for tries_left in reversed(range(_TRIES)):
            try:
                await self._delete()
            except (*LOST, SlackError) as exc:
                if not tries_left:
                    raise SandboxError(
                        f"not everything that was posted could be deleted ({exc!r}); the next run "
                        "does it, or delete it in Slack"
                    ) from exc
                await asyncio.sleep(pause_s)
            else:
                return

    async def _delete(self) -> None:
        posted = set(self._posted)
        with suppress(SlackError):  # without the scope to read, what is known to be posted
            posted |= await self._find_posted()
        for file in self._files:
            await self._delete_one("files.delete", file=file)
        # The newest first: a message that has replies would leave a mark.
        for ts in sorted(posted, reverse=True):
            await self._delete_one("chat.delete", channel=self._known["CHANNEL"], ts=ts)

    async def _delete_one(self, method: str, **arguments: Any) -> None:
        try:
            await self._ask(method, **arguments)
        except SlackError as exc:
            if exc.code not in GONE:
                raise

    async def _find_posted(self) -> set[str]:
        """Marked messages in the channel, and what the app has posted in their threads."""
        channel = self._known["CHANNEL"]
        history = await self._ask(
            "conversations.history", channel=channel, limit=200, include_all_metadata=True
        )
        posted = set()
        for message in history["messages"]:
            if message.get("metadata", {}).get("event_type") != MARK:
                continue
            thread = await self._ask(
                "conversations.replies", channel=channel, ts=message["ts"], limit=200
            )
            for reply in thread["messages"]:
                if reply.get("bot_id") == self._bot_id:
                    posted.add(reply["ts"])
        return posted


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
