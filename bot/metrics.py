"""The Prometheus metrics of `/metrics`; the names must stay, because operators' dashboards use them."""

from collections.abc import Mapping, Sequence

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, Counter, Gauge, Histogram, Metric, generate_latest

MAX_AGE_S = 60.0
"""How old the number of delivered cases may be."""

CASES = Gauge("slack_judge_cases", "Cases in the database.", ["status"])
RUNNING = Gauge("slack_judge_cases_running", "Cases that this process works on right now, those that wait included.")
QUEUE = Gauge("slack_judge_queue_length", "Cases of this process that wait for their turn at the judge.")
VERDICT_SECONDS = Histogram(
    "slack_judge_verdict_seconds",
    "From asking the judge to its verdict.",
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300),
)
TOKENS = Counter("slack_judge_tokens", "Tokens of the judge's models.", ["kind"])
MODEL_FAILURES = Counter(
    "slack_judge_model_failures", "Verdicts that failed because the model could not be asked.", ["error"]
)
SLACK_LIMITED = Counter("slack_judge_slack_rate_limited", "Answers of Slack with status 429.")

CONTENT_TYPE = CONTENT_TYPE_LATEST


def render(counts: Mapping[str, int]) -> bytes:
    """All metrics in Prometheus' text format; `counts` is the number of cases by status."""
    _note(counts)
    return generate_latest()


def collect(counts: Mapping[str, int]) -> Sequence[Metric]:
    _note(counts)
    return list(REGISTRY.collect())


def _note(counts: Mapping[str, int]) -> None:
    CASES.clear()
    for status, count in counts.items():
        CASES.labels(status).set(count)
