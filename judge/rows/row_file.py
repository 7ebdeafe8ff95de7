"""Rows of JSONL or CSV: one type, `Row`, for all commands, and one reader, `RowFile`.

The fields that a batch adds to a row are here too, because the other commands read them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any, Self

from judge.errors import SetupError
from judge.rows import files
from judge.rows.messages import (
    Dialogue,
    completed,
    find_prompt,
    read_messages,
    read_turns,
    to_prompt,
)
from judge.rows.sheet import COMPLETION, PROMPT, read_sheet
from judge.scoring.ratings import Rating, Unscored, Verdict

ADDED: Mapping[str, type] = {
    "line": int,
    "status": str,
    "score": int,
    "mean": float,
    "spread": int,
    "justification": str,
    "unscored_reason": str,
    "unscored_detail": str,
    "basis": str,
    "ratings": list,
    "weighted_score": float,
    "probabilities": dict,
    "points": dict,
    "flags": list,
    "model": str,
    "rubric": str,
    "rubric_version": str,
    "samples": int,
    "ask": str,
    "input_tokens": int,
    "output_tokens": int,
    "reasoning_tokens": int,
    "latency_ms": int,
    "cost_usd": float,
}
"""The fields that a batch adds, and their types if they are not null. `line` comes first in a row."""

_NOT_READ = {".bz2", ".gz", ".numbers", ".ods", ".parquet", ".xls", ".xlsx", ".xz", ".zip", ".zst"}
PROMPT_ID = b'"prompt_id"'
_OWN_NAME = re.compile(rf"(?:input_)*(?:{'|'.join(ADDED)})")


@dataclass(frozen=True)
class Row:
    """One row of a file, by the JSON object's fields or the CSV's columns, and what its fields mean
    in all commands.
    """

    line: int  # the line where it begins, from 1
    fields: Mapping[str, Any]

    def get(self, name: str) -> Any:
        return self.fields.get(name)

    def key(self, name: str) -> str | None:
        """A field's value as a string, to compare rows by; None if it is null or missing."""
        value = self.fields.get(name)
        return None if value is None else str(value)

    @property
    def response(self) -> str:
        """Raises ValueError if the row has none; the message completes "line 17: "."""
        return self.dialogue.response if self.has_turns else self._text(COMPLETION)

    @property
    def has_turns(self) -> bool:
        """Whether the row is a conversation: `messages`, or `conversation` beside the two texts."""
        return isinstance(self.get("messages"), list) or self.get("conversation") not in (None, "")

    @property
    def messages(self) -> Sequence[Any] | None:
        """The list `messages` with a system prompt and the response that stand beside it; raises
        ValueError.
        """
        messages = self.get("messages")
        if not isinstance(messages, list):
            return None
        for name in (*PROMPT, "conversation"):
            if self.get(name) is not None:
                raise ValueError(
                    f"messages and {name}, where one of them belongs; leave the other out"
                )
        response = None
        if any(self.get(name) is not None for name in COMPLETION):
            response = self._text(COMPLETION)
        return completed(messages, self.get("system"), response)

    @cached_property
    def dialogue(self) -> Dialogue:
        """The question, the response, and the turns before; raises ValueError as `response`."""
        messages = self.messages
        if messages is not None:
            return read_messages(messages)
        return Dialogue(
            self._text(PROMPT), self._text(COMPLETION), read_turns(self.get("conversation"))
        )

    @property
    def reference(self) -> str:
        """What the response must agree with; "" if the row has none.

        What is no string is its JSON.
        """
        value = self.get("reference")
        if value is None:
            return ""
        return value if isinstance(value, str) else files.encode(value)

    @property
    def asked(self) -> str:
        """The question, and all before it: equal for the responses to one prompt.

        Raises ValueError as `response`.
        """
        messages = self.messages
        if messages is not None:
            return find_prompt(messages)
        return to_prompt(self._text(PROMPT), read_turns(self.get("conversation")))

    @property
    def score(self) -> float | None:
        """Raises ValueError if the row has none that a batch could have given."""
        if "score" not in self.fields:
            raise ValueError("no score; 'judge batch' adds them")
        score: float | None = self.get("score")
        if score is None or (type(score) in (int, float) and isfinite(score)):
            return score
        raise ValueError(f"score {files.shown(score)} is not a number")

    @property
    def judge(self) -> Any:
        """The judge that gave the row its score: its model, and how it asks."""
        model = self.get("model")
        ask = self.get("ask")
        # In rows that are not ours the fields may contain anything.
        is_ours = "rubric_version" in self.fields
        return f"{model}, {ask}" if is_ours and ask else model

    @property
    def rubric(self) -> tuple[str | None, str | None]:
        return self.key("rubric"), self.key("rubric_version")

    @property
    def served(self) -> Iterator[tuple[str, str]]:
        """For each rating whose server said who answered: the model that was asked, and that name."""
        ratings = self.get("ratings")
        for rating in ratings if isinstance(ratings, list) else ():
            if isinstance(rating, dict) and rating.get("served"):
                yield str(rating.get("model")), str(rating["served"])

    @property
    def known_by(self) -> tuple[str, object]:
        """The keys of the row's prompt and of its response; equal ones in other rows have equal
        keys.
        """
        prompt = self.key("prompt_id")
        item: object = f"line {self.line}"
        with suppress(ValueError):  # not a row to judge
            prompt = self.asked if prompt is None else prompt
            # The steps after the question, too.
            turns = self.dialogue.turns if self.has_turns else ()
            item = (prompt, to_prompt(self.response, turns))
        if self.get("case") is not None:
            item = f"case {self.get('case')}"
        return (str(item) if prompt is None else prompt), item

    @cached_property
    def carried(self) -> str:
        """All fields as JSON; those with the name of an added field are carried as `input_...`."""
        return files.encode({own_name(name): value for name, value in self.fields.items()})

    def _text(self, names: tuple[str, str]) -> str:
        texts = [self._checked(name) for name in names if self.get(name) is not None]
        if not texts:
            raise ValueError(self._why_no_text(names))
        if texts[0] != texts[-1]:
            raise ValueError(f"{names[0]} and {names[1]} differ; leave one out")
        return texts[0]

    def _checked(self, name: str) -> str:
        text = self.fields[name]
        if not isinstance(text, str):
            raise ValueError(f"{name} is {files.kind_of(text)} where a string belongs")
        return text

    def _why_no_text(self, names: tuple[str, str]) -> str:
        if self.get("case") is not None and names[0] in self.fields:
            return "its text is no longer stored"
        others = [name for name, value in self.fields.items() if value is not None]
        rest = f"only {files.listed(others)}" if others else "nor anything else"
        return f"no {names[0]} (nor {names[1]}), {rest}"


