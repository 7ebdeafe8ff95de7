"""Parses what the person typed after `/judge`, up to the word of a feature, which reads the rest."""

from dataclasses import dataclass

from bot.slack.messages import Permalink, parse_permalink
from bot.slack.mrkdwn import to_plain

_LONGEST = 80


@dataclass(frozen=True)
class Texts:
    """`question | response`; either may be empty."""

    question: str
    response: str


@dataclass(frozen=True)
class Word:
    """A subcommand and the text after it, or anything else that is neither a link nor two texts."""

    word: str
    rest: str = ""


def parse_command(text: str) -> Permalink | Texts | Word | None:
    """The request in a command's text, or None if there is no text.

    Two texts are split at the first `|` with spaces around it, or else at the first `|`: a response may contain tables.
    """
    text = text.strip()
    if not text:
        return None
    link = parse_permalink(text)
    if link:
        return link
    plain = to_plain(text)
    separator = " | " if " | " in plain else "|"
    question, bar, response = plain.partition(separator)
    if bar:
        return Texts(question.strip(), response.strip())
    word, *rest = plain.split(maxsplit=1)
    return Word(word.lower(), "".join(rest))


def unknown(text: str) -> ValueError:
    """What a feature raises for words after its own that it does not know."""
    return ValueError(f"I do not know {text[:_LONGEST]!r}")
