"""`judge batch` as a check: a minimum mean, a comparison with an earlier output, a summary in
Markdown.

The verdicts are written into the outputs beforehand: their judge takes the first word of a response
for its score.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from syrupy.assertion import SnapshotAssertion

from judge import Judge, Rating, Unscored, Verdict
from judge.rows.batch import identity_of
from judge.rows.journal import Journal
from judge.rows.row_file import Row, to_added
from judge.scoring.attacks import nothing_to_judge
from judge.scoring.ratings import UnscoredReason, combine
from tests.judge_command import Done, run
from tests.row_files import write
from tests.tables import each

Rows = list[Any]

JUDGE = Judge("m", samples=1)
QUESTIONS = [f"What is {n} and {n}?" for n in range(40)]
OTHERS = [f"What is {n} less {n}?" for n in range(30)]
NEW_WEEK = [f"How far is it from {n} to {n}, and why do people ask?" for n in range(40)]


def scores(*scores: object, prompts: list[str] = QUESTIONS, **fields: object) -> Rows:
    return [
        {"prompt": p, "completion": str(s), **fields} for p, s in zip(prompts, scores, strict=False)
    ]


def verdict_on(row: Row, served: str, less: Sequence[int]) -> Verdict:
    question, response, _ = row.dialogue
    word = response.partition("\n")[0].strip()
    why = nothing_to_judge(question, response)
    if why is None and word.isdigit():
        said = Rating(
            score=int(word) - less[row.line % len(less)],
            justification="So it is.",
            raw="",
            model="m",
            served=served,
            cost_usd=0.0,
        )
        return combine([said], rubric=JUDGE.rubric, model="m", ask=None)
    why = why or Unscored(reason=UnscoredReason.NO_SCORE, detail="It has none.")
    return JUDGE.unscored(why)


class Files:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def scored(self, name: str, rows: Rows, served: str = "m", less: Sequence[int] = (0,)) -> Path:
        """A file of these rows; the output with their verdicts, by a judge that gives so much
        less in turn, is beside it.
        """
        source = write(self.folder / name, *rows)
        output = self.folder / f"{name}.scored"
        output.unlink(missing_ok=True)
        with Journal(output, identity_of(JUDGE)) as journal:
            for line, fields in enumerate(rows, 1):
                if isinstance(fields, dict):
                    row = Row(line, fields)
                    journal.write(row, to_added(verdict_on(row, served, less), 1))
        return source

    def batch(self, source: Path, *options: object) -> Done:
        call = ("batch", source, "-o", f"{source}.scored", "--samples", 1, "--model", "m", *options)
        return run(*call, OPENAI_API_KEY="k", OPENAI_BASE_URL="http://127.0.0.1:9")

    def checked(
        self, rows: Rows, *options: object, served: str = "m", less: Sequence[int] = (0,)
    ) -> str:
        """What the command says of its check, each sentence on one line, and its exit code."""
        done = self.batch(self.scored("now", rows, served, less), *options)
        said = done.stdout[done.stdout.index("Scored rows") :].replace(f"{self.folder}/", "")
        figures, check, result = said.partition("Check ")
        figures = re.sub(r"\n(?![A-Z]|$)", " ", figures)
        return f"{figures}{check}{' '.join(result.split())} Exit code {done.returncode}."

    def compared(self, now: Rows, before: Rows, *options: object, **judge: Any) -> str:
        self.scored("before", before)
        earlier = self.folder / "before.scored"
        return self.checked(now, "--compare", earlier, "--fail-if-worse", *options, **judge)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


FOURS = scores(*[4] * 40)
TWO = {"prompts": QUESTIONS[:2] * 20}
MEANS = {  # of the rows alone: at least how much is wanted, and the rows
    # With four rows the interval reaches at least 3/4 of the way from the mean to each end of the
    # scale.
    "at the limit": (3.5, scores(3, 4, 4, 3, "none")),
    "at the limit, of enough": (4, FOURS),
    "below the limit by less than is shown": (3.67, scores(3, 4, 4)),
    "of no score": (0, scores("?", "?")),
    "of fewer than half, the others empty": (0, scores(*[4] * 5, *[""] * 25)),
    "with replies with nothing to judge": (3, scores(*[4] * 20, *[""] * 10)),  # 20 * 4 / 30 = 2.67
    "with an empty question": (4, scores("Fine.", 4, prompts=["", "a"])),
}


def labelled(score: int, words: int, labels: int = 24, **fields: object) -> Rows:
    """Replies of so many words, which the judge gives this score, and people a 3 or 4: so many
    labels are blind, others given after the judge's score was seen.
    """
    return [
        {
            "prompt": prompt,
            "completion": f"{score}\n{'word ' * words}{n}",
            "human": 3 + n % 2 if n < 24 else None,
            **(fields if n < labels else {"blind": False}),
        }
        for n, prompt in enumerate(QUESTIONS)
    ]


def by_two(by: str, human: int, words: int) -> Rows:
    """Labels of one person, but for eight that Ann and Ben gave both; Ben gives two points more."""
    rows = labelled(3, words, human=human, label_by=by)
    for row in rows[:8]:
        row |= {"human": [2, 4], "label_by": ["ann", "ben"]}
    return rows


def of_topics(*scores_given: int, prompts: list[str] = QUESTIONS) -> Rows:
    rows = scores(*scores_given, prompts=prompts)
    for row in rows:
        row["topic"] = "hard" if row["completion"] == "2" else "easy"
        row["completion"] += "\n" + row["prompt"]
    return rows


def numbered(*scores_given: int, prompts: list[str] = QUESTIONS) -> Rows:
    rows = scores(*scores_given, prompts=prompts)
    for number, row in enumerate(rows):
        row["prompt_id"] = number
    return rows


LABELLED = ["--label", "human"]
EARLIER = of_topics(*[4, 4, 4, 2] * 10)
COMPARISONS: dict[str, tuple[Rows, Rows, list[str]]] = {
    # what is compared, with what, and options
    "about the same": (scores(*[3, 5, 4, 4] * 9, 3, 3, 4, 4), FOURS, []),
    # The thirty that a cache gave again do not show that the judge is the same.
    "worse": (scores(*[4] * 30, *[3] * 10), FOURS, []),
    "in one thread": (scores(*[3, 4] * 20, thread="t"), FOURS, []),
    "of two prompts, not 40": (scores(*[3, 4] * 20, **TWO), scores(*[4] * 40, **TWO), []),
    "few pairs": (scores(1, 2, 0), scores(4, 4, 5), []),
    "that cannot get worse": (scores(*["0 "] * 40), scores(*[0] * 40), []),
    # b falls from 3 to 1, and the first a is the second of before.
    "paired by prompt in order": (
        scores(1, 1, "none", 4, 4, 0, prompts=["b", "a", "a", "c", "new", "a"]),
        scores(5, 1, 3, 2, "none", prompts=["a", "a", "b", "gone", "c"]),
        [],
    ),
    "paired by id, one with another question": (
        numbered(4, 3, 2, prompts=["New.", "b", "c"]),
        numbered(5, 5, 5, prompts=["The 1st.", "b", "c"]),
        [],
    ),
    "with few questions in common": (
        scores(*[4] * 30, prompts=[QUESTIONS[0], *(f"another {n}" for n in range(29))]),
        scores(*[4] * 30),
        [],
    ),
    "clearly more unscored": (scores(*[4, "none"] * 20), FOURS, []),
    "with nothing to judge": (scores(*[4] * 20, *[""] * 10), scores(*[4] * 30), []),  # 20 * 4 / 30
    # The judge gives the replies of now a point more, and people do not.
    "with labels of enough": (labelled(4, 60), labelled(3, 10), LABELLED),
    "with few blind labels": (labelled(4, 60, 9), labelled(3, 10, 9), LABELLED),
    # Most of the labels were Ben's, and now are Ann's.
    "with a stricter person": (by_two("ann", 2, 11), by_two("ben", 4, 10), LABELLED),
    "with another person, and no shared reply": (
        labelled(4, 11, human=2, label_by="ann"),
        labelled(3, 10, human=4, label_by="ben"),
        LABELLED,
    ),
    "with labels of chosen replies": (  # those that the judge gives 1
        [*labelled(1, 11, 22)[:22], *labelled(5, 11, 22)[22:]],
        [*labelled(1, 10, 22)[:22], *labelled(5, 10, 22)[22:]],
        LABELLED,
    ),
    "of other questions, as good": (of_topics(*[3, 4] * 20, prompts=NEW_WEEK), EARLIER, []),
    "of other questions, worse, and told to compare": (
        of_topics(*[2, 1] * 20, prompts=NEW_WEEK),
        EARLIER,
        ["--other-questions"],
    ),
    # Within each topic nothing has changed, but there are more questions on the hard one.
    "of other questions, within topics": (
        of_topics(*[2, 2, 2, 4] * 10, prompts=NEW_WEEK),
        EARLIER,
        ["--by", "topic"],
    ),
    # Worse on the easy questions, and better on the hard ones.
    "of the same questions, by topic": (
        of_topics(*[3, 5, 3, 4] * 10),
        EARLIER,
        ["--by", "topic"],
    ),
    "of other questions, too few": (of_topics(2, 2, prompts=NEW_WEEK), EARLIER, []),
}
JUDGE_CHANGES: dict[str, tuple[int, list[object], list[str], list[int]]] = {
    # pairs with the same texts, other scores, options, and how much less another model gives
    "all pairs with the same texts": (40, [], [], [1]),
    "enough pairs, the others worse": (30, [2] * 30, [], [1]),
    "enough pairs, and no clear change": (30, [2] * 30, [], [1, -1]),
    "clear with few pairs, some others empty": (10, [*[2] * 15, *[""] * 15], [], [1]),
    "too few pairs": (1, [2] * 30, [], [1]),
    "too few pairs, and told to compare": (1, [2] * 30, ["--other-judge"], [1]),
}


def together(said: dict[str, str]) -> str:
    """The first text, and of the others what is new; figures that they do not have are named."""
    usual, *_ = (text.splitlines() for text in said.values())
    parts = ["\n".join(usual)]
    for name, text in said.items():
        lines = text.splitlines()
        names = {_name(line) for line in lines}
        missing = [f"- {_name(line)}" for line in usual[:-1] if _name(line) not in names]
        new = [line for line in lines[:-1] if line not in usual]
        parts.append("\n".join([f"== {name}", *missing, *new, lines[-1]]))
    return "\n".join(parts)


def _name(figure: str) -> str:
    return re.split(" ?[:(]", figure)[0]


def test_a_check_of_the_mean_reads_as_in_the_snapshot(
    files: Files, snapshot: SnapshotAssertion
) -> None:
    said = {
        name: files.checked(rows, "--fail-under", least) for name, (least, rows) in MEANS.items()
    }
    assert together(said) == snapshot


def test_a_comparison_reads_as_in_the_snapshot(files: Files, snapshot: SnapshotAssertion) -> None:
    said = {
        name: files.compared(now, before, *options)
        for name, (now, before, options) in COMPARISONS.items()
    }
    assert together(said) == snapshot


def test_pairs_with_the_same_texts_tell_the_judge_from_the_assistant(
    files: Files, snapshot: SnapshotAssertion
) -> None:
    said = {}
    for name, (same, others, options, less) in JUDGE_CHANGES.items():
        before = [*FOURS[:same], *scores(*[3, 4] * (len(others) // 2), prompts=OTHERS)]
        now = [*FOURS[:same], *scores(*others, prompts=OTHERS)]
        said[name] = files.compared(now, before, *options, served="m-2", less=less)
    assert together(said) == snapshot


def test_a_label_off_the_scale_is_refused_with_its_line(files: Files) -> None:
    files.scored("before", scores(4, human=70))
    source = files.scored("now", scores(4, human=70))
    options = ("--compare", files.folder / "before.scored", "--label", "human")
    done = files.batch(source, *options)
    assert done.returncode == 2
    assert "before.scored, line 1: label 70 is off the scale 0 to 5" in done.stderr
    assert files.batch(source, *options, "--scale", "0-100").returncode == 0


def test_without_an_order_to_fail_a_worse_output_is_only_told(files: Files) -> None:
    files.scored("before", FOURS)
    source = files.scored("told", scores(*[3] * 40))
    compare = ("--compare", files.folder / "before.scored")
    for options, said in ((), "\nCompared: clearly worse"), (("--fail-under", 2), "clearly worse"):
        done = files.batch(source, *compare, *options)
        assert (done.returncode, said in done.stdout) == (0, True)


def test_a_reply_that_cannot_be_read_counts_as_no_score(files: Files) -> None:
    def said(*answer: dict[str, object]) -> dict[str, object]:
        return {"messages": [{"role": "user", "content": "Why?"}, *answer]}

    picture = [{"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}]
    unread = [said(), said({"role": "assistant", "content": picture})]
    empty = said({"role": "assistant", "content": None})
    told = files.checked([*scores(*[4] * 10), *unread, empty], "--fail-under", 0)
    assert "counted as 0: 1.\nUnscored rows: 2.\n" in told


@each(
    ("change", "options", "said"),
    [
        ({"samples": 3}, (), "line 1: judged with samples 3, now 1; scores of two judges do not"),
        ({"model": "n"}, (), "line 1: judged with model 'n', now 'm'"),
        ({"score": 7}, (), "line 1: score 7 is not a whole number from 0 to 5; give JSONL that"),
        ({}, ("--label", "humann"), "--label humann: no row of"),
        (None, (), "there is no row to compare with"),
    ],
)
def test_files_that_cannot_be_compared_are_refused_before_any_request(
    files: Files, change: dict[str, Any] | None, options: tuple[object, ...], said: str
) -> None:
    files.scored("before", scores(4))
    fields = json.loads((files.folder / "before.scored").read_text())
    earlier = write(files.folder / "other", "" if change is None else fields | change)
    done = files.batch(write(files.folder / "now", *scores(4)), "--compare", earlier, *options)
    assert (done.returncode, said in done.stderr, done.stdout) == (2, True, ""), done.stderr


@each(
    ("options", "said"),
    [
        (("--fail-if-worse",), "name the earlier output with --compare"),
        (("--compare", "now.scored"), "that is the output"),
    ],
)
def test_an_earlier_output_is_needed_and_another_file(
    files: Files, monkeypatch: pytest.MonkeyPatch, options: tuple[object, ...], said: str
) -> None:
    monkeypatch.chdir(files.folder)
    done = files.batch(files.scored("now", scores(4)), *options)
    assert (done.returncode, said in done.stderr) == (2, True)


def test_the_summary_is_appended_and_shows_the_largest_drops_as_plain_text(files: Files) -> None:
    hostile = "a | b `c` <img src=x> @octocat\n| **d** | [e](https://f.example) &amp; \\| #1"
    prompts = [hostile, "x" * 200, "one", "two", "same"]
    files.scored("before", scores(*[5] * 5, prompts=prompts, team="a | b"))
    summary = files.folder / "summary.md"
    summary.write_text("Of another step.\n")
    for given in ((0, 1, 4, 3, 5), [5] * 5):
        source = files.scored("now", scores(*given, prompts=prompts))
        check = ("--compare", files.folder / "before.scored", "--by", "team", "--fail-under", 4)
        files.batch(source, *check, "--summary", summary)
    text = summary.read_text()
    assert text.startswith("Of another step.\n\n### Check failed\n")
    assert (text.count("### Check passed"), text.count("fell most")) == (1, 1)
    parsed = MarkdownIt("commonmark").enable("table").parse(text)
    inline = [each.children or () for each in parsed if each.type == "inline"]
    cells = ["".join(child.content for child in children) for children in inline]
    start = cells.index("fell most") + 3
    assert cells[start : start + 9] == [
        *(f"<code>{' '.join(hostile.split())}</code>", "5", "0"),
        *(f"<code>{'x' * 79}…</code>", "5", "1"),
        *("<code>two</code>", "5", "3"),
    ]
    assert "<code>within a | b (n = 4, by the judge)</code>" in cells


def test_names_in_the_output_are_no_commands_to_github(files: Files) -> None:
    # In a sentence of the summary, the last command comes to the beginning of a line.
    name = "\n::error::a\n \u200b::warning::b ##[error]c " + "x" * 70 + " ::add-mask::d"
    files.scored(f"before{name}", scores(*[4] * 9))
    source = files.scored(f"now{name}", scores(*[4] * 9))
    done = files.batch(source, "--compare", files.folder / f"before{name}.scored")
    odd = files.batch(write(files.folder / "odd", {name: 1}))
    said = done.stdout + odd.stdout + odd.stderr
    assert said.count("add-mask") >= 3
    assert not re.search(r"^[ \u200b]*::|##\[", said, re.MULTILINE)


def test_an_output_without_a_row_fails_beside_an_earlier_one(files: Files) -> None:
    files.scored("before", scores(4))
    source = write(files.folder / "now", '{"no": "question"}')
    earlier = files.folder / "before.scored"
    done = files.batch(source, "--compare", earlier, "--fail-if-worse")
    assert (done.returncode, "no row has a score" in done.stdout) == (1, True)
