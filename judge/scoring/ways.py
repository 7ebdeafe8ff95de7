"""The three ways to ask for a score, and what goes with each."""

from collections.abc import Sequence

from judge.errors import SetupError
from judge.scoring.decision import DecisionMember
from judge.scoring.distribution import DistributionMember
from judge.scoring.model import Wishes
from judge.scoring.offline import OFFLINE
from judge.scoring.panel import Member

TEXT, DISTRIBUTION, DECISION = "text", "distribution", "decision"
MEMBERS = {TEXT: Member, DISTRIBUTION: DistributionMember, DECISION: DecisionMember}


def check(ask: str, models: Sequence[str], samples: int, wishes: Wishes) -> None:
    """Raises SetupError if there is no such way, or something else does not go with it."""
    decides, leave_out = ask == DECISION, "leave one of the two out."
    for is_wrong, why in (
        (ask not in MEMBERS, f"JUDGE_ASK is {ask!r}; it is text, distribution or decision."),
        (ask != TEXT and OFFLINE in models, f"JUDGE_ASK is {ask!r}, and {OFFLINE!r} is not a model; {leave_out}"),
        (decides and samples > 1, f"JUDGE_SAMPLES is {samples}, and a decision is one rating; {leave_out}"),
        (decides and wishes.effort, f"JUDGE_EFFORT is {wishes.effort!r}, which decisions do not have; {leave_out}"),
        (decides and wishes.tier, f"JUDGE_TIER is {wishes.tier!r}, which decisions do not have; {leave_out}"),
    ):
        if is_wrong:
            raise SetupError(why)
