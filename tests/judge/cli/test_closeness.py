"""`judge batch --compare` with rows of another judge: which of the two is closer to people."""

from typing import Any

from tests.judge.cli.test_check import Files, Rows, files, scores
from tests.judge_command import Done
from tests.row_files import write
from tests.tables import each

__all__ = ["files"]

NAMES = {"rubric": "tone", "rubric_version": "00000000", "model": "m"}


def exported(number: int, before: int, now: object, label: int, **fields: Any) -> Rows:
    """So many rows, as `judge-bot export --texts` writes them; the judge of today gives `now`."""
    own = {"score": before, "human": label, **NAMES, **fields}
    return [
        row | own | {"thread": f"{now} {at}"} | fields
        for at, row in enumerate(scores(*[now] * number))
    ]


def compared(files: Files, rows: Rows, *options: object) -> Done:
    source = files.scored("labelled", rows)
    return files.batch(source, "--compare", source, "--label", "human", *options)


@each(
    ("rows", "said"),
    [
        # The judge before was off by 1 everywhere, this one nowhere.
        (
            exported(30, before=4, now=3, label=3),
            "Mean distance from people's scores: 1.00 before, now 0.00. "
            "Compared: clearly closer to people's scores",
        ),
        # 15 come closer by 1 and 16 go away by 1: (15 - 16) / 31 = -0.03.
        (
            [*exported(15, before=4, now=3, label=3), *exported(16, before=3, now=4, label=3)],
            "Compared: not clearly farther from people's scores than labelled, by 0.03 points",
        ),
        (
            exported(30, before=4, now=3, label=3, thread="one"),
            "30 rows of one thread: too few to tell",
        ),
        (
            exported(30, before=4, now=3, label=3, blind=False),
            "Left out, since their labels were not given blind: 30. Compared: no row has a label",
        ),
        (
            [*exported(5, before=4, now="none", label=3), *exported(20, before=4, now=3, label=3)],
            "without a score by one of the two judges: 5. Labelled rows with a score by both "
            "judges: 20.",
        ),
    ],
)
def test_the_judge_that_is_closer_to_people_is_named(files: Files, rows: Rows, said: str) -> None:
    done = compared(files, rows)
    assert said in " ".join(done.stdout.replace(f"{files.folder}/", "").split())


def test_a_pair_has_the_same_texts(files: Files) -> None:
    # Of two responses to a prompt, each is compared with itself: 2 with 2, and 4 with 4.
    rows = [
        {"prompt": "Why?", "completion": text, "score": int(text), "human": int(text), **NAMES}
        for text in ("2", "4")
    ]
    earlier = write(files.folder / "earlier", *rows)
    now = files.scored("now", rows[::-1])
    done = files.batch(now, "--compare", earlier, "--label", "human")
    assert "Mean distance from people's scores: 0.00 before, now 0.00." in " ".join(
        done.stdout.split()
    )


@each(
    ("before", "options", "error"),
    [
        (9, (), "3 of 3 scores are off the scale 0 to 5"),
        (4, ("--fail-if-worse",), "another judge scored it"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_any_request(
    files: Files, before: int, options: tuple[object, ...], error: str
) -> None:
    source = write(files.folder / "labelled", *exported(3, before=before, now=3, label=3))
    done = files.batch(source, "--compare", source, "--label", "human", *options)
    assert (done.returncode, error in " ".join(done.stderr.split()), done.stdout) == (2, True, "")
