"""`judge batch` as a check: a minimum mean, a comparison with an earlier output, a summary in Markdown."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from tests.judge_command import Done, run
from tests.model_server import Failure, ModelServer

QUESTIONS = [f"What is {n} and {n}?" for n in range(40)]


def reply_to(request: dict[str, Any]) -> str | Failure:
    """The answer of a model that takes the response itself as the score."""
    response = request["messages"][-1]["content"].rpartition("<response>")[2].partition("</response>")[0]
    return Failure(400) if response == "fails" else f"score: {response}\nSo it is."


class Files:
    def __init__(self, folder: Path, server: ModelServer) -> None:
        self.folder, self.server = folder, server
        server.script(reply_to)

    def write(self, name: str, *scores: object, prompts: list[str] = QUESTIONS, **fields: object) -> Path:
        rows = [{"prompt": p, "completion": str(s), **fields} for p, s in zip(prompts, scores, strict=False)]
        (self.folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return self.folder / name

    async def batch(self, source: Path, *options: object) -> Done:
        call = ("batch", source, "-o", f"{source}.scored", "--samples", 1, "--model", "m", *options)
        return await asyncio.to_thread(run, *call, OPENAI_BASE_URL=self.server.base_url)

    async def scored(self, name: str, *scores: object, **fields: Any) -> Path:
        await self.batch(self.write(name, *scores, **fields))
        return self.folder / f"{name}.scored"


@pytest.fixture
def files(tmp_path: Path, model_server: ModelServer) -> Files:
    return Files(tmp_path, model_server)


def last(done: Done) -> tuple[int, str]:
    """The exit code, and the result of the check on one line."""
    return done.returncode, " ".join(done.stdout[done.stdout.rindex("Check ") :].split())


async def test_a_mean_below_the_limit_fails_and_one_at_the_limit_passes(files: Files) -> None:
    source = files.write("now", 3, 4, 4, 3, "none")
    done = await files.batch(source, "--fail-under", 3.5)
    assert last(done) == (0, "Check passed: the mean 3.50 is not below 3.5.")
    # With four rows the interval reaches at least 3/4 of the way from the mean to each end of the scale.
    assert "Unscored rows: 1.\nMean of all scored rows: 3.50 (95% interval 0.88 to 4.62).\n" in done.stdout
    asked = len(files.server.requests)
    done = await files.batch(source, "--fail-under", 3.6)
    assert last(done) == (1, "Check failed: the mean 3.50 is below 3.6.")
    assert len(files.server.requests) == asked
    done = await files.batch(files.write("rounded", 3, 4, 4), "--fail-under", 3.67)
    assert last(done) == (1, "Check failed: the mean 3.66666667 is below 3.67.")


async def test_a_check_fails_if_scores_are_missing(files: Files) -> None:
    done = await files.batch(files.write("none", "?", "?"), "--fail-under", 0)
    assert last(done) == (1, "Check failed: no row has a score.")
    source = files.write("failed", 5, "fails")
    source.write_text(source.read_text() + "nonsense\n")
    done = await files.batch(source, "--fail-under", 0)
    assert last(done) == (1, "Check failed: rows without a verdict (failed calls, skipped lines or --max-cost): 2.")
    before = await files.scored("before", 4, prompts=["another"])
    done = await files.batch(files.write("now", 4), "--compare", before, "--fail-if-worse")
    assert last(done) == (1, f"Check failed: no row has a score both now and in {before}.")


async def test_only_clearly_lower_scores_count_as_worse(files: Files) -> None:
    before = await files.scored("before", *[4] * 40)
    options = ("--compare", before, "--fail-if-worse")
    done = await files.batch(files.write("noise", *[3, 5, 4, 4] * 9, 3, 3, 4, 4), *options)
    assert last(done) == (0, f"Check passed: not clearly worse than {before}.")
    assert "Mean of the pairs (n = 40): 4.00 before, now 3.95." in done.stdout
    assert "Lower, higher, same: 11, 9, 20." in done.stdout
    done = await files.batch(files.write("worse", *[3, 4] * 20), *options)
    assert last(done) == (1, f"Check failed: clearly worse than {before}.")
    # 20 of 40 fell by 1: mean difference -0.5, standard error sqrt(0.25 / 39) = 0.080, t(39) = 2.023.
    assert "Difference: -0.50 (95% interval -0.66 to -0.34)." in done.stdout
    done = await files.batch(files.write("better", *[5] * 40), *options)
    assert last(done) == (0, f"Check passed: clearly better than {before}.")
    done = await files.batch(files.write("told", *[3] * 40), "--compare", before)
    assert (done.returncode, "\nCompared: clearly worse than" in done.stdout) == (0, True)
    done = await files.batch(files.write("thread", *[3, 4] * 20, thread="t"), *options)
    assert "Difference: -0.50.\n" in done.stdout  # all in one cluster
    before = await files.scored("two", *[4] * 40, prompts=QUESTIONS[:2] * 20)
    now = files.write("two_now", *[3, 4] * 20, prompts=QUESTIONS[:2] * 20)
    assert last(await files.batch(now, "--compare", before, "--fail-if-worse"))[0] == 0  # two prompts, not 40 rows


async def test_rows_are_paired_by_id_or_prompt_in_order_and_the_rest_is_counted(files: Files) -> None:
    before = await files.scored("before", 5, 1, 3, 2, "none", prompts=["a", "a", "b", "gone", "c"])
    now = files.write("now", 1, 5, "none", 4, 4, 0, prompts=["b", "a", "a", "c", "new", "a"])
    done = await files.batch(now, "--compare", before)
    assert "Scored rows: 4 before, now 5.\nUnscored rows: 1 before, now 1.\n" in done.stdout
    assert "Rows without a partner: 1 before, now 2.\n" in done.stdout
    assert (
        "Mean of the pairs (n = 2): 4.00 before, now 3.00.\n" in done.stdout
    )  # b falls from 3 to 1, the first a stays at 5
    before = await files.scored("by_id", 5, prompts=["The 1st."], prompt_id=7)
    done = await files.batch(files.write("id", 4, prompts=["Reworded."], prompt_id=7), "--compare", before)
    assert "Mean of the pairs (n = 1): 5.00 before, now 4.00.\nDifference: -1.00.\n" in done.stdout
    assert "Pairs by prompt_id whose prompts differ: 1.\n" in done.stdout


async def test_clearly_more_unscored_rows_fail(files: Files) -> None:
    before = await files.scored("before", *[4] * 40)
    options = ("--compare", before, "--fail-if-worse")
    done = await files.batch(files.write("now", *[4, "none"] * 20), *options)
    assert last(done) == (1, f"Check failed: clearly more rows are unscored than in {before}.")
    assert "Unscored rows: 0 before, now 20, clearly more.\n" in done.stdout
    done = await files.batch(files.write("few", *[4] * 38, "none", "none"), *options)
    assert (done.returncode, "Unscored rows: 0 before, now 2.\n" in done.stdout) == (0, True)


async def test_replies_with_nothing_to_judge_count_as_the_lowest_score(files: Files) -> None:
    before = await files.scored("before", *[4] * 30)
    done = await files.batch(files.write("now", *[4] * 20, *[""] * 10), "--compare", before, "--fail-if-worse")
    assert last(done) == (1, f"Check failed: clearly worse than {before}.")
    counted = (
        "Scored rows: 30 before, now 20.\n"
        "Replies with nothing to judge, counted as 0: 0 before, now 10.\n"
        "Other unscored rows: 0 before, now 0.\n"
    )
    assert counted in done.stdout
    assert "Mean of all scored rows and these replies: 2.67 " in done.stdout  # 20 * 4 / 30
    done = await files.batch(files.folder / "now", "--fail-under", 3)
    assert last(done) == (1, "Check failed: the mean 2.67 is below 3.")
    done = await files.batch(files.write("empty question", "Fine.", 4, prompts=["", "a"]), "--fail-under", 4)
    assert last(done) == (0, "Check passed: the mean 4.00 is not below 4.")


async def test_a_reply_that_cannot_be_read_counts_as_no_score(files: Files) -> None:
    def said(*answer: dict[str, object]) -> str:
        return f"{json.dumps({'messages': [{'role': 'user', 'content': 'Why?'}, *answer]})}\n"

    picture = [{"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}]
    unread: list[list[dict[str, object]]] = [[], [{"role": "tool", "content": "4"}]]
    unread.append([{"role": "assistant", "content": picture}])
    empty: list[dict[str, object]] = [{"role": "assistant", "content": None}, {"role": "assistant", "content": " "}]
    source = files.write("now", *[4] * 10)
    source.write_text(source.read_text() + "".join(said(*each) for each in unread) + "".join(map(said, empty)))
    done = await files.batch(source, "--fail-under", 0)
    assert "counted as 0: 2.\nOther unscored rows: 3.\n" in done.stdout


async def test_an_output_counts_that_has_rows_which_are_now_refused(files: Files) -> None:
    said = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": " "}]
    source = files.write("now", *[4] * 3)
    source.write_text(f"{source.read_text()}{json.dumps({'messages': said})}\n")
    before = await files.scored("before", *[4] * 3)
    await files.batch(source)
    for path in (source, files.folder / "now.scored"):
        path.write_text(path.read_text().replace('"assistant"', '"robot"'))
    done = await files.batch(source, "--compare", before, "--fail-if-worse")
    assert "Unscored rows: 0 before, now 1.\n" in done.stdout, done.stderr


async def test_a_check_needs_scores_of_half_the_rows_and_pairs_of_half_the_earlier_ones(files: Files) -> None:
    before = await files.scored("before", *[4] * 30)
    for name, share in (("empty", ""), ("unscored", "none")):
        done = await files.batch(files.write(name, *[4] * 5, *[share] * 25), "--fail-under", 0)
        assert last(done) == (1, "Check failed: only 5 of 30 rows scored.")
    now = files.write("now", *[4] * 30, prompts=[QUESTIONS[0], *map(str, range(29))])
    done = await files.batch(now, "--compare", before, "--fail-if-worse")
    assert last(done) == (1, f"Check failed: only 1 of 30 rows scored both now and in {before}.")
    done = await files.batch(files.write("half", *[4] * 15), "--compare", before, "--fail-if-worse")
    assert last(done) == (0, f"Check passed: not clearly worse than {before}.")


async def test_files_that_cannot_be_compared_are_refused_before_any_request(files: Files) -> None:
    before = await files.scored("before", 4)
    source, asked, fields = files.write("now", 4), len(files.server.requests), json.loads(before.read_text())
    again = "scores of two judges do not compare. Score the earlier responses again with the present judge."
    lines = {
        f"line 1: judged with samples 3, now 1; {again}\n": json.dumps({**fields, "samples": 3}),
        "line 1: judged with model 'n', now 'm'": json.dumps({**fields, "model": "n"}),
        "line 1: judged with rubric_version None, now 'f846c469'": json.dumps({**fields, "rubric_version": None}),
        "line 1: score 7 is not a whole number from 0 to 5; give JSONL that": json.dumps({**fields, "score": 7}),
        "line 1: no score; give JSONL that 'judge batch' wrote.": '{"prompt": "a"}',
        "line 1: not JSON": before.read_text()[:90],
    }
    options = {
        "name the earlier output with --compare": ("--fail-if-worse",),
        "Markdown would damage the rows": ("--summary", files.folder / "old.jsonl"),
        "no mean reaches it on the scale 0 to 5": ("--fail-under", 70),
        "no such file": ("--compare", files.folder / "none"),
    }
    for said in (*lines, *options):
        (files.folder / "other").write_text(lines.get(said, ""))
        done = await files.batch(source, *options.get(said, ("--compare", files.folder / "other")))
        assert (done.returncode, said in done.stderr, done.stdout) == (2, True, ""), done.stderr
    assert len(files.server.requests) == asked
    done = await files.batch(files.folder / "before", "--compare", before)
    assert (done.returncode, "that is the output" in done.stderr) == (2, True)


async def test_the_summary_is_appended_and_shows_the_largest_drops_as_plain_text(files: Files) -> None:
    hostile = "a | b `c` <img src=x> @octocat\n| **d** | [e](https://f.example) &amp; \\| #1"
    prompts = [hostile, "x" * 200, "one", "two", "same"]
    before = await files.scored("before", *[5] * 5, prompts=prompts)
    summary = files.folder / "summary.md"
    summary.write_text("Of another step.\n")
    for name, scores in (("now", (0, 1, 4, 3, 5)), ("unchanged", [5] * 5)):
        source = files.write(name, *scores, prompts=prompts)
        await files.batch(source, "--compare", before, "--fail-under", 4, "--summary", summary)
    text = summary.read_text()
    assert text.startswith("Of another step.\n\n### Check failed\n")
    assert (text.count("### Check passed"), text.count("fell most")) == (1, 1)
    inline = [each for each in MarkdownIt("commonmark").enable("table").parse(text) if each.type == "inline"]
    cells = [[child.content for child in each.children or ()] for each in inline]
    start = cells.index(["fell most"]) + 3
    assert cells[start : start + 3] == [["<code>", " ".join(hostile.split()), "</code>"], ["5"], ["0"]]
    assert cells[start + 3 : start + 6] == [["<code>", "x" * 79 + "…", "</code>"], ["5"], ["1"]]
    assert cells[start + 6 : start + 9] == [["<code>", "two", "</code>"], ["5"], ["3"]]
    assert ["<code>", "one", "</code>"] not in cells
    assert "| mean of the pairs (n = 5) | 5.00 | 2.60 |" in text


async def test_names_in_the_output_are_no_commands_to_github(files: Files) -> None:
    # In a sentence of the summary, the last command comes to the beginning of a line.
    name = "\n::error::a\n \u200b::warning::b ##[error]c " + "x" * 70 + " ::add-mask::d"
    before = await files.scored(f"before{name}", *[4] * 9)
    dones = [await files.batch(files.write(f"now{name}", *[4] * 9), "--compare", before)]
    (files.folder / "odd").write_text(json.dumps({name: 1}))
    dones += [await files.batch(files.folder / "odd"), await files.batch(files.folder / f"none{name}")]
    assert all("add-mask" in done.stdout + done.stderr for done in dones)
    lines = [line.strip(" \u200b") for done in dones for line in (done.stdout + done.stderr).splitlines()]
    assert not [line for line in lines if line.startswith("::") or "##[" in line]
