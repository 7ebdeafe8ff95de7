"""What an OTLP receiver gets from the app, over HTTP and as protobuf."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from bot.telemetry import signals, start
from tests.model_server import Failure
from tests.stage import ANSWER, GOOD, QUESTION, StageFactory
from tests.tables import each

ROOT = Path(__file__).parents[2]
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
JUSTIFICATION = GOOD.partition("\n")[2]


class Receiver:
    """Accepts every request; while `gate` is not set, it does not answer."""

    def __init__(self) -> None:
        self.bodies: list[tuple[str, bytes]] = []
        self.gate = asyncio.Event()
        self.waiting = 0
        self.gate.set()

    async def take(self, request: web.BaseRequest) -> web.Response:
        self.bodies.append((request.path, await request.read()))
        self.waiting += 1
        try:
            await self.gate.wait()
        finally:
            self.waiting -= 1
        return web.Response()

    @property
    def everything(self) -> bytes:
        return b"".join(body for _, body in self.bodies)

    def _all(self, kind: Any, path: str, of: str, items: str) -> list[Any]:
        requests = [kind.FromString(body) for taken, body in self.bodies if taken == path]
        parts = [part for request in requests for part in getattr(request, f"resource_{of}")]
        scopes = [scope for part in parts for scope in getattr(part, f"scope_{of}")]
        return [item for scope in scopes for item in getattr(scope, items)]

    def spans(self) -> list[Span]:
        found = self._all(ExportTraceServiceRequest, "/v1/traces", "spans", "spans")
        return sorted(found, key=lambda span: int(span.start_time_unix_nano))

    def events(self) -> list[Any]:
        return self._all(ExportLogsServiceRequest, "/v1/logs", "logs", "log_records")


def values(of: Any) -> Mapping[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in of.attributes}


@pytest.fixture
async def receiver(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Receiver]:
    taker = Receiver()
    runner = web.ServerRunner(web.Server(taker.take, handler_cancellation=True))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    yield taker
    taker.gate.set()
    await runner.cleanup()


async def score_one(open_stage: StageFactory, *replies: Any) -> None:
    """Scores one reply, from the click to the verdict, and stops the bot."""
    stage = await open_stage(model_pauses=(timedelta(0),) * 3)
    if replies:
        stage.model.script(*replies)
    parent, answer = stage.ask_and_answer()
    stage.ann.shortcut("score_reply", answer)
    await stage.verdict(parent)
    await stage.stop_bot()


async def test_a_scored_case_sends_a_tree_of_spans_and_one_event(
    receiver: Receiver, open_stage: StageFactory
) -> None:
    await score_one(open_stage)
    case, *steps = receiver.spans()
    assert case.name == "settle case"
    assert [span.name for span in steps] == ["read", "judge", "deliver"]
    assert {span.trace_id for span in steps} == {case.trace_id}
    assert {span.parent_span_id for span in steps} == {case.span_id}
    assert [values(span).get("slack_judge.case.id") for span in (case, *steps)] == [1, 1, 1, 1]
    assert {span.status.code for span in (case, *steps)} == {Status.STATUS_CODE_UNSET}
    about = values(case)
    assert about["slack_judge.case.source"] == "shortcut"
    assert about["gen_ai.request.model"] == "gpt-6-luna"
    assert (about["gen_ai.usage.input_tokens"], about["gen_ai.usage.output_tokens"]) == (400, 60)
    (event,) = receiver.events()
    assert (event.event_name, event.span_id) == ("gen_ai.evaluation.result", case.span_id)
    result = values(event)
    assert result["slack_judge.case.id"] == 1
    assert result["gen_ai.evaluation.name"] == "additive-5"
    assert result["gen_ai.evaluation.score.value"] == 4.0
    assert result["gen_ai.evaluation.score.label"] == "4 of 5"
    assert "error.type" not in result
    assert b"service.version" in receiver.everything


async def test_no_text_is_sent_by_default(
    receiver: Receiver, open_stage: StageFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await score_one(open_stage)
    assert [
        text for text in (QUESTION, ANSWER, JUSTIFICATION) if text.encode() in receiver.everything
    ] == []
    receiver.bodies.clear()
    monkeypatch.setenv(CAPTURE, "EVENT_ONLY")
    await score_one(open_stage)
    assert values(receiver.events()[0])["gen_ai.evaluation.explanation"] == JUSTIFICATION
    assert [text for text in (QUESTION, ANSWER) if text.encode() in receiver.everything] == []


async def test_an_unscored_case_has_a_reason_and_no_score(
    receiver: Receiver, open_stage: StageFactory
) -> None:
    await score_one(open_stage, "I would rather not say.")
    result = values(receiver.events()[0])
    assert "gen_ai.evaluation.score.value" not in result
    assert result["gen_ai.evaluation.score.label"] == "unscored"
    case = receiver.spans()[0]
    assert result["error.type"] == values(case)["slack_judge.unscored.reason"]
    assert "gen_ai.evaluation.score.value" not in values(case)
    assert (
        case.status.code == Status.STATUS_CODE_UNSET
    )  # an unscored case is settled, and not an error


async def test_a_failed_attempt_says_why(receiver: Receiver, open_stage: StageFactory) -> None:
    refused = Failure(403, message=f"You may not ask: {QUESTION}")
    await score_one(open_stage, Failure(500, headers={"Retry-After": "3600"}), refused)
    first, second = [span for span in receiver.spans() if span.name == "settle case"]
    assert values(first)["error.type"] == "UnavailableError"
    assert first.status.code == Status.STATUS_CODE_ERROR
    assert values(first)["slack_judge.case.id"] == values(second)["slack_judge.case.id"]
    requests = [span for span in receiver.spans() if span.name == "judge"]
    assert [values(span)["error.type"] for span in requests] == [
        "UnavailableError",
        "KeyRejectedError",
    ]
    assert second.status.code == Status.STATUS_CODE_UNSET
    assert QUESTION.encode() not in receiver.everything


async def test_a_receiver_that_hangs_delays_neither_a_case_nor_the_shutdown(
    receiver: Receiver, open_stage: StageFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.telemetry._LAST_SENDING_S", 0.5)
    receiver.gate.clear()
    await score_one(open_stage)  # returns while the requests are open; their timeout is 10 s
    assert receiver.waiting == 2


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "me:s3cret@collector:4318", "expected a URL"),
        ("OTEL_BSP_SCHEDULE_DELAY", "0", "must be positive"),
    ],
)
def test_a_variable_that_is_refused_leaves_it_off_and_is_named_without_its_secret(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    value: str,
    part: str,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv(name, value)
    assert start() is None
    said = "".join(capsys.readouterr())
    assert part in said
    assert "s3cret" not in said


@each(
    ("more", "sent"),
    [
        ({"OTEL_LOGS_EXPORTER": "none"}, ["TRACES"]),
        ({"OTEL_SDK_DISABLED": "true"}, []),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, []),
    ],
)
def test_the_standard_variables_say_what_is_sent(more: dict[str, str], sent: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"} | more).items():
            patch.setenv(name, value)
        assert signals() == sent
