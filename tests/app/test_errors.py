"""The names of errors: Slack's own word if there is one, and never an error caused by naming an
error.
"""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from bot.pipeline.retries import in_brief
from bot.slack.client import error_of, is_passing, is_transient, slack_word
from bot.store.errors import STORE_ERRORS as STORE_ERRORS

ANSWERS = {
    "json": web.json_response({"ok": False, "error": "is_archived"}),
    "login": web.json_response({"ok": False, "error": "token_revoked"}),
    "text": web.Response(status=503, text="upstream connect error", content_type="text/plain"),
    "torn": web.Response(status=500, text='{"ok": fal', content_type="application/json"),
}


@pytest.fixture
async def client() -> AsyncIterator[AsyncWebClient]:
    async def answer(request: web.Request) -> web.Response:
        told = ANSWERS[request.query["channel"]]
        return web.Response(status=told.status, body=told.body, content_type=told.content_type)

    app = web.Application()
    app.router.add_get("/api/conversations.info", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    yield AsyncWebClient(
        token="xoxb-1", base_url=f"http://127.0.0.1:{port}/api/", retry_handlers=[]
    )
    await runner.cleanup()


@pytest.mark.parametrize(
    ("kind", "error", "word", "passes"),
    [
        ("json", "is_archived", "is_archived", False),
        ("text", None, "HTTP 503", True),
        ("torn", None, "HTTP 500", True),
    ],
)
async def test_any_answer_in_place_of_slacks_has_a_name(
    client: AsyncWebClient, kind: str, error: str | None, word: str, passes: bool
) -> None:
    with pytest.raises(SlackApiError) as caught:
        await client.conversations_info(channel=kind)
    assert (error_of(caught.value), slack_word(caught.value)) == (error, word)
    assert in_brief(caught.value) == f"Slack: {word}"
    assert (is_passing(caught.value), is_transient(caught.value)) == (passes, passes)


async def test_a_token_that_can_be_replaced_is_transient_but_not_passing(
    client: AsyncWebClient,
) -> None:
    with pytest.raises(SlackApiError) as caught:
        await client.conversations_info(channel="login")
    assert (is_passing(caught.value), is_transient(caught.value)) == (False, True)


def test_a_log_without_a_free_connection_is_out_of_reach() -> None:
    error = PoolTimeoutError("QueuePool limit of size 10 reached")
    assert isinstance(error, STORE_ERRORS)
    assert in_brief(error) == "the database is out of reach: QueuePool limit of size 10 reached"


def test_an_unexpected_error_has_no_brief_name() -> None:
    assert in_brief(KeyError("x")) is None
