"""Payloads over HTTP, signed as Slack signs them, to one address of the app.

Source: https://docs.slack.dev/apis/events-api/using-http-request-urls,
https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

import asyncio
import hmac
import json
from collections.abc import Mapping
from urllib.parse import urlencode

import aiohttp

from pocket_slack.model import Json
from pocket_slack.workspace import Workspace

RETRY_REASONS = {"timeout": "http_timeout"}
"""What `X-Slack-Retry-Reason` calls the reasons for which Socket Mode has other words."""

FIRST_SERVER_ERROR = 500


class RequestUrl:
    """The app's address, which takes the place of its connections."""

    id = "http"

    def __init__(self, workspace: Workspace, url: str, answer_within_s: float) -> None:
        self._ws = workspace
        self._url = url
        self._http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=answer_within_s))
        self._posts: set[asyncio.Task[None]] = set()

    def send(self, message: Json) -> None:
        """Posts an envelope's payload; never waits."""
        task = asyncio.create_task(self._post(message))
        self._posts.add(task)
        task.add_done_callback(self._posts.discard)

    async def close(self) -> None:
        """Gives up what is not answered yet."""
        for task in self._posts:
            task.cancel()
        await asyncio.gather(*self._posts, return_exceptions=True)
        await self._http.close()

    async def _post(self, envelope: Json) -> None:
        deliveries = self._ws.deliveries
        id_ = envelope["envelope_id"]
        kind, body = to_body(envelope)
        now = int(self._ws.clock.now())
        headers = {"Content-Type": kind, **signed(self._ws.app.signing_secret, now, body)}
        if envelope.get("retry_attempt"):
            reason: str = envelope["retry_reason"]
            headers["X-Slack-Retry-Num"] = str(envelope["retry_attempt"])
            headers["X-Slack-Retry-Reason"] = RETRY_REASONS.get(reason, reason)
        try:
            async with self._http.post(self._url, data=body, headers=headers) as answer:
                text = await answer.text()
        except TimeoutError:
            return  # the delivery has the same time limit
        except aiohttp.ClientError:
            deliveries.refuse(id_, "dispatch_failed", "connection_failed")
            return
        if answer.ok:
            deliveries.ack(id_, _response(text))
            return
        is_servers = answer.status >= FIRST_SERVER_ERROR
        failure = "http_service_error" if is_servers else "http_client_error"
        is_final = answer.headers.get("X-Slack-No-Retry") == "1"
        deliveries.refuse(id_, failure, "http_error", is_final)


def to_body(envelope: Json) -> tuple[str, str]:
    """The content type and the body for an envelope: JSON for events, otherwise a form."""
    payload = envelope["payload"]
    if envelope["type"] == "events_api":
        return "application/json", json.dumps(payload)
    fields = payload if envelope["type"] == "slash_commands" else {"payload": json.dumps(payload)}
    return "application/x-www-form-urlencoded", urlencode(fields)


def signed(secret: str, now: int, body: str) -> Mapping[str, str]:
    """The headers by which the app knows that a request is from Slack."""
    digest = hmac.new(secret.encode(), f"v0:{now}:{body}".encode(), "sha256").hexdigest()
    return {"X-Slack-Request-Timestamp": str(now), "X-Slack-Signature": f"v0={digest}"}


def _response(text: str) -> Json | None:
    """What an app says when it acknowledges: JSON, or the text of a message."""
    if not text.strip():
        return None
    try:
        body = json.loads(text)
    except ValueError:
        return {"text": text}
    return body if isinstance(body, dict) else {"text": text}
