"""The three ways to ask for a score, what goes with each, and all that is set for a judge."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from judge.errors import SetupError
from judge.scoring.decision import DecisionMember
from judge.scoring.distribution import DistributionMember
from judge.scoring.model.chat import ChatModel
from judge.scoring.model.client import PATIENCE_S
from judge.scoring.model.wishes import FLEX, NO_EFFORT, Wishes
from judge.scoring.offline import OFFLINE
from judge.scoring.panel import Member

TEXT = "text"
DISTRIBUTION = "distribution"
DECISION = "decision"
_SAMPLES = 3  # of a single model
USUAL = (
    "How do I move a meeting that repeats every week to another day, without losing its notes?",
    "Open the meeting in your calendar and choose Edit series, not Edit event, so that all later "
    "meetings move too. Pick the new day, save, and choose to tell the guests. The notes move "
    "with each meeting.",
)
"""A question and an answer of usual length."""
MEMBERS = {TEXT: Member, DISTRIBUTION: DistributionMember, DECISION: DecisionMember}


class More(TypedDict, total=False):
    """The rarer arguments of `Judge`, which explains them."""

    effort: str | None
    options: Mapping[str, Any] | str | None
    tier: str | None
    answer_tokens: int | None
    points: bool


@dataclass(frozen=True)
class Settings:
    """What is set for a judge, beside its rubric. Raises SetupError if it does not go together."""

    models: tuple[str, ...]
    samples: int | None  # None: as usual
    timeout_s: float
    ask: str
    wishes: Wishes
    points: bool

    def __post_init__(self) -> None:
        self._check_models()
        for why in self._problems():
            raise SetupError(why)

    def _check_models(self) -> None:
        listed = ", ".join(map(repr, self.models))
        if not self.models or not all(self.models):
            raise SetupError(
                f"JUDGE_MODEL names the models {listed or 'not at all'}; write one name "
                "between two commas."
            )
        if len(set(self.models)) < len(self.models):
            raise SetupError(
                f"JUDGE_MODEL names a model twice ({listed}); raise JUDGE_SAMPLES to ask one "
                "model again."
            )
        if self.is_offline and len(self.models) > 1:
            raise SetupError(
                f"JUDGE_MODEL is {listed}, but {OFFLINE!r} is not a model and cannot be on a "
                "panel; leave it out."
            )

    def _problems(self) -> Iterator[str]:
        leave_out = "leave one of the two out."
        samples = self.ratings
        if not isinstance(samples, int) or samples < 1:
            yield (
                f"JUDGE_SAMPLES is {samples!r}, and a verdict needs at least 1 rating; set "
                "1 or more."
            )
        if not self.timeout_s > 0:
            yield f"JUDGE_TIMEOUT_S is {self.timeout_s!r}, and a verdict takes time; set it above 0."
        if self.ask not in MEMBERS:
            yield f"JUDGE_ASK is {self.ask!r}; it is text, distribution or decision."
        if self.ask != TEXT and self.is_offline:
            yield f"JUDGE_ASK is {self.ask!r}, and {OFFLINE!r} is not a model; {leave_out}"
        if not self.decides:
            return
        if samples > 1:
            yield f"JUDGE_SAMPLES is {samples}, and a decision is one rating; {leave_out}"
        for name, wish in (("EFFORT", self.wishes.effort), ("TIER", self.wishes.tier)):
            if wish:
                yield f"JUDGE_{name} is {wish!r}, which decisions do not have; {leave_out}"

    @property
    def is_offline(self) -> bool:
        return OFFLINE in self.models

    @property
    def decides(self) -> bool:
        return self.ask == DECISION

    @property
    def usual_ratings(self) -> int:
        """How many ratings each model is asked for if nothing else is said."""
        is_one = self.decides or self.is_offline or len(self.models) > 1
        return 1 if is_one else _SAMPLES

    @property
    def ratings(self) -> int:
        return self.usual_ratings if self.samples is None else self.samples

    @property
    def answer_s(self) -> float:
        """How long one answer may take."""
        return max(self.timeout_s, PATIENCE_S) if self.wishes.tier == FLEX else self.timeout_s

    @property
    def patience_s(self) -> float:
        """How long a verdict may take, with retries."""
        return max(self.answer_s, min(10 * self.timeout_s, PATIENCE_S))


def to_settings(
    model: Sequence[str] | str, samples: int | None, timeout_s: float, ask: str, more: More
) -> Settings:
    names = model.split(",") if isinstance(model, str) else model
    # While a model thinks, servers give no log probabilities.
    usual_effort = NO_EFFORT if ask == DISTRIBUTION else None
    wishes = Wishes(
        more.get("effort") or usual_effort,
        more.get("options"),
        more.get("tier"),
        more.get("answer_tokens"),
    )
    models = tuple(name.strip() for name in names)
    return Settings(models, samples, timeout_s, ask, wishes, more.get("points", False))


def doubles(models: Sequence[ChatModel]) -> list[str]:
    """A sentence for each model that answered under several names."""
    served = Counter(model.served for model in models if model.served)
    sentences = []
    for name, times in served.items():
        if times > 1:
            asked = " and ".join(repr(model.name) for model in models if model.served == name)
            sentences.append(
                f"Models {asked} are one: the server names each answer's model as {name!r}."
            )
    return sentences
