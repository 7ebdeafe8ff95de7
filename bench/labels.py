"""What labels make of a comparison: `python -m bench.labels [SAMPLES]`.

Two files of 200 replies of one assistant, equally good, of which some have labels from 0 to 5.

*Other people*: Ann labels the replies before, Ben those of now, and a part of them both. Ben gives
less, the same share of everything else is equal. Printed is how often the comparison says worse or
better, how often labels correct it, and how often it says that they are other people's.

*Drift*: Ann labels both, and gives less by the second; a part has labels of Ben, too. The same in
one file of 1,000 replies of which 100 have labels, and Ann gives less from the middle on: how often
the range of the mean holds the truth, which is what both together would give to all, and how often
it is said.

*Annoyed*: of one file, people label the bad replies more often than the good ones. Printed is how
often the range of the mean holds the truth where it is corrected, and how often it is not.

*Few pairs*: how often a drop is clear that is said to be clear in 4 of 5 comparisons.
"""

import sys

import numpy as np

from judge.evaluation.comparison import Comparison
from judge.evaluation.estimate import Response, correct
from judge.evaluation.outputs import Output, OutputRow
from judge.evaluation.severity import Given
from judge.scoring.rubric import Scale

SCALE = Scale(0, 5)
REPLIES = 200
Floats = np.ndarray


def whole(values: Floats) -> Floats:
    return np.asarray(np.clip(np.rint(values), *SCALE))


def scores_of(quality: Floats, correlation: float, generator: np.random.Generator) -> Floats:
    z = (quality - 3.2) / 1.2
    chance = generator.normal(size=len(quality))
    return whole(3 + 1.3 * (correlation * z + (1 - correlation**2) ** 0.5 * chance)).astype(int)


def to_row(number: int, prompt: int, score: int, given: Given = ()) -> OutputRow:
    return OutputRow(
        line=number,
        prompt=prompt,
        texts=None,
        answer=None,
        score=score,
        is_judged=True,
        given=given,
        cluster=prompt,
        group=None,
        question=prompt,
        words=10,
    )


def side(
    quality: Floats,
    people: dict[str, float],
    labels: int,
    shared: float,
    first_prompt: int,
    generator: np.random.Generator,
) -> Output:
    """A file whose first labels are by the first of the people, who give so much more."""
    scores = scores_of(quality, 0.6, generator)
    rows = []
    for number in range(REPLIES):
        given: list[tuple[str, float]] = []
        is_shared = generator.random() < shared
        for person, more in list(people.items())[: 1 + is_shared]:
            label = whole(quality[number : number + 1] + more + generator.normal(0, 0.6))
            given.append((person, float(label[0])))
        if number >= labels:
            given = []
        rows.append(to_row(number, first_prompt + number, int(scores[number]), given))
    return Output(rows, scored=REPLIES)


def two_files(
    before: dict[str, float],
    now: dict[str, float],
    labels: int,
    shared: float,
    generator: np.random.Generator,
    *,
    is_paired: bool,
) -> Comparison:
    quality = generator.normal(3.2, 1.2, REPLIES)
    later = generator.normal(3.2, 1.2, REPLIES)
    if is_paired:
        later = 3.2 + 0.7 * (quality - 3.2) + generator.normal(0, 0.86, REPLIES)
    return Comparison(
        side(quality, before, labels, shared, 0, generator),
        side(later, now, labels, shared, 0 if is_paired else REPLIES, generator),
        SCALE,
    )


def tell(name: str, found: list[Comparison]) -> None:
    n = len(found)
    parts = {
        "worse": sum(each.outcome == "clearly worse" for each in found),
        "better": sum(each.outcome == "clearly better" for each in found),
        "corrected": sum(each.people is not None for each in found),
        "said": sum("people's" in each.why_not for each in found),
    }
    said = ", ".join(f"{what} {100 * number / n:.0f}%" for what, number in parts.items())
    print(f"{name}: {said}", flush=True)


def other_people(samples: int) -> None:
    for is_paired in (True, False):
        for labels in (40, 80):
            for less in (0.0, 0.5, 1.0):
                for shared in (0.0, 0.05, 0.15, 0.3):
                    generator = np.random.default_rng(67)
                    now = {"ben": -less, "ann": 0.0}
                    before = {"ann": 0.0, "ben": -less}
                    found = [
                        two_files(before, now, labels, shared, generator, is_paired=is_paired)
                        for _ in range(samples)
                    ]
                    way = "pairs" if is_paired else "means"
                    tell(f"{way}, {labels} labels, {less:g} less, {shared:.0%} shared", found)


