"""What may come in from the internet: judged by its headers before its body is read, then by its
size and signature.
"""

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlencode

import pytest
from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.signature import Clock, SignatureVerifier
from structlog.testing import capture_logs

from bot.domain.clock import TooLateError, check_deadline
from bot.slack.http import EVENTS, LARGEST_BODY, HttpFront
from bot.slack.incoming import Traffic
from tests.patience import ONLY_A_HANG_S
from tests.streams import Stream, connect, heard

SECRET = "a signing secret"
NOW = 1_800_000_000
WELL_FORMED = f"v0={'ab' * 32}"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class StoppedClock(Clock):
    def now(self) -> float:
        return NOW


async def authorize() -> AuthorizeResult:
    return AuthorizeResult(
        enterprise_id=None, team_id="T1", bot_id="B1", bot_user_id="U1", bot_token="xoxb-1"
    )


def open_front(may_ack: asyncio.Event | None = None, traffic: Traffic | None = None) -> HttpFront:
    app = AsyncApp(authorize=authorize, request_verification_enabled=False)

    @app.command("/judge")
    async def judge(ack: AsyncAck) -> None:
        if may_ack:
            await may_ack.wait()
        await ack("heard")

    async def door(_: dict[str, Any]) -> AsyncApp:
        return app

    return HttpFront(
        door, SecretStr(SECRET), "127.0.0.1", 0, traffic or Traffic(), clock=StoppedClock()
    )


