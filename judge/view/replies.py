"""A reply with all that was said of it, as the page shows it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean
from typing import Any, NamedTuple, Self

from judge.jsonl import encode
from judge.offline import OFFLINE
from judge.ratings import Flag, point
from judge.rubric import Scale

_OF_QUESTION = "question_"


class Version(NamedTuple):
    """A judge version: figures of two are never joined."""

    model: str
    rubric: str
    rubric_version: str
    samples: str
    judge_version: str

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """The version that a row names."""
        return cls(*(str(row.get(name) or "") for name in cls._fields))

    @property
    def name(self) -> str:
        """As it is shown: what is known of it."""
        rubric = f"{self.rubric} ({self.rubric_version})" if self.rubric_version else self.rubric
        samples = f"{self.samples} {'rating' if self.samples == '1' else 'ratings'}" if self.samples else ""
        model = f"{OFFLINE} (no model)" if self.model == OFFLINE else self.model
        return " · ".join(part for part in (model, rubric, samples, self.judge_version) if part) or "unnamed judge"


class Label(NamedTuple):
    """A person's score, and why if they said so; blind when given before the judge's was shown.

    `probability` is that with which the reply was drawn to be labelled; None where it is not known.
    """

    score: float
    is_blind: bool
    reason: str = ""
    probability: float | None = None


class OneRating(NamedTuple):
    """What one model call gave: a score, or none; `words` are its justification, or why there is no score."""

    model: str
    score: float | None
    words: str


@dataclass(frozen=True)
class Reply:
    """A question, a response, and what judge and people said.

    Attributes:
        name: What it is found by: its line in the file, or its case.
        question: None where the text is not kept; the same for `response`.
        unscored: Why there is no score, in words; empty where there is one.
        cluster: What it shares with replies that are not independent of it.
        flags: What to know before trusting the score, in words.
        facts: What else is known, each with its title.
    """

    name: str
    version: Version
    scale: Scale
    score: float | None
    question: str | None
    response: str | None
    justification: str
    unscored: str
    ratings: tuple[OneRating, ...]
    cluster: str | None
    flags: tuple[str, ...]
    judged_at: datetime | None
    facts: tuple[tuple[str, str], ...]
    labels: list[Label] = field(default_factory=list)

    @property
    def miss(self) -> float | None:
        """How far the score is from the mean of all labels; None where one of the two is missing."""
        if self.score is None or not self.labels:
            return None
        return round(abs(self.score - fmean(label.score for label in self.labels)), 9)

    @property
    def differs(self) -> bool:
        """Whether judge and people say clearly different things: 2 points of 0 to 5, or more."""
        return (self.miss or 0) >= clear_difference(self.scale)


def clear_difference(scale: Scale) -> float:
    """How far apart a score and a label are that say different things: 2 from 0 to 5."""
    return 2 * point(scale)


def to_flags(value: object) -> tuple[str, ...]:
    """The flags of a row in words; one of a later version is shown as it stands."""
    return tuple(_flag_words(str(each)) for each in value) if isinstance(value, list) else ()


def _flag_words(flag: str) -> str:
    known = flag.removeprefix(_OF_QUESTION)
    if known not in set(Flag):
        return flag
    return f"{'response' if flag == known else 'question'} {Flag(known).words}"


def to_ratings(value: object) -> tuple[OneRating, ...]:
    """The ratings of a row; what is none is left out."""
    return tuple(_to_rating(each) for each in value if isinstance(each, dict)) if isinstance(value, list) else ()


def _to_rating(fields: Mapping[str, Any]) -> OneRating:
    score = fields.get("score")
    words = fields.get("justification") or fields.get("unscored_reason") or ""
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    return OneRating(to_text(fields.get("model")) or "", score if is_number else None, spaced(words))


def to_text(value: object) -> str | None:
    """A text as it is, anything else as JSON; None stays None."""
    return value if value is None or isinstance(value, str) else encode(value)


def spaced(reason: object) -> str:
    """A reason for programs, such as `no_majority`, as words; a sentence stays as it is."""
    text = to_text(reason) or ""
    return text if " " in text else text.replace("_", " ")


def to_facts(row: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What a row tells beside texts, scores and labels: title and value."""
    forms = {
        "basis": ("Usable ratings", "{}"),
        "mean": ("Mean of the ratings", "{:.2f}"),
        "weighted_score": ("Weighted score", "{:.2f}"),
        "input_tokens": ("Tokens in", "{:,}"),
        "output_tokens": ("Tokens out", "{:,}"),
        "cost_usd": ("Cost", "${:.6f}"),
        "latency_ms": ("Model's time", "{:,} ms"),
        "prompt_id": ("Prompt", "{}"),
    }
    return tuple(
        (title, _form(form, row[name])) for name, (title, form) in forms.items() if row.get(name) not in (None, "")
    )


def _form(form: str, value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return form.format(value) if is_number or form == "{}" else to_text(value) or ""
