"""Repeated log lines: a few are written each minute."""

import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest

from bot.logs import RepeatFilter


class Lines(logging.Handler):
    """Keeps the records that pass the filter; the test sets its clock."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0
        self.records: list[logging.LogRecord] = []
        self.addFilter(RepeatFilter(most_a_minute=3, clock=lambda: self.now_s))

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    @property
    def said(self) -> list[str]:
        return [record.getMessage() for record in self.records]


@pytest.fixture
def lines() -> Iterator[Lines]:
    handler = Lines()
    root = logging.getLogger()
    root.addHandler(handler)
    yield handler
    root.removeHandler(handler)


def test_a_repeated_warning_is_written_a_few_times_a_minute(lines: Lines) -> None:
    for _ in range(10):
        logging.getLogger("asyncio").error("accept() failed")
    assert lines.said == ["accept() failed"] * 3
    lines.now_s = 59.9
    logging.getLogger("asyncio").error("accept() failed")
    assert len(lines.said) == 3
    lines.now_s = 60.0
    logging.getLogger("asyncio").error("accept() failed")
    assert len(lines.said) == 4


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ([("one", "this"), ("one", "that"), ("two", "this")] * 5, 9),
        (
            [
                ("asyncio", f"Task exception was never retrieved\nfuture: <Task {name}>")
                for name in "abcdefghi"
            ],
            3,
        ),
        ([("one", f"case {number} has failed") for number in range(9)], 3),
        ([("bot", {"event": "job_failed", "case": "x" * number}) for number in range(9)], 3),
    ],
    ids=["events and loggers", "lines below the first", "numbers", "structlog's values"],
)
def test_lines_of_a_logger_that_differ_in_a_detail_are_the_same_event(
    lines: Lines, said: list[tuple[str, object]], written: int
) -> None:
    for name, text in said:
        logging.getLogger(name).error(text)
    assert len(lines.records) == written


def test_lines_below_warning_are_never_left_out(lines: Lines) -> None:
    logger = logging.getLogger("bot.test_logs")
    logger.setLevel(logging.INFO)
    for _ in range(9):
        logger.warning("case_settled")
        logger.info("case_settled")
    assert len(lines.said) == 3 + 9


WRITTEN = """
import asyncio, logging, sys
import structlog
from bot.logs import configure_logs

def refuse(value):
    raise ValueError(f"{value!r} is none")

def wrapped():
    try:
        refuse("SECRET")
    except ValueError as exc:
        raise KeyError("SECRET") from exc

async def forgotten():
    task = asyncio.create_task(asyncio.to_thread(wrapped))
    await asyncio.wait([task])

configure_logs(sys.argv[1])
for log in (structlog.get_logger("ours"), logging.getLogger("theirs")):
    try:
        wrapped()
    except KeyError as exc:
        log.error("failed", exc_info=exc)
asyncio.run(forgotten())
for text in sys.argv[2:]:
    for log in (structlog.get_logger("ours"), logging.getLogger("theirs")):
        log.error(text)
    structlog.get_logger("ours").error("failed", reason=text)
for number in range(500):
    try:
        raise OSError("Too many open files")
    except OSError:
        logging.getLogger("asyncio").exception("accept() failed %d", number)
        structlog.get_logger("bot").error("job_failed", case=number)
"""
SHOWN = {
    "wss://h.slack.com/link/?ticket=SECRET&app_id=SECRET": "wss://h.slack.com/link/?***",
    "HTTPS://h.slack.com/a#SECRET": "HTTPS://h.slack.com/a?***",
    "postgresql+asyncpg://ann:SEC/RET?SECRET@db/judge": "postgresql+asyncpg://***",
    "https://h.slack.com/?a=SECRET'SECRET": "https://h.slack.com/?***",
}


@pytest.mark.parametrize("form", ["console", "json"])
def test_the_apps_log_hides_messages_and_secrets_in_urls_escapes_controls_and_limits_repeats(
    form: str,
) -> None:
    """One process for all four, because it takes a second to start."""
    texts = [
        *(f"GET {address} failed" for address in SHOWN),
        "one\x1b[2Jtwo\rthree\x9bfour\u202efive\nsix",
    ]
    command = [sys.executable, "-", form, *texts]  # of -c, Python 3.13 shows the source as well
    said = subprocess.run(
        command, input=WRITTEN, capture_output=True, text=True, check=True, timeout=60
    ).stderr
    assert "SECRET" not in said
    # An error is its type and its place, without its message and the paths of files.
    assert said.count("ValueError at __main__:7, which led to KeyError at __main__:") == 3
    assert said.count("ValueError") == said.count("KeyError") == 3
    assert "File" not in said
    assert "Task exception was never retrieved" in said
    assert [said.count(f"GET {shown} failed") for shown in SHOWN.values()] == [3] * len(SHOWN)
    assert [char for char in said if not char.isprintable() and char != "\n"] == []
    assert len([line for line in said.splitlines() if "two" in line]) == 3
    assert [said.count(word) for word in ("one", "two", "three", "four", "five")] == [3] * 5
    assert (said.count("accept() failed"), said.count("job_failed")) == (20, 20)
