"""`judge batch --batch-api`: each row is scored once, at half the price, and nothing is paid for twice."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from judge.rows.batch_api import BatchApi
from judge.rows.provider import parts, to_file
from tests import judge_process
from tests.batch_server import BatchServer, Course
from tests.judge_command import Done, run
from tests.model_server import Failure, ModelServer, Reply
from tests.tables import each

JUDGE = str(Path(sys.executable).with_name("judge"))
HURRY = {"JUDGE_BATCH_HURRY": "0.02"}
GOOD = "score: 4\nGood.\u2028Really."
ONCE = [f"Answer {n}." for n in range(1, 6)]


@pytest.fixture
async def server() -> AsyncIterator[BatchServer]:
    async with BatchServer() as server:
        server.script(GOOD)
        yield server


class Batch:
    """The command with `--batch-api`, for five rows in a folder."""

    def __init__(self, server: BatchServer, folder: Path) -> None:
        self.server, self.url = server, server.base_url
        self.source, self.output = folder / "in.jsonl", folder / "out.jsonl"
        rows = (json.dumps({"prompt": "Why?", "completion": answer}) for answer in ONCE)
        self.source.write_text("".join(f"{row}\n" for row in rows))

    def command(self, *options: object) -> list[str]:
        return [
            str(each) for each in ("batch", self.source, "-o", self.output, "--batch-api", "--samples", 1, *options)
        ]

    async def ask(self, *options: object) -> Done:
        return await asyncio.to_thread(run, *self.command(*options), OPENAI_BASE_URL=self.url, **HURRY)

    async def finish(self, *options: object) -> Done:
        """A run that scores all rows that it is given."""
        done = await self.ask(*options)
        assert done.returncode == 0, done.stderr
        return done

    async def kill_at(self, step: str) -> None:
        """Starts a run in a separate process, and kills it while the server is at `step`."""
        self.server.hold = step
        process = judge_process.start(self.command(), {"OPENAI_BASE_URL": self.url, **HURRY})
        await self.server.held()
        process.kill()
        process.join()
        self.server.hold = ""

    def rows(self) -> list[dict[str, Any]]:
        return read(self.output)

    def lines(self) -> list[int]:
        return [row["line"] for row in self.rows()]


@pytest.fixture
def batch(server: BatchServer, tmp_path: Path) -> Batch:
    return Batch(server, tmp_path)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def edit(path: Path, old: bytes, new: bytes, times: int = -1) -> None:
    path.write_bytes(path.read_bytes().replace(old, new, times))


def asked(server: BatchServer) -> list[str]:
    prompts = [request["messages"][-1]["content"] for request in server.requests]
    return sorted(prompt.rpartition("<response>")[2].partition("</response>")[0] for prompt in prompts)


async def test_rows_are_the_same_as_without_batches(server: BatchServer, batch: Batch) -> None:
    await batch.finish()
    assert (asked(server), server.direct, len(server.batches)) == (ONCE, 0, 1)
    directly = batch.output.with_name("direct.jsonl")
    arguments = ("batch", batch.source, "-o", directly, "--samples", 1)
    await asyncio.to_thread(run, *arguments, OPENAI_BASE_URL=server.base_url)
    assert server.direct == 5
    assert [row | {"latency_ms": 0} for row in batch.rows()] == [row | {"latency_ms": 0} for row in read(directly)]
    assert sorted(path.name for path in batch.output.parent.iterdir()) == ["direct.jsonl", "in.jsonl", "out.jsonl"]


async def test_follow_up_requests_go_in_another_batch(server: BatchServer, batch: Batch) -> None:
    def answer(request: dict[str, Any]) -> Reply:
        prompt = request["messages"][-1]["content"]
        if "n" in request:
            return Failure(400, param="n", message="Unsupported value: 'n'")
        # The first of three ratings is doubtful, so it is asked again for the score alone.
        return "score: 4" if "score: N" in prompt else next(ratings)

    ratings = iter(["No idea.", "score: 2\nPoor.", "score: 4\nGood."])
    server.script(answer)
    await batch.finish("--samples", 3, "--limit", 1)
    assert [len(lines) for lines in server.sent] == [1, 1, 2, 1]
    (row,) = batch.rows()
    assert sorted(rating["score"] for rating in row["ratings"]) == [2, 4, 4]
    assert len({line["custom_id"] for lines in server.sent for line in lines}) == 5


async def test_rows_beyond_those_in_memory_go_in_the_same_batch(
    server: BatchServer, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.rows.batch_api._MOST_ROWS", 2)
    await batch.finish()
    assert (asked(server), len(server.batches)) == (ONCE, 1)


async def test_each_batch_stays_within_the_byte_limit(
    server: BatchServer, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.rows.batch_api._MOST_BYTES_AT_ONCE", 8_000)
    await batch.finish()
    assert asked(server) == ONCE
    assert max(server.sizes) <= 8_000


async def test_each_model_has_a_batch_of_its_own(server: BatchServer, batch: Batch) -> None:
    await batch.finish("--model", "a,b")
    assert [{line["body"]["model"] for line in lines} for lines in server.sent] == [{"a"}, {"b"}]


@pytest.mark.parametrize("step", ["upload", "uploaded", "create", "created", "poll", "download"])
async def test_killed_run_goes_on_with_the_same_batch(server: BatchServer, batch: Batch, step: str) -> None:
    await batch.kill_at(step)
    await batch.finish()
    assert (asked(server), server.direct, len(server.batches)) == (ONCE, 0, 1)
    assert batch.lines() == [1, 2, 3, 4, 5]
    assert sorted(path.name for path in batch.output.parent.iterdir()) == ["in.jsonl", "out.jsonl"]


async def test_batch_of_a_killed_run_is_found_on_a_later_page_and_without_metadata(
    server: BatchServer, batch: Batch
) -> None:
    server.has_metadata = False
    await batch.kill_at("created")
    server.add_others(120)
    await batch.finish()
    assert (asked(server), len(server.batches)) == (ONCE, 121)


async def test_interrupted_run_says_how_to_continue(server: BatchServer, batch: Batch) -> None:
    server.hold = "poll"
    environment, pipe = {"OPENAI_BASE_URL": server.base_url, **HURRY}, asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(JUDGE, *batch.command(), env=environment, stderr=pipe)
    await server.held()
    process.send_signal(signal.SIGINT)
    _, err = await process.communicate()
    assert process.returncode == 130
    assert b"batches in progress go on; run the same command to continue." in err


@pytest.mark.parametrize("ends", ["expired", "cancelled"])
async def test_unanswered_rows_of_a_batch_are_asked_again_only_by_the_next_run(
    server: BatchServer, batch: Batch, ends: str
) -> None:
    server.courses = [Course(ends, answered=2), Course()]
    done = await batch.ask()
    assert (done.returncode, len(server.batches), len(batch.rows())) == (1, 1, 2)
    assert f"batch_1: {ends}; 2 of 5 answered." in done.stderr
    assert "2 of 5 rows scored, 0 unscored, 3 failed" in done.stdout
    await batch.finish()
    assert (asked(server), server.direct, batch.lines()) == (ONCE, 0, [1, 2, 3, 4, 5])


async def test_failed_batch_says_why(server: BatchServer, batch: Batch) -> None:
    server.courses = [Course("failed", message="Enqueued token limit reached."), Course()]
    done = await batch.ask()
    assert (done.returncode, asked(server)) == (1, [])
    assert "failed (Enqueued token limit reached.); 0 of 5 answered." in done.stderr
    await batch.finish()
    assert asked(server) == ONCE


async def test_batch_that_ended_between_runs_is_asked_again_at_once(server: BatchServer, batch: Batch) -> None:
    server.courses = [Course("expired", answered=2), Course()]
    await batch.kill_at("poll")
    await batch.finish()
    assert asked(server) == ONCE


async def test_then_direct_asks_the_rest_directly(server: BatchServer, batch: Batch) -> None:
    def answer(request: dict[str, Any]) -> Reply:
        # The fourth row is doubtful, so it is asked again for the score alone, also directly.
        is_again = "score: N" in request["messages"][-1]["content"]
        return "score: 4" if is_again else "No idea." if "Answer 4." in str(request) else GOOD

    server.script(answer)
    server.courses = [Course("expired", answered=2), Course()]
    await batch.finish("--then-direct")
    assert (len(server.requests), server.direct, len(server.batches)) == (6, 4, 1)


async def test_then_direct_asks_second_requests_of_answered_rows_directly(server: BatchServer, batch: Batch) -> None:
    server.script(lambda request: "score: 4" if "score: N" in request["messages"][-1]["content"] else "No idea.")
    await batch.finish("--then-direct")
    assert (len(server.requests), server.direct, len(server.batches)) == (10, 5, 1)


async def test_then_direct_asks_the_rest_of_an_earlier_run_directly(server: BatchServer, batch: Batch) -> None:
    server.courses = [Course("expired", answered=2), Course()]
    await batch.ask()
    await batch.finish("--then-direct")
    assert (asked(server), server.direct, len(server.batches)) == (ONCE, 3, 1)


async def test_cancelling_keeps_the_answers(server: BatchServer, batch: Batch) -> None:
    server.courses = [Course("cancelled", answered=2, polls=10**9), Course()]
    await batch.kill_at("poll")
    server.advance("batch_1")
    done = await batch.ask("--cancel")
    assert (done.returncode, len(server.batches), len(batch.rows())) == (1, 1, 2)
    assert "batch_1: cancelled; 2 of 5 answered." in done.stderr
    await batch.finish()
    assert asked(server) == ONCE


async def test_cancelled_run_reports_no_row_as_failed(server: BatchServer, batch: Batch) -> None:
    server.script("No idea.")  # each answered row needs a second request
    await batch.kill_at("poll")
    done = await batch.ask("--cancel")
    assert (done.returncode, "0 of 5 rows scored, 0 unscored, 0 failed" in done.stdout) == (1, True)


async def test_cancelling_without_a_batch_says_so(server: BatchServer, batch: Batch) -> None:
    done = await batch.ask("--cancel")
    assert (done.returncode, done.stderr, server.sent) == (1, "No batch is in progress.\n", [])


async def test_batch_that_may_never_have_been_created_can_be_cancelled(server: BatchServer, batch: Batch) -> None:
    await batch.kill_at("create")
    server.faults["create"] = [web.HTTPNotFound()]
    done = await batch.ask()
    assert done.returncode == 2
    assert "does not know file-1" in done.stderr
    done = await batch.ask("--cancel")
    assert "never created; 0 of 5 answered." in done.stderr
    assert server.batches == {}


async def test_first_answer_counts_and_an_answer_to_an_unknown_request_is_reported(
    server: BatchServer, batch: Batch
) -> None:
    server.courses = [Course(is_twice=True, has_stranger=True)]
    done = await batch.finish()
    assert [row["score"] for row in batch.rows()] == [4] * 5
    assert 'an answer is to "of-somebody-else", which was not asked, and is ignored, like 2 more.' in done.stderr


async def test_half_a_surrogate_pair_in_an_answer_is_replaced(server: BatchServer, batch: Batch) -> None:
    server.script("score: 4\nGood \ud83d.")
    await batch.finish()
    assert {row["justification"] for row in batch.rows()} == {"Good ?."}


@pytest.mark.parametrize("file", ["", "<html>Log in!</html>"])
async def test_file_with_fewer_answers_than_were_counted_is_read_again(
    server: BatchServer, batch: Batch, file: str
) -> None:
    server.faults["file"] = [web.HTTPOk(text=file), web.HTTPOk(text=file)]
    await batch.finish()
    assert (asked(server), len(server.batches)) == (ONCE, 1)


async def test_answers_that_stay_lost_are_paid_for_again_only_after_cancelling(
    server: BatchServer, batch: Batch
) -> None:
    server.courses = [Course(is_cut=True), Course()]
    for _ in range(2):
        done = await batch.ask()
        assert (done.returncode, len(batch.lines()), asked(server)) == (2, 4, ONCE)
        assert "batch_1: a line is damaged or cut off and is ignored." in done.stderr
        assert "batch_1 has 5 answers, and 4 of them can be read." in done.stderr
    (lost,) = {1, 2, 3, 4, 5}.difference(batch.lines())
    done = await batch.ask("--cancel")
    assert (done.returncode, "Without --cancel, the same command asks for the rest." in done.stdout) == (1, True)
    await batch.finish()
    assert (batch.lines(), asked(server)) == ([1, 2, 3, 4, 5], sorted([*ONCE, f"Answer {lost}."]))


async def test_answers_of_rows_beyond_the_limit_are_kept(server: BatchServer, batch: Batch) -> None:
    await batch.kill_at("poll")
    done = await batch.ask("--limit", 2)
    assert (done.returncode, batch.lines()) == (0, [1, 2])
    assert "out.jsonl.batches keeps the answers for 3 more rows." in done.stderr
    await batch.finish()
    assert (batch.lines(), asked(server)) == ([1, 2, 3, 4, 5], ONCE)


async def test_batch_that_the_list_does_not_show_at_once_is_not_created_twice(
    server: BatchServer, batch: Batch
) -> None:
    server.lose, server.stale_lists = "created", 3
    await batch.finish()
    assert (asked(server), len(server.batches)) == (ONCE, 1)


async def test_server_that_keeps_failing_is_reported_once(server: BatchServer, batch: Batch) -> None:
    server.faults["poll"] = [web.HTTPInternalServerError(headers={"retry-after-ms": "1"}) for _ in range(30)]
    done = await batch.finish()
    assert done.stderr.count("HTTP 500") == done.stderr.count("I keep looking once a minute.") == 1


@pytest.mark.parametrize("step", ["uploaded", "create", "created", "poll", "download"])
async def test_lost_connection_costs_nothing(server: BatchServer, batch: Batch, step: str) -> None:
    server.lose = step
    await batch.finish()
    assert (asked(server), len(server.batches)) == (ONCE, 1)


async def test_failed_call_is_asked_again_in_the_next_batch(server: BatchServer, batch: Batch) -> None:
    failures = iter([Failure(500)])
    server.script(lambda request: next(failures, GOOD))
    await batch.finish()
    assert [len(lines) for lines in server.sent] == [5, 1]


async def test_run_with_another_key_finds_no_batch_and_asks_nothing_again(server: BatchServer, batch: Batch) -> None:
    await batch.kill_at("poll")
    batches, server.batches = server.batches, {}
    done = await batch.ask()
    assert done.returncode == 2
    assert "does not know batch_1" in done.stderr
    server.batches = batches
    await batch.finish()
    assert asked(server) == ONCE


async def test_unknown_batch_does_not_hold_up_the_others(
    server: BatchServer, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.rows.batch_api._MOST_BYTES_AT_ONCE", 4_000)
    server.faults["poll"] = [web.HTTPNotFound()]
    done = await batch.ask()
    assert done.returncode == 2
    assert "does not know batch_1" in done.stderr
    assert len(batch.lines()) == 4
    await batch.finish()
    assert (batch.lines(), asked(server)) == ([1, 2, 3, 4, 5], ONCE)


async def test_call_that_fails_in_each_batch_is_asked_again_by_the_next_run(server: BatchServer, batch: Batch) -> None:
    server.script(lambda request: Failure(403) if "Answer 3." in str(request) else GOOD)
    done = await batch.ask()
    assert (done.returncode, len(server.batches)) == (2, 1)
    server.script(GOOD)
    await batch.finish()
    assert (batch.lines(), len(server.requests)) == ([1, 2, 3, 4, 5], 6)


async def test_output_with_rows_in_batches_is_refused_without_the_option(server: BatchServer, batch: Batch) -> None:
    server.courses = [Course("expired", answered=2)]
    await batch.ask()
    done = await asyncio.to_thread(run, "batch", batch.source, "-o", batch.output, OPENAI_BASE_URL=server.base_url)
    assert done.returncode == 2
    assert "out.jsonl.batches keeps what batches were asked for this output. Add --batch-api" in done.stderr
    assert server.direct == 0


@pytest.mark.parametrize("step", ["poll", "file"])
async def test_login_page_as_an_answer_costs_nothing(server: BatchServer, batch: Batch, step: str) -> None:
    server.faults[step] = [web.HTTPOk(text="<html>Log in!</html>", content_type="text/html")]
    done = await batch.ask()
    assert done.returncode == 2
    assert "answers, but not with" in done.stderr
    await batch.finish()
    assert (asked(server), len(server.batches)) == (ONCE, 1)


async def test_upload_follows_no_redirect(server: BatchServer, batch: Batch) -> None:
    server.faults["upload"] = [web.HTTPTemporaryRedirect("/elsewhere")]
    done = await batch.ask()
    assert done.returncode == 2
    assert "redirects to another path on the same server, and redirects are not followed" in done.stderr


async def test_file_is_sent_again_when_the_server_fails_for_a_while(server: BatchServer, batch: Batch) -> None:
    server.faults["upload"] = [web.HTTPServiceUnavailable(headers={"retry-after-ms": "1"}) for _ in range(5)]
    await batch.finish()


async def test_batch_refused_in_the_middle_of_a_large_file_gives_one_sentence(
    server: BatchServer, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.rows.batch_api._MOST_BYTES_AT_ONCE", 2_000)
    server.faults["create"] = [None, web.HTTPBadRequest()]
    done = await batch.ask()
    assert (done.returncode, len(server.batches)) == (2, 1)
    assert "rejects the request (HTTP 400" in done.stderr
    assert "Stopped with 0 of 5 rows" in done.stderr
    server.faults["create"] = [web.HTTPBadRequest()]
    assert "rejects the request (HTTP 400" in (await batch.ask()).stderr
    await batch.finish()
    assert asked(server) == ONCE
    assert len(server.batches) > 1


async def test_server_with_files_but_without_batches_leaves_no_record(server: BatchServer, batch: Batch) -> None:
    server.faults["create"] = [web.HTTPNotFound()]
    done = await batch.ask()
    assert "takes no batches (HTTP 404); leave out --batch-api." in done.stderr
    assert not batch.output.with_name("out.jsonl.batches").exists()


async def test_server_without_batches_gives_one_sentence(model_server: ModelServer, batch: Batch) -> None:
    batch.url = model_server.base_url
    done = await batch.ask()
    assert done.returncode == 2
    assert "takes no batches (HTTP 404); leave out --batch-api." in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not batch.output.with_name("out.jsonl.batches").exists()


@each(
    ("options", "url", "expected"),
    [
        (("--model", "offline"), "", "The offline rater asks no provider"),
        (("--max-cost", "1"), "", "use --limit"),
        ((), "https://mine.openai.azure.com/openai/v1/", "Azure takes batches only"),
    ],
)
def test_settings_that_batches_do_not_support_are_refused(
    batch: Batch, options: tuple[str, ...], url: str, expected: str
) -> None:
    done = run(*batch.command(*options), OPENAI_BASE_URL=url)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert expected in done.stderr


async def test_edited_row_is_refused(server: BatchServer, batch: Batch) -> None:
    server.courses = [Course("expired", answered=2), Course()]
    await batch.ask()
    edit(batch.source, b"Answer", b"Reply")
    done = await batch.ask()
    assert done.returncode == 2
    assert "has changed since its verdicts" in done.stderr


@pytest.mark.parametrize("change", ["a line before", "another judge"])
async def test_batch_of_other_rows_or_of_another_judge_is_refused(
    server: BatchServer, batch: Batch, change: str
) -> None:
    await batch.kill_at("poll")
    new = b'{"prompt": "New?", "completion": "New."}\n'
    if change == "a line before":
        edit(batch.source, b"", new, 1)
        done = await batch.ask()
    else:
        done = await batch.ask("--model", "another")
    assert done.returncode == 2
    assert "Line 1 of the input, or its judge, has changed since a batch asked for it" in done.stderr
    edit(batch.source, new, b"")
    await batch.finish()
    assert (asked(server), len(server.batches)) == (ONCE, 1)


async def test_full_disk_gives_one_sentence_and_nothing_is_paid_twice(server: BatchServer, batch: Batch) -> None:
    # A limit on the size of files, in blocks of 512 bytes, simulates the full disk.
    script = f"ulimit -f 3; exec {JUDGE} {' '.join(batch.command())}"
    environment = {"OPENAI_BASE_URL": server.base_url, "PYTHONDONTWRITEBYTECODE": "1", **HURRY}
    process = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", script, env=environment, stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    _, err = await process.communicate()
    assert process.returncode == 2
    assert b"(file too large)" in err
    assert b"Traceback" not in err
    await batch.finish()
    assert (asked(server), len(server.batches)) == (ONCE, 1)


@each(
    ("rows", "size", "expected"),
    [(0, 0, 1), (5, 10_000, 5), (10**6, 10**9, 1_000), (10**6, 10**11, 490), (1, 10**9, 1)],
)
def test_number_of_rows_at_once_depends_on_memory(rows: int, size: int, expected: int) -> None:
    assert BatchApi.rows_at_once(rows, size, "x" * 2_000) == expected


def test_files_stay_within_the_limits() -> None:
    bodies = [json.dumps({"model": "a", "text": "x" * size}).encode() for size in (10, 10, 10, 500, 10)]
    requests = list(enumerate(bodies))
    assert [len(part) for part in parts(requests, most=2)] == [2, 2, 1]
    for part in parts(requests, most_bytes=800):
        assert len(to_file("0" * 16, part)) <= 800
    assert [len(part) for part in parts(requests, most_bytes=10**6)] == [5]
    assert list(parts([])) == []
