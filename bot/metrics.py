"""The Prometheus metrics of `/metrics`; the names must stay, because operators' dashboards use
them.
"""

from collections.abc import Mapping

from prometheus_client import Counter, Gauge, Histogram

CASES = Gauge("slack_judge_cases", "Cases in the database.", ["status"])
RUNNING = Gauge(
    "slack_judge_cases_running",
    "Cases that this process works on right now, those that wait included.",
)
QUEUE = Gauge(
    "slack_judge_queue_length", "Cases of this process that wait for their turn at the judge."
)
VERDICT_SECONDS = Histogram(
    "slack_judge_verdict_seconds",
    "From asking the judge to its verdict.",
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300),
)
TOKENS = Counter("slack_judge_tokens", "Tokens of the judge's models.", ["kind"])
MODEL_FAILURES = Counter(
    "slack_judge_model_failures",
    "Verdicts that failed because the model could not be asked.",
    ["error"],
)
LAST_VERDICT = Gauge(
    "slack_judge_last_verdict_timestamp_seconds", "When the model last gave a verdict."
)
LAST_MODEL_FAILURE = Gauge(
    "slack_judge_last_model_failure_timestamp_seconds", "When the model last could not be asked."
)
LAST_SIGN = Gauge(
    "slack_judge_last_sign_timestamp_seconds",
    "When this process last told the database that it lives.",
)
READY = Gauge("slack_judge_ready", "1 if this process can do its work, as /readyz says; else 0.")
SLACK_LIMITED = Counter("slack_judge_slack_rate_limited", "Answers of Slack with status 429.")


def note_cases(counts: Mapping[str, int]) -> None:
    """Notes the number of cases by status, which only the database knows."""
    CASES.clear()
    for status, count in counts.items():
        CASES.labels(status).set(count)
