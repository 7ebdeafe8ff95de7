"""How often `judge align` finds an improvement, in simulated worlds where the possible gain is
known.

    python -m bench.align [WORLDS] [LABELS]

In each world a scripted judge scores labelled responses, one per thread, and a scripted model
proposes rubrics. "adopted" is the share of the worlds in which a change was clearly better; "by"
splits that share by the way that found the change. "gained" is how many points closer to people's
scores the judge is then, on average.
"""

import asyncio
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from judge import Rating, Rubric, Turn, Unscored, Verdict, load_rubric
from judge.evaluation.align import Asker, Budget, LabelledCase, align
from judge.scoring.judging import Written
from judge.scoring.ratings import Result, UnscoredReason, combine

_WORDS = ("brief", "polite", "sources", "steps")
_ASKED = Budget(requests=1_000, tokens=10_000_000)


@dataclass(frozen=True)
class World:
    """How the judge differs from people: `bias` gets the rubric, whether the response is long, and
    people's score.
    """

    name: str
    bias: Callable[[Rubric, bool, int], int]
    noise: float = 0.2  # of the scores are a point higher, and as many lower
    vague: float = 0.0  # the standard deviation of a further error
    shape: Sequence[int] = (2, 3, 4, 4, 3, 1)  # of people's scores, from 0
    hides: float = 0.0  # the share of its errors that a rubric with examples leaves unscored
    tries: int = 1  # judges alike, one after the other, in one memory of the labels


def until(words: str, points: int = 1) -> Callable[[Rubric, bool, int], int]:
    """A bias for long responses and as much against short ones, until the rubric contains these
    words.
    """
    return lambda rubric, is_long, label: (
        0 if words in rubric.prompt else points if is_long else -points
    )


def none(rubric: Rubric, is_long: bool, label: int) -> int:
    return 0


def narrow(rubric: Rubric, is_long: bool, label: int) -> int:
    """A judge that gives hardly more than 3 and 4, whatever people give."""
    return round(3.6 + 0.3 * (label - 2)) - label


BELL, LOW = (1, 4, 10, 10, 4, 1), (3, 8, 8, 4, 1, 0)
WORLDS = (
    World("nothing to gain", none),
    World("the same, labels of a bell shape", none, noise=0.4, shape=BELL),
    World("the same, a vague judge", none, noise=0, vague=1.3, shape=BELL),
    World("the same, a judge that guesses", none, noise=0, vague=9, shape=BELL),
    World("the same, examples hide half of its errors", none, noise=0.1, hides=0.5),
    World("the same, 20 judges in turn", none, tries=20),
    World("the same, 20 vague ones", none, noise=0, vague=1.3, shape=BELL, tries=20),
    World("a point, by calibration of 3s and 4s", narrow, noise=0, vague=0.6, shape=LOW),
    World("half a point, by calibration", lambda rubric, is_long, label: 1),
    World("half a point, by examples", until("<example ")),
    World("half a point, by a word of the rubric", until("brief")),
)


class Judge:
    """A judge that is off by the world's bias, and at random by a point; always the same for a
    rubric and a case.
    """

    def __init__(self, world: World, rubric: Rubric, labels: Mapping[str, int], seed: int) -> None:
        self._world = world
        self._rubric = rubric
        self._labels = labels
        self._seed = seed
        self.version = rubric.version

    async def score(
        self, question: str, response: str, *, conversation: Sequence[Turn] = ()
    ) -> Verdict:
        generator = random.Random(f"{self._seed} {self._rubric.template} {response}")
        chance = generator.random()
        off = (chance < self._world.noise) - (chance > 1 - self._world.noise)
        off += round(generator.gauss(0, self._world.vague))
        label = self._labels[response]
        score = label + off + self._world.bias(self._rubric, response.endswith("long"), label)
        score = min(max(score, 0), 5)
        rating: Result = Rating(
            score=score, justification="As it seems.", raw="", input_tokens=700, output_tokens=60
        )
        if off and "<example " in self._rubric.prompt and generator.random() < self._world.hides:
            rating = Unscored(reason=UnscoredReason.REFUSED, detail="The model refused.")
        return combine([rating], model="scripted", rubric=self._rubric)

    async def write(self, prompt: str) -> Written:
        """The criteria with one more word, chosen at random."""
        found = re.search(r"criteria:\n```\n(.*?)\n```", prompt, re.DOTALL)
        word = random.Random(f"{self._seed} {prompt}").choice(_WORDS)
        return Written(f"```\n{found[1] if found else ''}\n- Look at {word}.\n```", 1_500)


class Memory(dict[str, Any]):
    async def get(self, key: str) -> Any:  # type: ignore[override]
        return dict.get(self, key)

    async def put(self, key: str, value: Any) -> None:
        self[key] = value


def draw(world: World, prefix: str, number: int, seed: int) -> dict[str, int]:
    """Short and long responses, each with people's score."""
    generator = random.Random(f"{seed} {world.name} {prefix}")
    return {
        f"{prefix} {each} {generator.choice(('short', 'long'))}": generator.choices(
            range(6), world.shape
        )[0]
        for each in range(number)
    }


def to_cases(people: Mapping[str, int]) -> list[LabelledCase]:
    return [LabelledCase(text, text, "Why?", text, label) for text, label in people.items()]


async def run(world: World, labels: int, seed: int) -> tuple[str, float, int]:
    """The way whose change was adopted ("" for none), its true gain, and the number of requests."""
    rubric = load_rubric("additive-5")
    known, others = draw(world, "labelled", labels, seed), draw(world, "other", 1_000, seed)
    people, memory, requests = known | others, Memory(), 0
    for number in range(world.tries):

        def make(by: Rubric, number: int = number) -> Judge:
            judge = Judge(world, by, people, seed + 10_000 * number)
            judge.version += f" {number}" * (world.tries > 1)
            return judge

        asker = Asker(make, memory, _ASKED)
        found = await align(to_cases(known), rubric, asker)
        requests += asker.requests
        if found.better:
            gains = []
            for text, label in others.items():
                before, after = [
                    await _score(make(by), by, text) for by in (rubric, found.better.rubric)
                ]
                if before is not None and after is not None:
                    gains.append(abs(before - label) - abs(after - label))
            return found.better.way.value, fmean(gains), requests
    return "", 0.0, requests


async def _score(judge: Judge, rubric: Rubric, text: str) -> int | None:
    verdict = await judge.score("Why?", text)
    calibration = rubric.calibration
    return calibration.score(verdict.mean or 0) if calibration else verdict.score


async def main(worlds: int, labels: int) -> None:
    print(
        f"{worlds} worlds, labels of {labels} "
        f"threads\n{'':<40}{'adopted':>8}{'gained':>8}{'requests':>10}  by"
    )
    for world in WORLDS:
        results = [await run(world, labels, seed) for seed in range(worlds)]
        adopted = [gain for way, gain, _ in results if way]
        by = Counter(way for way, *_ in results if way)
        gained = f"{fmean(adopted):.2f}" if adopted else "–"
        requests = fmean(requests for *_, requests in results)
        named = ", ".join(f"{way} {number / worlds:.0%}" for way, number in by.most_common())
        print(
            f"{world.name:<40}{len(adopted) / worlds:>8.1%}{gained:>8}{requests:>10.0f}  {named}",
            flush=True,
        )


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    asyncio.run(main(*[*given, *(1_000, 60)[len(given) :]]))
