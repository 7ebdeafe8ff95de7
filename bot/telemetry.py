"""Spans and events for OpenTelemetry, whose SDK is imported only if the standard variables name a
receiver; names as in https://github.com/open-telemetry/semantic-conventions-genai.
"""

import os
import time
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import version
from threading import Thread
from typing import Any

import structlog

from bot.domain.case import LoggedCase
from bot.domain.verdict import CaseVerdict
from bot.errors import BotError
from bot.pipeline.retries import RetryError
from bot.pipeline.tracing import Tracing
from judge.errors import needs_extra

_NAME = "slack-judge"
_RECEIVER = "OTEL_EXPORTER_OTLP_ENDPOINT"
_TEXTS = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
# A slow receiver must not use up the time for stopping the bot.
_LAST_SENDING_S = 3.0

logger = structlog.get_logger(__name__)


def signals() -> list[str]:
    """The signals that are sent; ValueError if the receiver is no URL, which the SDK would log with
    its secret.
    """
    receiver = _value(_RECEIVER)
    if not receiver or _value("OTEL_SDK_DISABLED") == "true":
        return []
    if not receiver.startswith(("http://", "https://")):
        raise ValueError(f"{_RECEIVER}: expected a URL that begins with http or https")
    return [name for name in ("TRACES", "LOGS") if _value(f"OTEL_{name}_EXPORTER") != "none"]


def _value(name: str) -> str:
    return os.environ.get(name, "").strip().lower()


def start() -> "Telemetry | None":
    """Sends the signals that have a receiver; if it cannot, the log says why and the bot runs on."""
    try:
        wanted = signals()
        return Telemetry(wanted) if wanted else None
    except (BotError, ValueError, RuntimeError) as exc:
        logger.warning("telemetry_off", reason=str(exc))
        return None


class Telemetry(Tracing):
    """Sends a span for each attempt and step, and an event for each verdict, until it is closed."""

    def __init__(self, signals: Collection[str]) -> None:
        with needs_extra(f"{_RECEIVER} is set, and", "otel", "opentelemetry", error=BotError):
            from opentelemetry import trace
            from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk._logs import LoggerProvider
            from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
            from opentelemetry.sdk.resources import OTELResourceDetector, Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        own = {"service.name": _NAME, "service.version": version(_NAME)}
        named = OTELResourceDetector().detect().attributes
        resource = Resource.create({**own, **named})
        spans = TracerProvider(resource=resource, shutdown_on_exit=False)
        events = LoggerProvider(resource=resource, shutdown_on_exit=False)
        if "TRACES" in signals:
            spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        if "LOGS" in signals:
            events.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
        self._tracer = spans.get_tracer(_NAME)
        self._events = events.get_logger(_NAME)
        self._trace = trace
        self._stops = (spans.shutdown, events.shutdown)
        self._has_texts = _value(_TEXTS) in {"true", "event_only", "span_and_event"}

    def close(self) -> None:
        """Sends what is left; what the receivers do not take in time is lost."""
        for stop in self._stops:
            thread = Thread(target=stop, daemon=True)
            thread.start()
            thread.join(_LAST_SENDING_S / 2)

    @contextmanager
    def _span(self, name: str, about: dict[str, Any]) -> Iterator[None]:
        """A span; of an error it has only the class, because the error's message may quote a text."""
        options: dict[str, Any] = {"record_exception": False, "set_status_on_exception": False}
        with self._tracer.start_as_current_span(name, attributes=about, **options) as span:
            try:
                yield
            except BaseException as exc:
                # An attempt that only continues later has no cause, and nothing is wrong.
                cause = exc.__cause__ if isinstance(exc, RetryError) else exc
                if cause:
                    span.set_attribute("error.type", type(cause).__name__)
                    span.set_status(self._trace.StatusCode.ERROR)
                raise

    def attempt(self, case: LoggedCase) -> AbstractContextManager[object]:
        return self._span("settle case", _of(case))

    def step(self, name: str, case: LoggedCase) -> AbstractContextManager[object]:
        # With the case's number: of a killed attempt, only the steps that it has finished arrive.
        return self._span(name, {"slack_judge.case.id": case.id})

    def judged(self, case: LoggedCase, verdict: CaseVerdict) -> None:
        label = "unscored" if verdict.score is None else f"{verdict.score} of {verdict.highest}"
        score = None if verdict.score is None else float(verdict.score)
        about = {
            "gen_ai.request.model": verdict.model,
            "gen_ai.usage.input_tokens": verdict.input_tokens,
            "gen_ai.usage.output_tokens": verdict.output_tokens,
            "gen_ai.evaluation.name": verdict.rubric,
            "gen_ai.evaluation.score.value": score,
            "gen_ai.evaluation.score.label": label,
            "slack_judge.rubric.version": verdict.rubric_version,
            "slack_judge.unscored.reason": verdict.unscored_reason,
        }
        known = {name: value for name, value in about.items() if value is not None}
        self._trace.get_current_span().set_attributes(known)
        result = {**_of(case), **known}
        if verdict.unscored_reason:
            result["error.type"] = verdict.unscored_reason
        if self._has_texts and verdict.justification:
            result["gen_ai.evaluation.explanation"] = verdict.justification
        self._events.emit(
            event_name="gen_ai.evaluation.result", timestamp=time.time_ns(), attributes=result
        )


def _of(case: LoggedCase) -> dict[str, Any]:
    return {
        "slack_judge.case.id": case.id,
        "slack_judge.case.source": case.source.value,
        "slack_judge.team.id": case.team_id,
        "slack_judge.channel.id": case.channel_id,
    }
