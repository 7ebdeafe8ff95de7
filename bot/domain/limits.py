"""How much may be asked for, and how many tokens a case is expected to take before the model reports them."""

from dataclasses import dataclass, replace

from bot.domain.case import Case

_TOKENS_BESIDE_TEXTS = 1000  # the rubric and the answer
_UNREAD_TEXT = 2000  # characters; assumed for a text that has not been read from Slack yet
_CHARACTERS_PER_TOKEN = 3  # fewer than in English, so that other languages do not take more than was reserved


@dataclass(frozen=True)
class Limits:
    """How many cases and tokens are allowed; 0 is no limit.

    The periods count back from now: a limit is not renewed at the full hour.
    `ratings` is how many ratings a case gets: each is a request to the model, or an answer that counts like one.
    `who` names the requester in a refusal.
    """

    cases_per_user_per_hour: int = 0
    cases_per_user_per_day: int = 0
    cases_per_day: int = 0
    tokens_per_user_per_day: int = 0
    tokens_per_day: int = 0
    ratings: int = 1
    who: str = "You"

    @property
    def are_there(self) -> bool:
        return bool(self.cases_per_user_per_hour or self.cases_per_day or self.tokens_per_day)

    def of_automation(self, who: str) -> "Limits":
        """The limits of all automations of one kind together: half of the workspace's daily limits."""
        return replace(
            self,
            who=who,
            cases_per_user_per_hour=0,
            cases_per_user_per_day=(self.cases_per_day + 1) // 2,
            tokens_per_user_per_day=(self.tokens_per_day + 1) // 2,
        )

    def expected_tokens(self, *texts: str | None) -> int:
        """How many tokens a request with these texts takes; None stands for a text that has not been read yet."""
        characters = sum(_UNREAD_TEXT if text is None else len(text) for text in texts)
        return self.ratings * (characters // _CHARACTERS_PER_TOKEN + _TOKENS_BESIDE_TEXTS)


_DIRECT_MESSAGES = "D"


@dataclass(frozen=True)
class Policy:
    """What may be scored; by default, every reply in every channel.

    Attributes:
        allowed_channels: The only channels in which replies are scored, by id; empty for all.
        denied_channels: Channels in which nothing is scored.
        scores_people: Whether people's replies are scored, or only those of bots.
    """

    allowed_channels: frozenset[str] = frozenset()
    denied_channels: frozenset[str] = frozenset()
    scores_people: bool = True

    def allows_channel(self, case: Case) -> bool:
        """Whether a case may be in its channel.

        Texts typed in direct messages are always allowed, because only that person sees them. So are an
        automation's texts, which are in no channel.
        """
        is_nowhere = not case.channel_id or case.channel_id.startswith(_DIRECT_MESSAGES)
        if is_nowhere and case.message_ts is None:
            return True
        return self.allows_messages_of(case.channel_id)

    def allows_messages_of(self, channel_id: str) -> bool:
        is_listed = not self.allowed_channels or channel_id in self.allowed_channels
        return is_listed and channel_id not in self.denied_channels