def own_name(name: str) -> str:
    """The name of a row's own field in the output, beside the fields that a batch adds."""
    return f"input_{name}" if _OWN_NAME.fullmatch(name) else name


@dataclass
class RowFile:
    """A file of rows, read line by line as often as needed."""

    path: Path
    is_sheet: bool = False  # CSV, not JSONL
    # One sentence for each line so far that is not a row, and for each value that its readers
    # cannot use.
    problems: list[str] = field(default_factory=list)
    # All fields so far, in the order of their first appearance.
    names: dict[str, None] = field(default_factory=dict)
    has_rows: bool = False

    @classmethod
    def at(cls, path: Path) -> Self:
        """The file, read as CSV if its name ends in .csv or .tsv, otherwise as JSONL."""
        ending = path.suffix.lower()
        if ending in _NOT_READ:
            raise SetupError(f"{path}: {ending} is not read; save it as .csv or .jsonl.")
        return cls(path, is_sheet=ending in (".csv", ".tsv"))

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that are not blank, as JSON, with their numbers."""
        return read_sheet(self.path) if self.is_sheet else files.read_lines(self.path)

    def rows(self, lines: Iterable[tuple[int, bytes]] | None = None) -> Iterator[Row]:
        for line, raw in lines or self.lines():
            try:
                row = Row(line, files.decode(raw))
            except ValueError as exc:
                self.problems.append(f"line {line}: {exc}")
                continue
            self.names |= dict.fromkeys(row.fields)
            self.has_rows = True
            yield row

    def require(self, **options: str | None) -> None:
        """Raises SetupError if no row was read, or no row has a field that one of these options
        names.
        """
        if not self.has_rows:
            problem = "it is empty"
            if self.problems:
                problem = f"no line is a JSON object ({self.problems[0]})"
            raise SetupError(
                f"{self.path}: {problem}; give the JSONL that `judge batch` or `judge-bot "
                "export` writes."
            )
        for option, name in options.items():
            if name is not None and name not in self.names:
                if name == "score":
                    raise SetupError(f"{self.path}: no line has a score; 'judge batch' adds them.")
                fields = ", ".join(self.names) or "none"
                raise SetupError(
                    f"--{option} {name}: no line has this field; the fields are {fields}."
                )

    def items(
        self, is_done: Callable[[int], bool], limit: int | None = None
    ) -> Iterator[Row | str]:
        """The rows to judge up to number `limit`, without those whose line `is_done`; or why a line
        is not a row.
        """
        rows = 0
        for line, raw in self.lines():
            if rows == limit:
                return
            if is_done(line):
                rows += 1
                continue
            item = parse_item(line, raw)
            if isinstance(item, Row):
                rows += 1
            yield item


def check_prompt(
    path: Path, firsts: dict[str, tuple[int, int]], line: int, prompt_id: str, asked: str
) -> None:
    """Raises SetupError if an earlier row of `firsts` has this id, as JSON, and asked something
    else.
    """
    first_line, first_prompt = firsts.setdefault(prompt_id, (line, hash(asked)))
    if hash(asked) != first_prompt:
        raise SetupError(
            f"{path}: prompt_id {prompt_id} has one prompt in line {first_line} and another in "
            f"line {line}; give each prompt an id of its own."
        )


def parse_item(line: int, raw: bytes) -> Row | str:
    """The row on a line, whose `dialogue` and `carried` are valid, or a sentence on why it is none."""
    try:
        row = Row(line, files.decode(raw))
        _ = row.dialogue, row.carried
        return row
    except ValueError as exc:
        return f"line {line}: {exc}; skipped."


def to_added(verdict: Verdict, samples: int) -> dict[str, Any]:
    """The fields that a verdict adds to its row, except `line`."""
    unscored = verdict.unscored
    others = {
        "status": "scored" if verdict.is_scored else "unscored",
        "unscored_reason": unscored.reason if unscored else None,
        "unscored_detail": unscored.detail if unscored else None,
        "ratings": [_to_fields(rating) for rating in verdict.ratings],
        "flags": list(verdict.flags),
        "samples": samples,
    }
    return {
        name: others[name] if name in others else getattr(verdict, name)
        for name in ADDED
        if name != "line"
    }


def _to_fields(rating: Rating | Unscored) -> dict[str, Any]:
    """A rating without its texts, which would make the file many times as long."""
    fields = {
        "model": rating.model,
        "score": getattr(rating, "score", None),
        "unscored_reason": getattr(rating, "reason", None),
    }
    if rating.coverage is not None:
        fields["coverage"] = rating.coverage
    if rating.served is not None:
        fields["served"] = rating.served
    return fields
