"""`judge batch` as a check: a minimum mean, a comparison with an earlier output, a summary in
Markdown.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from syrupy.assertion import SnapshotAssertion

from tests.judge_command import Done, run
from tests.model_server import Answer, Failure, ModelServer

Rows = list[Any]

QUESTIONS = [f"What is {n} and {n}?" for n in range(40)]


def reply_to(request: dict[str, Any]) -> str | Failure:
    """The answer of a model that takes the response itself as the score."""
    response = (
        request["messages"][-1]["content"].rpartition("<response>")[2].partition("</response>")[0]
    )
    return Failure(400) if response == "fails" else f"score: {response}\nSo it is."


def scores(*scores: object, prompts: list[str] = QUESTIONS, **fields: object) -> Rows:
    return [
        {"prompt": p, "completion": str(s), **fields} for p, s in zip(prompts, scores, strict=False)
    ]


class Files:
    def __init__(self, folder: Path, server: ModelServer) -> None:
        self.folder = folder
        self.server = server
        server.script(reply_to)

    def write(self, name: str, rows: Rows) -> Path:
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (self.folder / name).write_text("".join(f"{line}\n" for line in lines))
        return self.folder / name

    async def batch(self, source: Path, *options: object) -> Done:
        call = ("batch", source, "-o", f"{source}.scored", "--samples", 1, "--model", "m", *options)
        return await asyncio.to_thread(run, *call, OPENAI_BASE_URL=self.server.base_url)

    async def scored(self, name: str, rows: Rows) -> Path:
        """The output with the scores of these rows; an earlier one is deleted."""
        output = self.folder / f"{name}.scored"
        output.unlink(missing_ok=True)
        await self.batch(self.write(name, rows))
        return output

    def said(self, done: Done) -> str:
        """What the command said of its check, the result on one line, and its exit code; then its
        output is deleted.
        """
        (self.folder / "now.scored").unlink()
        figures, check, result = done.stdout[done.stdout.index("Scored rows") :].partition("Check ")
        result = " ".join(result.replace(f"{self.folder}/", "").split())
        return f"{figures}{check}{result}\nexit code {done.returncode}"


@pytest.fixture
def files(tmp_path: Path, model_server: ModelServer) -> Files:
    return Files(tmp_path, model_server)


FOURS = scores(*[4] * 40)
TWO = {"prompts": QUESTIONS[:2] * 20}
MEANS = {  # of the rows alone: at least how much is wanted, and the rows
    # With four rows the interval reaches at least 3/4 of the way from the mean to each end of the
    # scale.
    "at the limit": (3.5, scores(3, 4, 4, 3, "none")),
    "below the limit": (3.6, scores(3, 4, 4, 3, "none")),
    "below the limit by less than is shown": (3.67, scores(3, 4, 4)),
    "of no score": (0, scores("?", "?")),
    "without a verdict": (0, [*scores(5, "fails"), "nonsense"]),
    "of fewer than half": (0, scores(*[4] * 5, *["none"] * 25)),
    "of fewer than half, the others empty": (0, scores(*[4] * 5, *[""] * 25)),
    "with replies with nothing to judge": (3, scores(*[4] * 20, *[""] * 10)),  # 20 * 4 / 30 = 2.67
    "with an empty question": (4, scores("Fine.", 4, prompts=["", "a"])),
}
COMPARISONS = {  # what is compared, and with what
    "about the same": (scores(*[3, 5, 4, 4] * 9, 3, 3, 4, 4), FOURS),
    # 20 of 40 fell by 1: mean difference -0.5, standard error sqrt(0.25 / 39) = 0.080, t(39) =
    # 2.023.
    "worse": (scores(*[3, 4] * 20), FOURS),
    "better": (scores(*[5] * 40), FOURS),
    "in one thread": (scores(*[3, 4] * 20, thread="t"), FOURS),
    "of two prompts, not 40": (scores(*[3, 4] * 20, **TWO), scores(*[4] * 40, **TWO)),
    # b falls from 3 to 1, the first a stays at 5.
    "paired by prompt in order": (
        scores(1, 5, "none", 4, 4, 0, prompts=["b", "a", "a", "c", "new", "a"]),
        scores(5, 1, 3, 2, "none", prompts=["a", "a", "b", "gone", "c"]),
    ),
    "paired by id": (
        scores(4, prompts=["New."], prompt_id=7),
        scores(5, prompts=["The 1st."], prompt_id=7),
    ),
    "without pairs": (scores(4), scores(4, prompts=["another"])),
    "with few pairs": (
        scores(*[4] * 30, prompts=[QUESTIONS[0], *(f"another {n}" for n in range(29))]),
        scores(*[4] * 30),
    ),
    "with pairs of half": (scores(*[4] * 15), scores(*[4] * 30)),
    "clearly more unscored": (scores(*[4, "none"] * 20), FOURS),
    "few more unscored": (scores(*[4] * 38, "none", "none"), FOURS),
    "with nothing to judge": (scores(*[4] * 20, *[""] * 10), scores(*[4] * 30)),  # 20 * 4 / 30
}


def together(said: dict[str, str]) -> str:
    return "\n".join(f"== {name}\n{words}" for name, words in said.items())


async def test_a_check_of_the_mean_reads_as_in_the_snapshot(
    files: Files, snapshot: SnapshotAssertion
) -> None:
    said = {}
    for name, (least, rows) in MEANS.items():
        done = await files.batch(files.write("now", rows), "--fail-under", least)
        said[name] = files.said(done)
    assert together(said) == snapshot


async def test_a_comparison_reads_as_in_the_snapshot(
    files: Files, snapshot: SnapshotAssertion
) -> None:
    said = {}
    for name, (now, earlier) in COMPARISONS.items():
        before = await files.scored("before", earlier)
        done = await files.batch(files.write("now", now), "--compare", before, "--fail-if-worse")
        said[name] = files.said(done)
    assert together(said) == snapshot


def strict(request: dict[str, Any]) -> Answer:
    """The answer of another model under the same name, which gives a point less."""
    return Answer(f"score: {int(str(reply_to(request))[7]) - 1}\nSo it is.", model="m-2")


OTHERS = [f"What is {n} less {n}?" for n in range(30)]
JUDGE_CHANGES: dict[
    str, tuple[int, list[object], list[str]]
] = {  # pairs with the same texts, other scores, options
    "all pairs with the same texts": (40, [], []),
    "enough pairs, the others as good": (30, [4, 3] * 15, []),
    "enough pairs, the others worse": (30, [2] * 30, []),
    "clear with few pairs, some others empty": (10, [*[2] * 15, *[""] * 15], []),
    "too few pairs": (1, [2] * 30, []),
    "too few pairs, and told to compare": (1, [2] * 30, ["--other-judge"]),
}


async def test_pairs_with_the_same_texts_tell_the_judge_from_the_assistant(
    files: Files, snapshot: SnapshotAssertion
) -> None:
    said = {}
    for name, (same, others, options) in JUDGE_CHANGES.items():
        files.server.script(reply_to)
        before = await files.scored(
            "before", [*FOURS[:same], *scores(*[3, 4] * (len(others) // 2), prompts=OTHERS)]
        )
        files.server.script(strict)
        source = files.write("now", [*FOURS[:same], *scores(*others, prompts=OTHERS)])
        done = await files.batch(source, "--compare", before, "--fail-if-worse", *options)
        said[name] = files.said(done)
    assert together(said) == snapshot


def labelled(score: str, words: int, labels: int) -> Rows:
    """Replies of so many words, which the judge gives this score, and people a 3 or 4 as far as
    they have labels.
    """
    return [
        {
            "prompt": prompt,
            "completion": f"{score}\n{'word ' * words}{n}",
            "human": 3 + n % 2 if n < labels else None,
        }
        for n, prompt in enumerate(QUESTIONS)
    ]


LABELS = {
    "labels of enough": (24, ["--label", "human"]),
    "of few": (9, ["--label", "human"]),
    "of no field": (24, []),
}


async def test_labels_in_both_files_correct_the_difference(
    files: Files, snapshot: SnapshotAssertion
) -> None:
    # The judge gives the replies of now a point more, and people do not.
    said = {}
    for name, (labels, options) in LABELS.items():
        before = await files.scored("before", labelled("3", 10, labels))
        now = files.write("now", labelled("4", 60, labels))
        done = await files.batch(now, "--compare", before, "--fail-if-worse", *options)
        said[name] = files.said(done)
    assert together(said) == snapshot


async def test_a_stricter_person_is_not_taken_for_a_worse_assistant(files: Files) -> None:
    # Ben, who gives two points more, labels most of the earlier replies, Ann of the current ones,
    # and both eight.
    def given(by: str, human: int, words: int) -> Rows:
        both = {"human": [2, 4], "label_by": ["ann", "ben"]}
        alone = {"human": human, "label_by": by}
        return [
            row | (both if n < 8 else alone) for n, row in enumerate(labelled("3", words, 0)[:24])
        ]

    before = await files.scored("before", given("ben", 4, 10))
    source = files.write("now", given("ann", 2, 11))
    said = files.said(
        await files.batch(source, "--compare", before, "--fail-if-worse", "--label", "human")
    )
    assert "corrected by the labels of 24, if people were" in " ".join(said.split())
    assert said.endswith("exit code 0")


def given_by(by: str, human: int, words: int) -> Rows:
    return [
        row | {"human": human, "label_by": by}
        for row in labelled("3" if words == 10 else "4", words, 0)[:24]
    ]


async def test_labels_of_other_people_correct_no_difference(files: Files) -> None:
    # Ann gives two points less than Ben, and no reply has labels of both.
    before = await files.scored("before", given_by("ben", 4, 10))
    source = files.write("now", given_by("ann", 2, 11))
    said = files.said(
        await files.batch(source, "--compare", before, "--fail-if-worse", "--label", "human")
    )
    why = "(not corrected: each side has other people's labels, and they share no reply): +1.00"
    assert why in " ".join(said.split())
    assert said.endswith("clearly better than before.scored.\nexit code 0")


async def test_labels_of_replies_that_were_chosen_correct_no_difference(files: Files) -> None:
    # Of 40 replies, those that the judge gives 1 have a label.
    def rows(words: int) -> Rows:
        return [
            row | {"completion": f"{1 if n < 22 else 5}\n{'word ' * words}"}
            for n, row in enumerate(labelled("3", words, 22))
        ]

    before = await files.scored("before", rows(10))
    source = files.write("now", rows(11))
    said = files.said(
        await files.batch(source, "--compare", before, "--fail-if-worse", "--label", "human")
    )
    assert "they do not stand for them): +0.00" in " ".join(said.split())


async def test_a_check_that_nothing_could_fail_cannot_tell(files: Files) -> None:
    before = await files.scored("before", scores(4, 4, 5))
    source = files.write("now", scores(1, 2, 0))
    said = files.said(await files.batch(source, "--compare", before, "--fail-if-worse"))
    assert (
        "3 independent pairs cannot show a drop on this scale; 22 would show one of a point" in said
    )
    assert said.endswith("exit code 2")


async def test_replies_that_cannot_get_worse_pass(files: Files) -> None:
    before = await files.scored("before", scores(*[0] * 40))
    source = files.write("now", scores(*["0 "] * 40))
    said = files.said(await files.batch(source, "--compare", before, "--fail-if-worse"))
    assert said.endswith("not clearly worse than before.scored.\nexit code 0")


NEW_WEEK = [f"How far is it from {n} to {n}, and why do people ask?" for n in range(40)]


async def test_outputs_without_a_common_question_are_compared_by_their_means(
    files: Files, snapshot: SnapshotAssertion
) -> None:
    said = {}
    worlds = {
        "as good": ([3, 4] * 20, []),
        "worse": ([2, 1] * 20, []),
        "worse, and told to compare": ([2, 1] * 20, ["--other-questions"]),
        # Within each topic nothing has changed, but there are more questions on the hard one.
        "within topics": ([2, 2, 2, 4] * 10, ["--by", "topic"]),
        "too few": ([2, 2], []),
    }
    for name, (now, options) in worlds.items():
        earlier = scores(*[4, 4, 4, 2] * 10)
        later = scores(*now, prompts=NEW_WEEK)
        for row in (*earlier, *later):
            row["topic"] = "hard" if row["completion"] == "2" else "easy"
            row["completion"] += "\n" + row["prompt"]
        before = await files.scored("before", earlier)
        source = files.write("now", later)
        done = await files.batch(source, "--compare", before, "--fail-if-worse", *options)
        said[name] = files.said(done)
    assert together(said) == snapshot


async def test_a_label_off_the_scale_is_refused_with_its_line(files: Files) -> None:
    before = await files.scored("before", scores(4, human=70))
    source = files.write("now", scores(4, human=70))
    done = await files.batch(source, "--compare", before, "--label", "human")
    assert (
        done.returncode,
        "before.scored, line 1: label 70 is off the scale 0 to 5" in done.stderr,
    ) == (2, True)
    done = await files.batch(source, "--compare", before, "--label", "human", "--scale", "0-100")
    assert done.returncode == 0


async def test_without_an_order_to_fail_a_worse_output_is_only_told(files: Files) -> None:
    before = await files.scored("before", FOURS)
    asked = len(files.server.requests)
    done = await files.batch(files.write("told", scores(*[3] * 40)), "--compare", before)
    assert (done.returncode, "\nCompared: clearly worse than" in done.stdout) == (0, True)
    await files.batch(files.folder / "told", "--compare", before)
    assert len(files.server.requests) == asked + 40  # nothing is scored twice


async def test_a_reply_that_cannot_be_read_counts_as_no_score(files: Files) -> None:
    def said(*answer: dict[str, object]) -> str:
        return f"{json.dumps({'messages': [{'role': 'user', 'content': 'Why?'}, *answer]})}\n"

    picture = [{"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}]
    unread: list[list[dict[str, object]]] = [[], [{"role": "tool", "content": "4"}]]
    unread.append([{"role": "assistant", "content": picture}])
    empty: list[dict[str, object]] = [
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": " "},
    ]
    source = files.write("now", scores(*[4] * 10))
    source.write_text(
        source.read_text() + "".join(said(*each) for each in unread) + "".join(map(said, empty))
    )
    done = await files.batch(source, "--fail-under", 0)
    assert "counted as 0: 2.\nOther unscored rows: 3.\n" in done.stdout


async def test_files_that_cannot_be_compared_are_refused_before_any_request(files: Files) -> None:
    before = await files.scored("before", scores(4))
    source = files.write("now", scores(4))
    asked = len(files.server.requests)
    fields = json.loads(before.read_text())
    again = (
        "scores of two judges do not compare. Score the earlier responses again with the "
        "present judge, or name people's labels with --label, to see which judge is closer to "
        "them."
    )
    lines = {
        f"line 1: judged with samples 3, now 1; {again}\n": json.dumps({**fields, "samples": 3}),
        "line 1: judged with model 'n', now 'm'": json.dumps({**fields, "model": "n"}),
        "line 1: judged with rubric_version None, now 'f846c469'": json.dumps(
            {**fields, "rubric_version": None}
        ),
        "line 1: score 7 is not a whole number from 0 to 5; give JSONL that": json.dumps(
            {**fields, "score": 7}
        ),
        (
            "line 1: no score; give JSONL that 'judge batch' wrote."
        ): '{"prompt": "a", "completion": "b"}',
        "line 1: not JSON": before.read_text()[:90],
        "there is no row to compare with": "\n",
    }
    options = {
        "name the earlier output with --compare": ("--fail-if-worse",),
        "Markdown would damage the rows": ("--summary", files.folder / "old.jsonl"),
        "no mean reaches it on the scale 0 to 5": ("--fail-under", 70),
        "no such file": ("--compare", files.folder / "none"),
        "--label humann: no row of": ("--compare", before, "--label", "humann"),
    }
    for said in (*lines, *options):
        (files.folder / "other").write_text(lines.get(said, ""))
        done = await files.batch(source, *options.get(said, ("--compare", files.folder / "other")))
        assert (done.returncode, said in done.stderr, done.stdout) == (2, True, ""), done.stderr
    assert len(files.server.requests) == asked
    done = await files.batch(files.folder / "before", "--compare", before)
    assert (done.returncode, "that is the output" in done.stderr) == (2, True)


async def test_the_summary_is_appended_and_shows_the_largest_drops_as_plain_text(
    files: Files,
) -> None:
    hostile = "a | b `c` <img src=x> @octocat\n| **d** | [e](https://f.example) &amp; \\| #1"
    prompts = [hostile, "x" * 200, "one", "two", "same"]
    before = await files.scored("before", scores(*[5] * 5, prompts=prompts))
    summary = files.folder / "summary.md"
    summary.write_text("Of another step.\n")
    for name, given in (("now", (0, 1, 4, 3, 5)), ("unchanged", [5] * 5)):
        source = files.write(name, scores(*given, prompts=prompts))
        await files.batch(source, "--compare", before, "--fail-under", 4, "--summary", summary)
    text = summary.read_text()
    assert text.startswith("Of another step.\n\n### Check failed\n")
    assert (text.count("### Check passed"), text.count("fell most")) == (1, 1)
    inline = [
        each
        for each in MarkdownIt("commonmark").enable("table").parse(text)
        if each.type == "inline"
    ]
    cells = [[child.content for child in each.children or ()] for each in inline]
    start = cells.index(["fell most"]) + 3
    assert cells[start : start + 3] == [
        ["<code>", " ".join(hostile.split()), "</code>"],
        ["5"],
        ["0"],
    ]
    assert cells[start + 3 : start + 6] == [["<code>", "x" * 79 + "…", "</code>"], ["5"], ["1"]]
    assert cells[start + 6 : start + 9] == [["<code>", "two", "</code>"], ["5"], ["3"]]
    assert ["<code>", "one", "</code>"] not in cells
    assert "| mean of the other pairs (n = 4) | 5.00 | 2.00 |" in text


async def test_names_in_the_output_are_no_commands_to_github(files: Files) -> None:
    # In a sentence of the summary, the last command comes to the beginning of a line.
    name = "\n::error::a\n \u200b::warning::b ##[error]c " + "x" * 70 + " ::add-mask::d"
    before = await files.scored(f"before{name}", scores(*[4] * 9))
    dones = [await files.batch(files.write(f"now{name}", scores(*[4] * 9)), "--compare", before)]
    (files.folder / "odd").write_text(json.dumps({name: 1}))
    dones += [
        await files.batch(files.folder / "odd"),
        await files.batch(files.folder / f"none{name}"),
    ]
    assert all("add-mask" in done.stdout + done.stderr for done in dones)
    lines = [
        line.strip(" \u200b") for done in dones for line in (done.stdout + done.stderr).splitlines()
    ]
    assert not [line for line in lines if line.startswith("::") or "##[" in line]


async def test_an_output_without_a_row_fails_beside_an_earlier_one(files: Files) -> None:
    before = await files.scored("before", scores(4))
    source = files.folder / "now"
    source.write_text('{"no": "question"}\n')
    done = await files.batch(source, "--compare", before, "--fail-if-worse")
    assert (done.returncode, "no row has a score" in done.stdout) == (1, True)
