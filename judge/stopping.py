"""When to stop asking: how many more ratings can still matter to a score, and whether asking in turn is cheaper."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, median_low

from judge.model import Completion
from judge.ratings import point


def ratings_needed(scores: Sequence[int], asked: int, samples: int, scale: tuple[int, int]) -> int:
    """How many more ratings it takes, at the least, until no other one can change the verdict's score.

    0 where that is so already, which includes that no majority can be usable any more. Where ratings are unusable, it
    may rarely be one more than the least.

    Args:
        scores: Of the usable ratings so far.
        asked: Ratings so far, usable or not.
        samples: Ratings that a verdict has at the most.
        scale: Lowest and highest score.
    """
    rest = samples - asked
    if 2 * (len(scores) + rest) <= samples:
        return 0
    likeliest = median_low(scores) if scores else scale[0]
    for more in range(rest):
        if _is_settled([*scores, *[likeliest] * more], rest - more, samples, scale):
            return more
    return rest


def _is_settled(scores: Sequence[int], rest: int, samples: int, scale: tuple[int, int]) -> bool:
    """Whether `rest` more ratings, whatever they say or fail to say, leave the score as it is.

    The median lies furthest out where all of them are the lowest score, or all the highest. And it has to be a score,
    so more than half of all ratings must be near it already, wherever it comes to lie between these two.
    """
    ends = [[*scores, *[end] * rest] for end in scale]
    lowest, highest = median(ends[0]), median(ends[1])
    near = sum(highest - point(scale) <= score <= lowest + point(scale) for score in scores)
    return median_low(ends[0]) == median_low(ends[1]) and 2 * near > samples


@dataclass
class Experience:
    """What a model's requests for several answers have cost, and how often the first ratings left the score open.

    Shared by all verdicts of a model, and there for as long as it is: in the beginning nothing is known.
    """

    verdicts: int = 0
    open: int = 0
    requests: int = 0
    answers: int = 0
    prompts_usd: float = 0.0
    answers_usd: float = 0.0

    def note_cost(self, completion: Completion) -> None:
        """Takes in what one request cost, where that is known."""
        if completion.cost_usd is None or completion.prompt_usd is None:
            return
        self.requests += 1
        self.answers += len(completion.choices)
        self.prompts_usd += completion.prompt_usd
        self.answers_usd += completion.cost_usd - completion.prompt_usd

    def note_verdict(self, *, is_open: bool) -> None:
        """Takes in whether the least number of ratings left a score open."""
        self.verdicts += 1
        self.open += is_open

    def is_cheaper_at_once(self, rest: int) -> bool:
        """Whether one request for all ratings costs less than leaving out the last `rest`, and asking again at need.

        False where no price is known.
        """
        if not self.requests:
            return False
        # With a prompt at P and an answer at A, n ratings at once cost P + nA. With the last r of them only at need,
        # which is in the share d of verdicts: P + (n - r)A + d(P + rA). So at once is cheaper where d(P + rA) > rA.
        # At three ratings of 1,000 tokens read and 100 written, these at six times the price: d > 600 / 1,600.
        prompt, more = self.prompts_usd / self.requests, rest * self.answers_usd / self.answers
        share = (self.open + 1) / (self.verdicts + 2)  # Laplace's rule of succession: no share is 0 or 1 after one
        return share * (prompt + more) > more
