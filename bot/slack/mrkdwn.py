"""Slack's text format, in both directions: decodes tokens and entities, escapes texts and makes
excerpts.

Source: https://docs.slack.dev/messaging/formatting-message-text
"""

import re
from datetime import UTC, datetime
from pathlib import Path

from judge.scoring.sanitize import one_line, sanitize

# Matches only what Slack itself writes: a command's text may contain a bare "<" that the person
# typed.
_TOKEN = re.compile(r"<([@#!][^<>]*|[a-z][a-z0-9+.-]*:[^<>]*)>")
# An underscore within a word is not formatting, and `10:30:00` is a time, not an emoji.
_MARKS = re.compile(r"[*~`]|(?<![^\W_])_|_(?![^\W_])")
_QUOTE_MARKS = re.compile(r"^(?:[^\S\n]*>)+[^\S\n]*", re.MULTILINE)
_REJECTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_EMOJI = re.compile(r":(?=[\w+'-]+:)(?!(?<=\d:)\d+:)")


def to_plain(text: str) -> str:
    """What a person would read in Slack: tokens decoded, then entities, and control characters
    removed.

    `<https://url|label>` becomes `label (https://url)`, `<@U1>` `@U1`, `<#C1|general>` `#C1`,
    `<!channel>` `@channel`, `<!date^0^{date}|then>` `1970-01-01`. Slack shows the label of a link
    only: of everything else it shows the name, for which the id stands here, as in rich text. A new
    name is no edit.
    """
    decoded = _TOKEN.sub(lambda match: _decode_token(match[1]), text)
    return clean(decoded.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def _decode_token(inner: str) -> str:
    target, _, label = inner.partition("|")
    kind, *parts = target.split("^")
    if kind == "!date":
        timestamp, form, url = (*parts, "", "", "")[:3]
        return linked(url, to_date(timestamp, form, label))
    if kind == "!subteam":
        return "@" + "".join(parts[:1])
    if kind.startswith(("@", "#", "!")):
        return kind.replace("!", "@")
    return linked(target.removeprefix("mailto:"), label)


def to_terminal(text: str) -> str:
    """Plain text without what only Slack can show: bold, and emoji by their names."""
    return re.sub(r"\*|:[a-z][a-z_]*: ?", "", text)


def linked(url: str, label: str) -> str:
    """A link as `label (url)`; only one of the two if there is no other, or the URL contains the
    label.
    """
    return f"{label} ({url})" if url and label and label not in url else url or label


_DATE_PART = re.compile(r"\{(\w+)\}")


def to_date(timestamp: object, form: str, fallback: str) -> str:
    """A date as Slack fills it into `form`, but in UTC, and never "today", so that it stays the
    same.

    Slack shows the fallback only if the timestamp is none.
    Source: https://docs.slack.dev/messaging/formatting-message-text#date-formatting
    """
    try:
        at = datetime.fromtimestamp(int(str(timestamp)), UTC)
    except (ValueError, OverflowError, OSError):
        return fallback if str(timestamp).isalpha() else str(timestamp)

    def shown(match: re.Match[str]) -> str:
        return f"{at:%H:%M} UTC" if match[1].startswith("time") else f"{at:%Y-%m-%d}"

    return _DATE_PART.sub(shown, form)


def clean(text: str) -> str:
    """The text without characters that databases or models reject: control characters and lone
    surrogates.
    """
    return _REJECTED.sub("", text)


def escape(text: str) -> str:
    """The text escaped, so that Slack shows it literally, without mentions, links or commands."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def excerpt(text: str, limit: int) -> str:
    """The beginning of a person's or model's words as one line of mrkdwn, at most `limit`
    characters; see `clip`.
    """
    return clip(one_line(text), limit)


def clip(text: str, limit: int = 80) -> str:
    """Words of a person or a model as mrkdwn, cut so that at most `limit` characters are read; a
    name by default.

    They are escaped and lose their formatting: marks of bold, italics, strike and code, `>` at the
    beginning of a line, and invisible characters. A space is put into emoji codes, so that they
    stay text. To show words in full, use `bot.slack.blocks.quote`, which formats nothing and so
    removes nothing.
    """
    text = _EMOJI.sub(": ", _QUOTE_MARKS.sub("", _MARKS.sub("", sanitize(text)))).strip()
    return escape(text if len(text) <= limit else text[: limit - 1].rstrip() + "…")


_TONE = re.compile(r"::skin-tone-[2-6]$")
# A line for each emoji with several names, Slack's own first; events may have any of them
# (lins05/slackbot#49). Source: https://github.com/iamcal/emoji-data, 16.0.0
_NAMES = Path(__file__).with_name("emoji_names.txt").read_text(encoding="utf-8").splitlines()
_FIRST = {name: line.split()[0] for line in _NAMES for name in line.split()}


def emoji_of(reaction: str) -> str:
    """The emoji's first name, without a skin tone; a workspace's own emoji and aliases keep their
    names.
    """
    name = _TONE.sub("", reaction)
    return _FIRST.get(name, name)
