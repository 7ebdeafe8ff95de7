"""What the person typed after `/judge`."""

from dataclasses import dataclass

from bot.extract.links import Permalink, parse_permalink
from bot.mrkdwn import to_plain


@dataclass(frozen=True)
class Texts:
    """`question | response`; either may be empty, and the verdict then says so."""

    question: str
    response: str


@dataclass(frozen=True)
class Word:
    """A subcommand, or anything else that is neither a link nor two texts."""

    word: str


def parse_command(text: str) -> Permalink | Texts | Word | None:
    """The request in a command's text; None where there is no text.

    The first bar that stands between spaces parts the texts, else the first bar: a response may hold tables.
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
    return Word(plain.split()[0].lower())
