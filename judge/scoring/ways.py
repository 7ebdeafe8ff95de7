"""The three ways to ask for a score, and what goes with each."""

from collections import Counter
from collections.abc import Sequence

from judge.errors import SetupError
from judge.scoring.decision import DecisionMember
from judge.scoring.distribution import DistributionMember
from judge.scoring.model.chat import ChatModel
from judge.scoring.model.wishes import Wishes
from judge.scoring.offline import OFFLINE
from judge.scoring.panel import Member

TEXT = "text"
DISTRIBUTION = "distribution"
DECISION = "decision"
TAKES = {
    DISTRIBUTION: "one request a row, of 16 tokens",
    DECISION: "one request a row, which costs what it reads",
}
MEMBERS = {TEXT: Member, DISTRIBUTION: DistributionMember, DECISION: DecisionMember}


def check(ask: str, models: Sequence[str], samples: int, wishes: Wishes) -> None:
    """Raises SetupError if there is no such way, or something else does not go with it."""
    decides = ask == DECISION
    leave_out = "leave one of the two out."
    for is_wrong, why in (
        (ask not in MEMBERS, f"JUDGE_ASK is {ask!r}; it is text, distribution or decision."),
        (
            ask != TEXT and OFFLINE in models,
            f"JUDGE_ASK is {ask!r}, and {OFFLINE!r} is not a model; {leave_out}",
        ),
        (
            decides and samples > 1,
            f"JUDGE_SAMPLES is {samples}, and a decision is one rating; {leave_out}",
        ),
        (
            decides and wishes.effort,
            f"JUDGE_EFFORT is {wishes.effort!r}, which decisions do not have; {leave_out}",
        ),
        (
            decides and wishes.tier,
            f"JUDGE_TIER is {wishes.tier!r}, which decisions do not have; {leave_out}",
        ),
    ):
        if is_wrong:
            raise SetupError(why)


def checked_models(models: Sequence[str]) -> tuple[str, ...]:
    names = tuple(name.strip() for name in models)
    listed = ", ".join(map(repr, names))
    if not names or not all(names):
        raise SetupError(
            f"JUDGE_MODEL names the models {listed or 'not at all'}; write one name "
            "between two commas."
        )
    if len(set(names)) < len(names):
        raise SetupError(
            f"JUDGE_MODEL names a model twice ({listed}); raise JUDGE_SAMPLES to ask one "
            "model again."
        )
    if OFFLINE in names and len(names) > 1:
        raise SetupError(
            f"JUDGE_MODEL is {listed}, but {OFFLINE!r} is not a model and cannot be on a "
            "panel; leave it out."
        )
    return names


def doubles(models: Sequence[ChatModel]) -> list[str]:
    """A sentence for each model that answered under several names."""
    served = Counter(model.served for model in models if model.served)
    names = {
        each: " and ".join(repr(model.name) for model in models if model.served == each)
        for each in served
    }
    said = "Models {} are one: the server names each answer's model as {!r}."
    return [said.format(names[each], each) for each in served if served[each] > 1]
