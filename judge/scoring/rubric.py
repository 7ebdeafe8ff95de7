"""Rubrics: the prompt template, its scale and its version. A rubric is a plain text file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from os.path import isfile
from pathlib import Path
from typing import NamedTuple

from judge.errors import RubricError

DEFAULT_RUBRIC = "additive-5"
"""The default rubric of a judge."""

_SHIPPED = Path(__file__).parents[1] / "rubrics"
_PURPOSES = {
    DEFAULT_RUBRIC: "Is it a relevant, complete and helpful answer?",
    "code": "Would the code do what was asked, safely and also with unusual input?",
    "grounded": "Does the reference, or else the question, support everything it says?",
    "reference-5": "Does it agree with the reference, and say what that says?",
    "refusal": "Was it right to answer, or right to decline?",
    "support-tone": "Is it a good way to talk to somebody who needs help?",
}

CONVERSATION = "{conversation}"
REFERENCE = "{reference}"
SLOTS = (
    "<question>{prompt}</question>",
    "<response>{response}</response>",
    f"<reference>{REFERENCE}</reference>",
)
_SCALE_SENTENCE = re.compile(r"is between (\d{1,3}) and (\d{1,3})\b(?![.,]\d)")
_ASIDE = re.compile(r"^\[(?:levels|criteria)\]$.*\Z", re.MULTILINE | re.DOTALL)


class Scale(NamedTuple):
    """The lowest score, `low`, and the highest, `high`, both included; equal to the plain tuple."""

    low: int
    high: int


@dataclass(frozen=True)
class Rubric:
    """A prompt with `{prompt}` and `{response}`, once each, inside the question and response tags.

    `{conversation}`, once or not at all, is where the turns before the question belong; without it
    they come with the question. So does a reference, unless `{reference}` stands in its tags; then
    no response is scored without one. The scale comes from the prompt itself, from the words "is
    between 0 and 5". At the end there may be TOML, which is no part of the prompt: what each score
    means, as in `[levels]` and `3 = "Useful"`, and criteria to ask for besides, as in `[criteria]`
    and `short = "It is short."`.

    Attributes:
        name: The name it was loaded by; for a file, the file's name without the ending.
        prompt: The text of the file.
        aside: That TOML, if it stands beside the prompt instead of in it.

    Raises:
        RubricError: The prompt lacks a part; the message says which one and where it belongs.
    """

    name: str
    prompt: str
    aside: str = ""

    def __post_init__(self) -> None:
        for placeholder, slot in zip(("{prompt}", "{response}", REFERENCE), SLOTS, strict=True):
            found = self.prompt.count(placeholder)
            if placeholder == REFERENCE and not found:
                continue
            if found != 1:
                raise self._wrong(
                    f"{placeholder} stands {found} times in the prompt; it belongs there "
                    f"once, as {slot}"
                )
            if slot not in self.prompt:
                raise self._wrong(f"{placeholder} stands outside its tags; write it as {slot}")
        if self.prompt.count(CONVERSATION) > 1:
            raise self._wrong(f"{CONVERSATION} stands twice in the prompt; once is enough")
        _ = self.scale, self._aside

    def _wrong(self, what: str) -> RubricError:
        return RubricError(f"rubric {self.name!r}: {what}")

    @property
    def needs_reference(self) -> bool:
        """Whether it places a reference, so that it cannot score without one."""
        return REFERENCE in self.prompt

    @cached_property
    def template(self) -> str:
        """The prompt as the model gets it, before the two texts are filled in."""
        return _ASIDE.sub("", self.prompt)

    @cached_property
    def _aside(self) -> dict[str, dict[str, str]]:
        import tomllib  # few rubrics have it

        found = _ASIDE.search(self.prompt)
        try:
            tables = tomllib.loads(found[0] if found else self.aside)
        except tomllib.TOMLDecodeError as exc:
            raise self._wrong(f"the levels and criteria are not TOML ({exc})") from exc
        low, high = self.scale
        levels, criteria = (tables.pop(name, {}) for name in ("levels", "criteria"))
        if tables or not all(
            isinstance(said, str) for table in (levels, criteria) for said in table.values()
        ):
            raise self._wrong(
                "[levels] and [criteria] take lines such as 'short = \"It is short.\"'"
            )
        if levels and set(levels) != {str(score) for score in range(low, high + 1)}:
            raise self._wrong(f"[levels] has {', '.join(levels)[:80]}; name {low} to {high}")
        if "score" in criteria:
            raise self._wrong("a criterion is named 'score', as the whole is; rename it")
        return {"levels": levels, "criteria": criteria}

    @property
    def levels(self) -> Mapping[str, str]:
        """What each score means, by its number as text; empty if the rubric does not say so apart
        from the prompt.
        """
        return self._aside["levels"]

    @property
    def criteria(self) -> Mapping[str, str]:
        """What a response may meet or not, by name; empty if the rubric names no criteria."""
        return self._aside["criteria"]

    @cached_property
    def scale(self) -> Scale:
        """The scale that the prompt tells the model."""
        found = {Scale(int(low), int(high)) for low, high in _SCALE_SENTENCE.findall(self.prompt)}
        if len(found) != 1:
            raise self._wrong(
                f"{len(found)} scales in the prompt; state one in the words 'is between 0 and 5'"
            )
        low, high = scale = found.pop()
        if low >= high:
            raise self._wrong(f"the scale 'between {low} and {high}' is empty; lowest first")
        return scale

    @cached_property
    def version(self) -> str:
        """First eight hex digits of the SHA-256 of `prompt`; scores of two versions are not
        comparable.
        """
        return sha256(self.prompt.encode()).hexdigest()[:8]


def load_rubric(name_or_path: Rubric | str | Path) -> Rubric:
    """The rubric of this name that comes with the package, or the rubric in this file; a rubric is
    itself.

    A string with a directory separator or the ending `.txt` is a path. Anything else is a name, or
    if there is no rubric of that name, a file in the current folder.

    Raises:
        RubricError: There is no such rubric or file, or its text is not a rubric.
    """
    if isinstance(name_or_path, Rubric):
        return name_or_path
    text = str(name_or_path)
    is_path = isinstance(name_or_path, Path) or text.endswith(".txt") or "/" in text or "\\" in text
    if is_path or (text not in list_rubrics() and isfile(text)):
        path = Path(name_or_path)
        try:
            return Rubric(path.stem, path.read_text(encoding="utf-8"))
        except UnicodeDecodeError as exc:
            raise RubricError(
                f"rubric {path.stem!r} ({path}): not UTF-8 text; save it as UTF-8"
            ) from exc
        except (OSError, ValueError) as exc:
            reason = getattr(exc, "strerror", None) or "not a path"
            raise RubricError(
                f"rubric {path.stem!r} ({path}): {reason}; check JUDGE_RUBRIC"
            ) from exc
    if text not in list_rubrics():
        raise RubricError(
            f"rubric {text!r}: no such rubric; choose one of {', '.join(list_rubrics())}, "
            "or give the path of a file"
        )
    aside = _SHIPPED / f"{text}.toml"
    prompt = (_SHIPPED / f"{text}.txt").read_text(encoding="utf-8")
    return Rubric(text, prompt, aside.read_text(encoding="utf-8") if aside.is_file() else "")


def list_rubrics() -> list[str]:
    """The names of the rubrics that come with the package, in alphabetical order."""
    return sorted(path.stem for path in _SHIPPED.glob("*.txt"))


def purpose_of(name: str) -> str:
    """What a rubric that comes with the package asks of a response, in a line; empty for any other
    name.
    """
    return _PURPOSES.get(name, "")


def reference_version(text: str) -> str:
    """First eight hex digits of a reference's SHA-256; "" if there is none."""
    return text and sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
