"""The messages about forgetting, which only the person who asked for it sees."""

from collections.abc import Sequence

from bot.features.privacy.queries import Words
from bot.pipeline.case_access import ListedCase, recent_blocks
from bot.slack.blocks import Block, actions, button, section
from bot.slack.messenger import Post
from bot.slack.mrkdwn import escape
from judge.scoring.numbers import number_of

ACTION_FORGET = "forget"

HOW = (
    "Type `/judge forget NUMBER` with the number of a case, `/judge forget LINK` with the link "
    "of a scored reply or of my verdict (More actions ⋮ → *Copy link*), or `/judge forget me` "
    "for all of your own words."
)
NOTHING = "There is nothing under that link or number that you can delete."
NO_WORDS = "I have none of your words stored, and none that you wrote before now will be."
NOT_NOW = "Slack is not answering, so I deleted nothing. Please try again."


def ask_first(text: str, label: str, what: str, quoted: Sequence[Block] = ()) -> Post:
    """Says what would be forgotten, quotes it, and asks; the button sends back `what`."""
    go = button(label, ACTION_FORGET, what) | {"style": "danger"}
    return Post(text, [section(text), *quoted, actions(go)])


def ask_for_cases(
    case_ids: Sequence[int], quoted: Sequence[ListedCase], stays: str, workspace_url: str
) -> Post:
    """Asks before cases go, and quotes some; `stays` says what does not go."""
    which, whose = (
        ("this case", "Its") if len(case_ids) == 1 else (f"these {len(case_ids)} cases", "Their")
    )
    more = (
        f"{len(case_ids) - len(quoted)} more are not shown here."
        if len(case_ids) > len(quoted)
        else ""
    )
    asking = (
        f"Delete {which}? {whose} texts, ratings, labels and my messages in Slack will be "
        "deleted for good."
    )
    parts = [asking, more, stays]
    label = f"Delete case {case_ids[0]}" if len(case_ids) == 1 else f"Delete {len(case_ids)} cases"
    numbers = ",".join(str(number) for number in case_ids)
    return ask_first(
        " ".join(filter(None, parts)),
        label,
        numbers,
        recent_blocks(quoted, workspace_url, says_how_to_drop=False),
    )


def personal_data_text(words: Words) -> str:
    what = []
    if words.cases:
        cases = number_of(words.cases, "case")
        what.append(
            f"the texts of {cases} that you wrote in or asked for, what I wrote on them, "
            "and your name"
        )
    if words.reasons:
        what.append(f"{number_of(words.reasons, 'reason')} that you gave for your own scores")
    if words.thumbs:
        what.append(f"{number_of(words.thumbs, 'thumb')} that you put under replies")
    if words.notes:
        what.append(f"{number_of(words.notes, 'note')} that you wrote on releases")
    return (
        f"Forget your words? This deletes {'; '.join(what)}. My messages lose what they quote. "
        "What you wrote before now is not scored again, unless you ask for it. "
        "Scores stay as numbers, with your user id. You cannot undo this."
    )


def personal_data_forgotten_text(gone: Words) -> str:
    """What `/judge forget me` has done, and what it cannot do."""
    thumbs = f", {number_of(gone.thumbs, 'thumb')}" if gone.thumbs else ""
    notes = f", {number_of(gone.notes, 'note')} on releases" if gone.notes else ""
    parts = [
        (
            f"I forgot your words: {number_of(gone.cases, 'case')}, "
            f"{number_of(gone.reasons, 'reason')}{thumbs}{notes}."
        )
    ]
    if gone.unsettled:
        are, lose = ("is", "loses its") if gone.unsettled == 1 else ("are", "lose their")
        cases = number_of(gone.unsettled, "case")
        parts.append(f"{cases} {are} still being scored, and {lose} texts right after that.")
    parts.append(
        "My messages lose what they quote within minutes; those marked “Only visible to you” "
        "disappear when that person reloads Slack. Scores stay as numbers, with your user id. "
        "Your own messages in Slack are still there; only you can delete them."
    )
    return " ".join(parts)


def forgotten_text(
    cases: Sequence[int], messages: int, errors: Sequence[str], stays: str, *, is_private: bool
) -> str:
    """The outcome of a request to forget cases: those deleted, our messages deleted, or kept by
    Slack's `errors`.

    `stays` is what `staying_text` says. What is private was shown to one person; the app cannot
    delete an ephemeral message.
    """
    parts = []
    if cases:
        also = (
            f", and my {'message' if messages == 1 else f'{messages} messages'} in Slack"
            if messages
            else ""
        )
        whose = "its" if len(cases) == 1 else "their"
        parts.append(f"Deleted: {_cases(cases)}, with {whose} texts, ratings and labels{also}.")
    if cases and is_private:
        parts.append(
            "Messages marked “Only visible to you” disappear when that person reloads Slack, and "
            "direct messages have lost what they quoted."
        )
    if errors:
        what = "one message" if len(errors) == 1 else f"{len(errors)} messages"
        parts.append(
            f"Slack did not let me delete {what} of mine (`{escape(errors[0])}`); a "
            "workspace admin can."
        )
    return " ".join([*parts, *([stays] if stays else [])]) or NOTHING


def staying_text(unsettled: Sequence[int], others: int) -> str:
    """Why cases were not deleted: the numbers of those still being scored, and how many were
    requested by others.
    """
    parts = []
    if unsettled:
        are = "is" if len(unsettled) == 1 else "are"
        parts.append(
            f"{_cases(unsettled).capitalize()} {are} still being scored. Please try again "
            "in a minute."
        )
    if others:
        what, them = ("One score was", "it") if others == 1 else (f"{others} scores were", "them")
        parts.append(
            f"{what} requested by somebody else: they, or a workspace admin, can delete {them}."
        )
    return " ".join(parts)


def _cases(case_ids: Sequence[int]) -> str:
    numbers = [str(number) for number in case_ids]
    if len(numbers) == 1:
        return f"case {numbers[0]}"
    return f"cases {', '.join(numbers[:-1])} and {numbers[-1]}"
