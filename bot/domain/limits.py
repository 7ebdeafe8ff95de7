"""How much may be asked for, and where."""

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Limits:
    """How many cases are allowed; 0 is no limit.

    The periods count back from now: a limit is not renewed at the full hour.
    `in_all` is of all workspaces together. `who` names the requester in a refusal.
    """

    cases_per_user_per_hour: int = 0
    cases_per_user_per_day: int = 0
    cases_per_day: int = 0
    cases_per_day_in_all: int = 0
    who: str = "You"

    @property
    def are_there(self) -> bool:
        limits = (self.cases_per_user_per_hour, self.cases_per_day, self.cases_per_day_in_all)
        return any(limits)

    @property
    def in_words(self) -> Sequence[tuple[int, str, str]]:
        """Each limit, whose it is, and in what time."""
        day = "in the last 24 hours"
        return (
            (self.cases_per_user_per_hour, self.who, "in the last hour"),
            (self.cases_per_user_per_day, self.who, day),
            (self.cases_per_day, "This workspace", day),
            (self.cases_per_day_in_all, "All workspaces", day),
        )

    def of_automation(self, who: str) -> "Limits":
        """The limits of what the app does by itself, such as watches: half of the workspace's day."""
        return replace(
            self,
            who=who,
            cases_per_user_per_hour=0,
            cases_per_user_per_day=(self.cases_per_day + 1) // 2,
        )


@dataclass(frozen=True)
class Policy:
    """Where replies are scored: in the allowed channels (empty: in all), and in no denied one."""

    allowed_channels: frozenset[str] = frozenset()
    denied_channels: frozenset[str] = frozenset()

    def may_score(self, channel_id: str, *, has_message: bool = True) -> bool:
        """Whether a message in a channel may be scored, or with `has_message=False` texts that were
        typed there.

        Texts typed in direct messages may always be, because only that person sees them.
        """
        if not has_message and channel_id.startswith("D"):
            return True
        is_listed = not self.allowed_channels or channel_id in self.allowed_channels
        return is_listed and channel_id not in self.denied_channels
