"""The messages about forgetting, which only the person who asked for it sees."""

from collections.abc import Sequence

from bot.features.privacy.queries import Words
from bot.pipeline.case_access import ListedCase, recent_blocks
from bot.slack.blocks import Block, actions, button
from bot.slack.messenger import Post, to_post
from bot.slack.mrkdwn import escape
from judge.scoring.numbers import number_of

ACTION_FORGET = "forget"

HOW = (
    "Type `/judge forget NUMBER` with the number of a case, `/judge forget LINK` with the link "
    "of a scored reply or of my verdict (More actions ⋮ → *Copy link*), or `/judge forget me` "
    "for all of your own words."
)
NOTHING = "There is nothing under that link or number that you can delete."
ALREADY = "That is already deleted, or you can no longer delete it."
NO_WORDS = (
    "I have none of your words stored: they are already deleted, or there were none. None that you "
    "wrote before now will be stored."
)
NOT_NOW = "Slack is not answering, so I deleted nothing. Please try again."


def ask_first(text: str, label: str, what: str, quoted: Sequence[Block] = ()) -> Post:
    """Says what would be forgotten, quotes it, and asks; the button sends back `what`."""
    go = button(label, ACTION_FORGET, what) | {"style": "danger"}
    return to_post(text, *quoted, actions(go))


def ask_for_cases(
    case_ids: Sequence[int], quoted: Sequence[ListedCase], stays: str, workspace_url: str
) -> Post:
    """Asks before cases go, and quotes some; `stays` says what does not go."""
    what = _cases(case_ids)
    asking = (
        f"Delete {what}? Texts, ratings, labels and my messages in Slack will be deleted for good."
    )
    numbers = ",".join(str(case_id) for case_id in case_ids)
    blocks = recent_blocks(quoted, workspace_url, says_how_to_drop=False)
    label = f"Delete {number_of(len(case_ids), 'case')}"
    return ask_first(f"{asking} {stays}".strip(), label, numbers, blocks)


FORGET_WORDS = (
    "Forget your words? This deletes the texts of all cases that you wrote in or asked for, what I "
    "wrote on them, your name, and the reasons, thumbs and notes that you gave. My messages lose "
    "what they quote. What you wrote before now is not scored again, unless you ask for it. "
    "Scores stay as numbers, with your user id; what came of your questions is no longer counted. "
    "You cannot undo this."
)


def words_forgotten_text(gone: Words) -> str:
    """What `/judge forget me` has done, and what it cannot do."""
    cases = number_of(gone.cases, "case")
    others = number_of(gone.others, "reason, thumb or note", "reasons, thumbs and notes")
    return (
        f"I forgot your words: {cases}, {others}. A case that is being scored loses its texts "
        "right after that. My messages lose what they quote within minutes; those marked “Only "
        "visible to you” disappear when that person reloads Slack. Scores stay as numbers, with "
        "your user id; what came of your questions is no longer counted. Your own "
        "messages in Slack are still there; only you can delete them."
    )


def forgotten_text(cases: Sequence[int], errors: Sequence[str | None], stays: str) -> str:
    """The outcome of a request to forget cases: those deleted, and for each of our messages Slack's
    error, None if it is deleted. `stays` is what `staying_text` says.
    """
    parts = []
    if cases:
        parts.append(
            f"Deleted: {_cases(cases)}, with texts, ratings and labels, and "
            f"{number_of(errors.count(None), 'message')} of mine in Slack. Messages marked “Only "
            "visible to you” disappear when that person reloads Slack; direct messages have lost "
            "what they quoted."
        )
    refused = [error for error in errors if error and error != "message_not_found"]
    if refused:
        parts.append(
            f"Slack did not let me delete {number_of(len(refused), 'message')} of mine "
            f"(`{escape(refused[0])}`); a workspace admin can."
        )
    if stays:
        parts.append(stays)
    return " ".join(parts) or ALREADY


def staying_text(unsettled: Sequence[int], others: int) -> str:
    """Why cases were not deleted: the numbers of those still being scored, and how many were
    requested by others.
    """
    parts = []
    if unsettled:
        parts.append(
            f"I cannot delete {_cases(unsettled)} while that is being scored. Try again in a minute."
        )
    if others:
        parts.append(
            f"Somebody else requested {number_of(others, 'score')}: they, or a workspace admin, can "
            "delete that."
        )
    return " ".join(parts)


def _cases(case_ids: Sequence[int]) -> str:
    *first, last = (str(case_id) for case_id in case_ids)
    return f"cases {', '.join(first)} and {last}" if first else f"case {last}"