def signed(body: bytes, age_s: int = 0, secret: str = SECRET) -> dict[str, str]:
    stamp = str(NOW - age_s)
    signature = SignatureVerifier(secret).generate_signature(timestamp=stamp, body=body)
    assert signature
    return FORM | {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": signature}


def a_command(text: str = "help") -> bytes:
    fields = {
        "command": "/judge",
        "text": text,
        "team_id": "T1",
        "channel_id": "C1",
        "user_id": "U2",
    }
    return urlencode(fields).encode()


def request(headers: Mapping[str, str], line: str = f"POST {EVENTS}") -> bytes:
    sent = {"Host": "x", "Connection": "close"} | headers
    lines = [f"{line} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def sized(body: bytes) -> dict[str, str]:
    return {"Content-Length": str(len(body))}


async def answer_to(front: HttpFront, sent: bytes) -> tuple[int, bytes]:
    """Status and all the rest. Where the body is not sent, the front has answered without it."""
    said = await heard(await connect(front, sent))
    assert said, "the connection was closed without an answer"
    head, _, rest = said.partition(b"\r\n\r\n")
    return int(head.split()[1]), rest


async def first_status(stream: Stream) -> int:
    """What is answered while the client has more to send."""
    reader, writer = stream
    async with asyncio.timeout(ONLY_A_HANG_S):
        line = await reader.readline()
        writer.close()
        await writer.wait_closed()
    return int(line.split()[1])


def whole(
    body: bytes, as_signed: bytes | None = None, age_s: int = 0, secret: str = SECRET
) -> bytes:
    signature = signed(body if as_signed is None else as_signed, age_s, secret)
    return request(signature | sized(body)) + body


async def test_slacks_request_is_answered_whatever_words_are_in_it() -> None:
    # Bolt takes a command with the word "payload" for a form without fields.
    async with open_front() as front:
        for text, age_s in (("help", 0), ("help", 300), ("help", -300), ("payload", 0)):
            status, said = await answer_to(front, whole(a_command(text), age_s=age_s))
            assert (text, age_s, status, b"heard" in said) == (text, age_s, 200, True)


# Of those with a fresh time stamp and a signature of the right form the body has to be read.
REFUSED_BY_HEADERS: list[tuple[str | None, str | None]] = [
    (None, None),
    (str(NOW), None),
    (None, WELL_FORMED),
    *((stamp, WELL_FORMED) for stamp in (str(NOW - 301), str(NOW + 301), "9" * 4000)),
    (str(NOW), WELL_FORMED[:-1]),
]


async def test_a_request_without_a_fresh_signature_is_refused_before_the_body() -> None:
    async with open_front() as front:
        for stamp, signature in REFUSED_BY_HEADERS:
            named = {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": signature}
            headers = {name: value for name, value in named.items() if value is not None}
            stream = await connect(front, request(headers | {"Content-Length": "1000"}))
            assert await first_status(stream) == 401, headers


async def test_who_is_refused_before_the_body_can_read_so_having_sent_it() -> None:
    body = bytes(4 * LARGEST_BODY)
    async with open_front() as front:
        for headers, expected in (({}, 401), (signed(b""), 413)):
            status, _ = await answer_to(front, request(headers | sized(body)) + body)
            assert status == expected


async def test_a_signature_of_something_else_is_refused_and_logged() -> None:
    body = a_command()
    async with open_front() as front:
        for sent in (whole(body + b"!", as_signed=body), whole(body, secret="another")):
            with capture_logs() as logs:
                status, said = await answer_to(front, sent)
            assert (status, b"heard" in said) == (401, False)
            assert [line["event"] for line in logs] == ["signature_refused"]


async def test_a_body_of_the_largest_size_is_taken_as_it_was_signed_and_a_larger_one_refused() -> (
    None
):
    body = a_command("x" * (LARGEST_BODY - len(a_command(""))))
    assert len(body) == LARGEST_BODY == 1024 * 1024
    headers = signed(body) | {"Content-Encoding": "deflate"}
    async with open_front() as front:
        status, _ = await answer_to(front, request(headers | sized(body)) + body)
        more = await connect(front, request(headers | {"Content-Length": str(LARGEST_BODY + 1)}))
        assert (status, await first_status(more)) == (200, 413)


async def test_a_body_that_grows_larger_is_refused_before_its_end() -> None:
    chunk = b"10000\r\n" + b"x" * 2**16 + b"\r\n"
    async with open_front() as front:
        stream = await connect(front, request(signed(b"") | {"Transfer-Encoding": "chunked"}))
        for _ in range(LARGEST_BODY // 2**16):
            stream[1].write(chunk)
        stream[1].write(b"1\r\nx\r\n")
        await stream[1].drain()
        assert await first_status(stream) == 413


async def test_a_body_that_cannot_be_read_or_is_no_payload_is_refused() -> None:
    unread = [
        request(signed(b"") | {"Transfer-Encoding": "chunked"}) + b"no number\r\n",
        whole(b"\xff", as_signed=b""),
    ]
    no_payloads = (b"", b"{}", b"{", b"payload={", b'payload={"user":1}')
    unread += map(whole, no_payloads)
    async with open_front() as front:
        for sent in unread:
            assert (sent, (await answer_to(front, sent))[0]) == (sent, 400)


async def test_a_body_that_does_not_come_in_time_is_given_up() -> None:
    async with open_front() as front:
        front.longest_read_s = 0.0
        assert (
            await first_status(await connect(front, request(signed(b"") | {"Content-Length": "9"})))
            == 408
        )


async def test_there_is_nothing_else_at_the_port() -> None:
    async with open_front() as front:
        for line in ("GET /metrics", "POST /", "OPTIONS *"):
            assert (await answer_to(front, request({}, line)))[0] == 404, line
        assert (await answer_to(front, request({}, f"GET {EVENTS}")))[0] == 401


def test_where_several_have_waited_for_long_one_more_is_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Traffic, "longest_wait_s", 1.0)
    now = 0.0
    traffic = Traffic(clock=lambda: now)
    with ExitStack() as waiting:
        for _ in range(6):  # Slack may be slow with what it is asked for them
            waiting.enter_context(traffic.payload({}))
        now = 2.0
        assert not traffic.is_full
        with traffic.payload({}):
            now = 2.9
            assert not traffic.is_full
            now = 3.1
            assert traffic.is_full
        assert not traffic.is_full


def test_a_persons_request_has_a_deadline_and_an_event_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody was told that an event failed."""
    monkeypatch.setattr(Traffic, "accept_within_s", -1.0)
    with Traffic().payload({"event": {}}):
        check_deadline()
    with Traffic().payload({"command": "/judge"}), pytest.raises(TooLateError):
        check_deadline()


async def test_a_job_does_not_wait_for_ever_for_payloads_to_be_acknowledged() -> None:
    traffic = Traffic()
    traffic.calm_within_s = 0.01
    with ExitStack() as waiting:
        for _ in range(7):
            waiting.enter_context(traffic.payload({}))
        async with asyncio.timeout(10):
            await traffic.calm()


async def test_what_is_too_much_at_once_is_refused_at_once_and_not_accepted() -> None:
    sent = whole(a_command())
    may_ack = asyncio.Event()
    traffic = Traffic(most=1)
    async with open_front(may_ack, traffic=traffic) as front:
        first = await connect(front, sent)
        async with asyncio.timeout(ONLY_A_HANG_S):
            while not traffic.is_full:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0)
        status, said = await answer_to(front, sent)
        assert (status, b"heard" in said) == (503, False)
        may_ack.set()
        assert b"heard" in await heard(first)
        assert (await answer_to(front, sent))[0] == 200
