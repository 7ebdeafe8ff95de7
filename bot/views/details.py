"""The window behind "Details": all that is known of a verdict, for whoever wants to know."""

from typing import Any

from bot.domain.case import LoggedCase
from bot.domain.verdict import RecordedVerdict
from bot.slack import ids
from bot.slack.mrkdwn import escape
from bot.views.elements import plain, section
from bot.views.verdict import headline, rated_quote

_MOST_RATINGS = 20
_MOST_WORDS = 100


def details_modal(case: LoggedCase, verdict: RecordedVerdict) -> dict[str, Any]:
    """Rubric and version, model, tokens, time and cost, and what each rating said."""
    facts = "\n".join(f"*{name}*: {value}" for name, value in _facts(verdict) if value)
    ratings = [rated_quote(rating, verdict, _MOST_WORDS) for rating in verdict.ratings[:_MOST_RATINGS]]
    return {
        "type": "modal",
        "callback_id": ids.VIEW_DETAILS,
        "title": plain(f"Case {case.id}"),
        "close": plain("Close"),
        "blocks": [section(headline(verdict)), section(facts), *ratings],
    }


def _facts(verdict: RecordedVerdict) -> list[tuple[str, str]]:
    """What is known, in words; empty where it is not."""
    read, written = verdict.input_tokens, verdict.output_tokens
    return [
        ("Model", "offline rater, no model" if verdict.is_offline else escape(verdict.model)),
        ("Rubric", f"{escape(verdict.rubric)} @ {verdict.rubric_version}"),
        ("Mean", "" if verdict.mean is None else f"{verdict.mean:.2f} of {verdict.highest}"),
        ("Tokens", "" if read is None or written is None else f"{read:,} read, {written:,} written"),
        ("Cost", "unknown" if verdict.cost_usd is None else f"${verdict.cost_usd:.4f}"),
        ("Time of the model", "" if verdict.latency_ms is None else f"{verdict.latency_ms / 1000:.1f} s in all"),
    ]
