"""Sends spans, events and metrics with the OpenTelemetry SDK, from its own threads and without its
globals.

The names are from https://github.com/open-telemetry/semantic-conventions-genai; the SDK has no
constants for them yet.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from importlib.metadata import version
from typing import Any

import openai
from opentelemetry._logs import SeverityNumber
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import CallbackOptions, Meter, Observation
from opentelemetry.sdk import resources
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, get_current_span
from prometheus_client import REGISTRY

from bot import metrics
from bot.domain.case import LoggedCase
from bot.domain.verdict import CaseVerdict
from bot.pipeline.retries import RetryError
from bot.pipeline.tracing import Tracing
from bot.store.errors import STORE_ERRORS
from bot.telemetry import Counts
from judge.scoring.model.completion import to_completion, to_decision

_NAME = "slack-judge"
# A receiver answers in milliseconds; a slow one must not use up the time for stopping the bot.
_LAST_SENDING_S = 3.0
# The bounds that the conventions name: powers of four, and doubled hundredths of a second.
_TOKENS = [4**power for power in range(14)]
_SECONDS = [0.01 * 2**power for power in range(14)]


class Telemetry:
    """Sends `signals` until closed; `counts` runs in this event loop.

    ValueError, RuntimeError: wrong settings.
    """

    def __init__(self, signals: Collection[str], counts: Counts) -> None:
        named = resources.OTELResourceDetector().detect().attributes
        own = {resources.SERVICE_NAME: _NAME, resources.SERVICE_VERSION: version(_NAME)}
        resource = resources.Resource.create({**own, **named})
        tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        events = LoggerProvider(resource=resource, shutdown_on_exit=False)
        if "TRACES" in signals:
            tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        if "LOGS" in signals:
            events.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
        readers = (
            [PeriodicExportingMetricReader(OTLPMetricExporter())] if "METRICS" in signals else []
        )
        meters = MeterProvider(readers, resource, shutdown_on_exit=False)
        _observe(meters.get_meter(_NAME), asyncio.get_running_loop(), counts)
        self.tracing = _Spans(tracers, events, meters)
        self.client_type = _client_type(self.tracing)
        self._stops: list[Callable[[], object]] = [
            tracers.shutdown,
            events.shutdown,
            meters.shutdown,
        ]

    def close(self) -> None:
        """Sends what is left.

        What the receiver does not take within 3 s is lost; its thread ends with the process.
        """
        give_up_at = time.monotonic() + _LAST_SENDING_S
        threads = [threading.Thread(target=stop, daemon=True) for stop in self._stops]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, give_up_at - time.monotonic()))


class _Spans(Tracing):
    """A span for each attempt, step and request to the model; an event for each verdict; histograms
    of requests.
    """

    def __init__(
        self, tracers: TracerProvider, events: LoggerProvider, meters: MeterProvider
    ) -> None:
        self._tracer = tracers.get_tracer(_NAME)
        self._events = events.get_logger(_NAME)
        meter = meters.get_meter(_NAME)
        self._tokens, self._duration, self._verdicts = (
            meter.create_histogram(name, unit, explicit_bucket_boundaries_advisory=bounds)
            for name, unit, bounds in (
                ("gen_ai.client.token.usage", "{token}", _TOKENS),
                ("gen_ai.client.operation.duration", "s", _SECONDS),
                ("slack_judge_verdict_seconds", "s", metrics.VERDICT_BOUNDS),
            )
        )
        captured = (
            os.environ.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "").strip().lower()
        )
        self._has_texts = captured in {"true", "event_only", "span_and_event"}

    @contextmanager
    def span(
        self, name: str, of: Mapping[str, Any], kind: SpanKind = SpanKind.INTERNAL
    ) -> Iterator[Span]:
        """A span; of an error it has only the class, because the error's message may quote a text."""
        options: dict[str, Any] = {"record_exception": False, "set_status_on_exception": False}
        with self._tracer.start_as_current_span(name, None, kind, of, **options) as span:
            try:
                yield span
            except BaseException as exc:
                cause, said = (
                    (exc.__cause__, str(exc)) if isinstance(exc, RetryError) else (exc, None)
                )
                if cause:  # without one, nothing is wrong
                    span.set_attribute("error.type", type(cause).__name__)
                    span.set_status(StatusCode.ERROR, said)
                raise

    @contextmanager
    def request(self, asked: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """A span and the metrics of a request to a model; what is known of the answer is put into
        the dictionary.
        """
        answered: dict[str, Any] = {}
        of = dict(asked)
        began = time.monotonic()
        with self.span(f"chat {asked['gen_ai.request.model']}", asked, SpanKind.CLIENT) as span:
            try:
                yield answered
            except Exception as exc:
                of["error.type"] = type(exc).__name__
                raise
            finally:
                span.set_attributes(answered)
                of |= {
                    name: known
                    for name, known in answered.items()
                    if name == "gen_ai.response.model"
                }
                self._duration.record(time.monotonic() - began, of)
                for kind in ("input", "output"):
                    if (used := answered.get(f"gen_ai.usage.{kind}_tokens")) is not None:
                        self._tokens.record(used, of | {"gen_ai.token.type": kind})

    def attempt(self, case: LoggedCase) -> AbstractContextManager[Span]:
        failures = case.slack_tries + case.model_tries + case.internal_errors
        state = {
            "slack_judge.case.status": case.status.value,
            "slack_judge.case.failures": failures,
        }
        return self.span("settle case", _of(case) | state | _scored(case))

    def step(self, name: str, case: LoggedCase) -> AbstractContextManager[Span]:
        # With the case's number, because only the finished steps of a killed attempt arrive,
        # without its own span.
        return self.span(name, {"slack_judge.case.id": case.id})

    @contextmanager
    def asking(self) -> Iterator[None]:
        began = time.monotonic()
        try:
            with super().asking():
                yield
        finally:
            self._verdicts.record(time.monotonic() - began)

    def judged(self, case: LoggedCase, verdict: CaseVerdict) -> None:
        by = {
            "slack_judge.model": verdict.model,
            "slack_judge.rubric.version": verdict.rubric_version,
        }
        get_current_span().set_attributes(by | _scored(verdict))
        value = None if verdict.score is None else float(verdict.score)
        result = {
            "gen_ai.evaluation.name": verdict.rubric,
            "gen_ai.evaluation.score.value": value,
            "gen_ai.evaluation.score.label": "unscored"
            if value is None
            else f"{verdict.score} of {verdict.highest}",
            "gen_ai.evaluation.explanation": (self._has_texts and verdict.justification) or None,
            "error.type": verdict.unscored_reason,
        }
        self._events.emit(
            event_name="gen_ai.evaluation.result",
            timestamp=time.time_ns(),
            severity_number=SeverityNumber.INFO,
            attributes=_of(case) | by | _known(result),
        )


def _of(case: LoggedCase) -> dict[str, Any]:
    return {
        "slack_judge.case.id": case.id,
        "slack_judge.case.source": case.source.value,
        "slack_judge.team.id": case.team_id,
        "slack_judge.channel.id": case.channel_id,
        "slack_judge.rubric.name": case.rubric,
    }


def _scored(scored: LoggedCase | CaseVerdict) -> dict[str, Any]:
    return _known(
        {"slack_judge.score": scored.score, "slack_judge.unscored.reason": scored.unscored_reason}
    )


def _known(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}


def _client_type(spans: _Spans) -> type[openai.AsyncOpenAI]:
    class Traced(openai.AsyncOpenAI):
        async def post(self, path: str, *, body: Any, **options: Any) -> Any:  # type: ignore[override]
            url = self.base_url
            asked = {
                "gen_ai.operation.name": "chat",
                # the protocol's owner; the address shows whose server it is
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": body["model"],
                "server.address": url.host,
                "server.port": url.port or (443 if url.scheme == "https" else 80),
            }
            with spans.request(asked) as answered:
                answer = await super().post(path, body=body, **options)
                answered |= _answered(answer)
                return answer

    return Traced


def _answered(answer: Any) -> dict[str, Any]:
    completion = None
    with suppress(ValueError, RecursionError):
        body = answer.json()
        completion = to_completion(body) or to_decision(body)
    if completion is None:
        return {}
    named = {
        f"gen_ai.response.{name}": body[name]
        for name in ("id", "model")
        if isinstance(body.get(name), str)
    }
    counted = {"input_tokens": completion.input_tokens, "output_tokens": completion.output_tokens}
    usage = _known({f"gen_ai.usage.{name}": count for name, count in counted.items()})
    return (
        named
        | usage
        | {
            "gen_ai.response.finish_reasons": [
                choice.finish_reason for choice in completion.choices
            ]
        }
    )


def _observe(meter: Meter, loop: asyncio.AbstractEventLoop, counts: Counts) -> None:
    """Sends the gauges and counters of `/metrics` under the same names; the number of cases is
    asked for in `loop`.
    """

    async def note_cases() -> None:
        try:
            metrics.note_cases(await counts())
        except STORE_ERRORS:
            metrics.note_cases({})  # none, rather than an old number

    def values(name: str, _: CallbackOptions) -> Iterator[Observation]:
        if name == metrics.CASES_NAME:
            asyncio.run_coroutine_threadsafe(note_cases(), loop).result()
        for family in REGISTRY.restricted_registry([name]).collect():
            yield from (Observation(sample.value, sample.labels) for sample in family.samples)

    for family in REGISTRY.collect():
        if family.type == "counter":
            name = f"{family.name}_total"
            meter.create_observable_counter(name, [partial(values, name)], "", family.documentation)
        elif family.type == "gauge":
            meter.create_observable_gauge(
                family.name, [partial(values, family.name)], "", family.documentation
            )
