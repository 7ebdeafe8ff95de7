"""Slack's text format, both ways: tokens and entities in, escapes and excerpts out.

Source: https://docs.slack.dev/messaging/formatting-message-text
"""

import re
import unicodedata

from judge.sanitize import sanitize as legible

# Only what Slack itself writes: a command's text may hold a bare "<" of the person's own.
_TOKEN = re.compile(r"<([@#!][^<>]*|[a-z][a-z0-9+.-]*:[^<>]*)>")
_SIGILS = {"@": "@", "#": "#"}
# An underscore within a word marks nothing, and `10:30:00` is a time.
_MARKS = re.compile(r"[*~`]|(?<![^\W_])_|_(?![^\W_])")
_QUOTE_MARKS = re.compile(r"^[\s>]*>[^\S\n]*", re.MULTILINE)
_EMOJI = re.compile(r":(?=[\w+'-]+:)(?!(?<=\d:)\d+:)")


def to_plain(text: str) -> str:
    """What a person would read in Slack: tokens decoded first, then entities, control characters dropped.

    `<https://url|label>` becomes `label (https://url)`, `<@U1>` `@U1`, `<#C1|general>` `#general`,
    `<!channel>` `@channel`.
    """
    decoded = _TOKEN.sub(lambda match: _decode_token(match[1]), text)
    return clean(decoded.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def _decode_token(inner: str) -> str:
    target, _, label = inner.partition("|")
    if target[:1] in _SIGILS:
        return _SIGILS[target[0]] + (label or target[1:]).lstrip("@#")
    if target.startswith("!"):
        return label or "@" + target[1:].partition("^")[0]
    target = target.removeprefix("mailto:")
    return f"{label} ({target})" if label and label not in target else target


def clean(text: str) -> str:
    """The text without what no database and no model takes: control characters and lone surrogates."""
    return "".join(char for char in text if char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cs"})


def escape(text: str) -> str:
    """Text that Slack shows to the letter: no mention, link or command can come out of it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def excerpt(text: str, limit: int) -> str:
    """The beginning of foreign words on one line of mrkdwn, at most `limit` characters long as sent: see `clip`."""
    return clip(" ".join(legible(text).split()), limit)


def clip(text: str, limit: int) -> str:
    """Foreign words as mrkdwn, cut so that what is sent has at most `limit` characters.

    They are escaped, and lose what would format them: marks of bold, italics, strike and code, a quote's `>` at the
    beginning of a line, and what nobody sees. An emoji's code gets a blank and stays text. Where the words are shown in
    full they belong into a quote (`bot.views.elements`), which formats nothing and so takes nothing away.
    """
    text = _EMOJI.sub(": ", _QUOTE_MARKS.sub("", _MARKS.sub("", legible(text)))).strip()
    escaped = escape(text)
    if len(escaped) <= limit:
        return escaped
    kept: list[str] = []
    room = limit - 1
    for char in text:
        piece = escape(char)
        room -= len(piece)
        if room < 0:
            break
        kept.append(piece)
    return "".join(kept).rstrip() + "…"