def drift(samples: int) -> None:
    for less in (0.0, 0.8, 1.5):
        for shared in (0.0, 0.2):
            generator = np.random.default_rng(67)
            before = {"ann": 0.0, "ben": 0.0}
            now = {"ann": -less, "ben": 0.0}
            found = [
                two_files(before, now, 60, shared, generator, is_paired=False)
                for _ in range(samples)
            ]
            tell(f"one labeller drifts by {less:g}, {shared:.0%} shared", found)


def drift_within(samples: int) -> None:
    for less in (0.0, 0.8, 1.5):
        for shared in (0.0, 0.2, 0.4):
            generator = np.random.default_rng(67)
            held = said = corrected = 0
            for _ in range(samples):
                quality = generator.normal(3.2, 1.2, 1000)
                scores = scores_of(quality, 0.6, generator)
                responses = []
                for n, score in enumerate(scores):
                    given = []
                    if n % 10 == 0:
                        by = {"ann": -less * (n >= 500)}
                        if generator.random() < shared:
                            by["ben"] = 0.0
                        for person, more in by.items():
                            label = whole(quality[n : n + 1] + more + generator.normal(0, 0.6))
                            given.append((person, float(label[0])))
                    responses.append(Response(str(n), {"m": float(score)}, (), blind=given))
                found = correct(responses, "m", SCALE)
                assert found
                mean = found.mean.corrected
                drifted = -less * (np.arange(1000) >= 500)
                noise = generator.normal(0, 0.6, 1000)
                truth = (whole(quality + drifted + noise) + whole(quality + noise)).mean() / 2
                corrected += mean is not None
                held += bool(mean and (mean.low or 0) <= truth <= (mean.high or 0))
                said += any("stricter" in each for each in found.caveats)
            print(
                f"in one file, drift by {less:g}, {shared:.0%} shared: holds in "
                f"{100 * held / max(corrected, 1):.0f}%, said in {100 * said / samples:.0f}%",
                flush=True,
            )


def annoyed(samples: int) -> None:
    for correlation in (0.3, 0.6, 0.8):
        for pull in (0.0, 0.5, 1.0):
            generator = np.random.default_rng(67)
            held = refused = 0
            for _ in range(samples):
                quality = generator.normal(3.2, 1.2, 1000)
                labels = whole(quality)
                chances = np.exp(-pull * (quality - 3.2))
                chosen = generator.choice(1000, 80, replace=False, p=chances / chances.sum())
                given = {int(each): [("ann", float(labels[each]))] for each in chosen}
                scores = scores_of(quality, correlation, generator)
                responses = [
                    Response(str(n), {"m": float(score)}, (), blind=given.get(n, ()))
                    for n, score in enumerate(scores)
                ]
                found = correct(responses, "m", SCALE)
                mean = found.mean.corrected if found else None
                if mean is None or mean.low is None or mean.high is None:
                    refused += 1
                else:
                    held += bool(mean.low <= labels.mean() <= mean.high)
            share = f"{100 * held / max(samples - refused, 1):.0f}%"
            print(
                f"judge {correlation}, pull {pull}: corrected ranges hold in {share}, "
                f"not corrected {100 * refused / samples:.0f}%",
                flush=True,
            )


def few_pairs(samples: int) -> None:
    for n in (4, 8, 15, 30):
        for spread in (0.5, 1.0):
            generator = np.random.default_rng(67)
            said = clear = 0
            for _ in range(samples):
                pilot = compared(n, spread, 0.0, generator)
                drop = pilot.seen
                if drop is None or not pilot.could_fail:
                    continue
                said += 1
                clear += compared(n, spread, drop, generator).outcome == "clearly worse"
            share = f"{100 * clear / said:.0f}%" if said else "–"
            print(
                f"{n} pairs, spread {spread}: clear in {share}; cannot tell in "
                f"{100 * (samples - said) / samples:.0f}%",
                flush=True,
            )


def compared(n: int, spread: float, drop: float, generator: np.random.Generator) -> Comparison:
    before = generator.choice((3, 4), n)
    now = whole(before - drop + generator.normal(0, spread, n)).astype(int)
    outputs = [
        Output([to_row(at, at, int(score)) for at, score in enumerate(scores)], scored=n)
        for scores in (before, now)
    ]
    return Comparison(outputs[0], outputs[1], SCALE)


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for part in (other_people, drift, drift_within, annoyed, few_pairs):
        part(number)
