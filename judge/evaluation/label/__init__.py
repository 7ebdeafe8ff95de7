"""People's labels for the replies of a file, given blind in a page on this machine.

Replies come in an order that is drawn once, so that those labelled so far are a random sample. A
fifth goes to a second person: only that shows how people differ.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from judge.errors import SetupError
from judge.evaluation.labelled import find_scale
from judge.rows.files import decode, encode
from judge.rows.line_file import LineFile
from judge.rows.row_file import Row, RowFile
from judge.scoring.rubric import Scale

LABEL = "human"
"""The field with the score that a person gives."""
_FOR_TWO = 5  # one of so many replies is for two people
_LONGEST_NAME = 60
_LONGEST_REASON = 2000


class _Reply(NamedTuple):
    row: Row
    scale: Scale
    is_for_two: bool


class Labelling:
    """The replies of a file, and the file of labels, which one process at a time has open.

    A line of labels is the reply's row with the score, who gave it, and that it was blind, so that
    `judge agreement` reads both files together.
    """

    def __init__(self, path: Path, labels: Path, rubric: Path | None = None) -> None:
        file = RowFile.at(path)
        self.problems = file.problems
        self._replies = dict[str, _Reply]()
        self._names = dict[str, str]()  # as they were first spelt
        self._by = defaultdict[str, dict[str, bool]](dict)  # by reply: whether a person labelled it
        found = [(_key_of(row), row) for row in _with_texts(file)]
        file.require()
        if not found:
            raise SetupError(f"{path}: no row has a question and a response ({file.problems[0]}).")
        for key, row in sorted(found, key=lambda each: each[0]):
            # Rows of several judges with the same texts are one reply.
            if key not in self._replies:
                is_for_two = int(key, 16) % _FOR_TWO == 0
                self._replies[key] = _Reply(row, find_scale(row, rubric), is_for_two)
        self.labels = 0
        self._file = LineFile(labels, self._take, b"{", "name another file with -o")

    def next(self, person: str) -> Mapping[str, Any]:
        """The reply that waits for a person, without anything that a judge said of it."""
        person = self._spelt(person)
        given = sum(people.get(person, False) for people in self._by.values())
        for key, reply in self._replies.items():
            people = self._by[key]
            others = sum(people.values())
            most = 2 if reply.is_for_two else 1
            if person not in people and others < most:
                return {"key": key, "given": given, "others": others, **_texts_of(reply)}
        return {"given": given}

    def give(self, person: str, key: str, score: int | None, reason: str) -> str:
        """Writes a label, or without a score passes the reply on to others until the next start;
        returns what is wrong, or "".
        """
        person = self._spelt(person)
        reply = self._replies.get(key)
        if reply is None or not person or len(person) > _LONGEST_NAME:
            return "This label names no reply or no person."
        low, high = reply.scale
        if score is not None and not low <= score <= high:
            return f"The scale goes from {low} to {high}."
        people = self._by[key]
        if person in people:  # a repeated click
            return ""
        if score is not None:
            label = {LABEL: score, "label_by": person, "blind": True}
            label["reason"] = reason[:_LONGEST_REASON] or None
            self._file.append(f"{encode({**reply.row.fields, **label})}\n".encode())
            self.labels += 1
        people[person] = score is not None
        return ""

    def close(self) -> None:
        self._file.close()

    def _take(self, line: int, _: int, raw: bytes) -> None:
        """A label of an earlier run."""
        wrong = f"line {line} of the labels is none of `judge label`; name another file with -o."
        try:
            row = Row(line, decode(raw))
        except ValueError as exc:
            raise SetupError(wrong) from exc
        if row.get("blind") is not True or row.get("label_by") is None:
            raise SetupError(wrong)
        self._by[_key_of(row)][self._spelt(str(row.get("label_by")))] = True
        self.labels += 1

    def _spelt(self, person: str) -> str:
        """The name of a person, which comes back with other capitals."""
        name = person.strip()
        return self._names.setdefault(name.casefold(), name)


def _with_texts(file: RowFile) -> Iterator[Row]:
    for row in file.rows():
        try:
            _ = row.dialogue
        except ValueError as exc:
            file.problems.append(f"line {row.line}: {exc}")
        else:
            yield row


def _key_of(row: Row) -> str:
    """Where a reply stands in the order that is drawn."""
    return sha256(repr(row.known_by).encode("utf-8", "backslashreplace")).hexdigest()


def _texts_of(reply: _Reply) -> Mapping[str, Any]:
    question, response, before = reply.row.dialogue
    return {
        "question": question,
        "response": response,
        "reference": reply.row.reference,
        "before": [(turn.role, turn.text) for turn in before],
        "scale": reply.scale,
    }
