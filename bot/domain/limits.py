"""How much may be asked for, and what a case is expected to take before the model has said so."""

from dataclasses import dataclass

from bot.domain.case import Case

_TOKENS_BESIDE_TEXTS = 1000  # the rubric, and the answer
_UNREAD_TEXT = 2000  # characters, of a text that is yet to be read in Slack
_CHARACTERS_PER_TOKEN = 3  # fewer than in English, so that other languages do not take more than was set aside


@dataclass(frozen=True)
class Limits:
    """How many cases and tokens there may be; 0 is no limit. All count back from now, so no full hour lets a rush in.

    `ratings` is how many a case gets: each is a request to the model, or an answer that counts like one.
    """

    cases_per_user_per_hour: int = 0
    cases_per_day: int = 0
    tokens_per_day: int = 0
    ratings: int = 1

    @property
    def are_there(self) -> bool:
        """Whether anything is limited."""
        return bool(self.cases_per_user_per_hour or self.cases_per_day or self.tokens_per_day)

    def expected_tokens(self, case: Case) -> int:
        """What is set aside for a case until it is known what it took."""
        characters = sum(_UNREAD_TEXT if text is None else len(text) for text in (case.question, case.response))
        return self.ratings * (characters // _CHARACTERS_PER_TOKEN + _TOKENS_BESIDE_TEXTS)
