"""The messages beside the verdict: placeholder, the two texts, and the plain sentences in between.

Foreign words (a model's, a person's) stand in a `quote`, or go through `clip` or `excerpt` where they are part of a
line of ours, so that they stay text; no user is mentioned, so that nobody is pinged.
"""

from datetime import timedelta

from bot.domain.case import CaseSource, LoggedCase, Visibility
from bot.domain.verdict import RecordedVerdict
from bot.slack import ids
from bot.slack.mrkdwn import excerpt
from bot.slack.post import Post
from bot.views.elements import Block, actions, button, quote, run, section
from bot.views.verdict import headline

_ROOM = 3000
_EXCERPT = 300
_NAME = 80


def placeholder(case: LoggedCase) -> Post:
    """What stands in the thread until the verdict is there."""
    return _plain_post(f"Scoring the response… · case {case.id}")


def later(case: LoggedCase, pause: timedelta, tries: int) -> Post:
    """What stands in place of the placeholder while the model cannot be asked."""
    minutes = round(pause.total_seconds() / 60)
    when = "in a moment" if minutes < 1 else "in a minute" if minutes == 1 else f"in {minutes} minutes"
    return _plain_post(
        f"The judge's model does not answer just now. I will try again {when} "
        f"({case.model_tries} of {tries} more tries) · case {case.id}"
    )


def texts(case: LoggedCase, verdict: RecordedVerdict | None = None) -> Post:
    """The typed question and response, and how they were scored once they are; the verdict is a reply to it."""
    who = excerpt(case.requester_name, _NAME)
    scored = f"\n{headline(verdict)}" if verdict else ""
    blocks = [
        section(f"*{who}* asked for a score{scored}"),
        _typed("Question", case.question or ""),
        _typed("Response", case.response or ""),
    ]
    return Post(f"{who} asked for a score: {excerpt(case.question or '', _EXCERPT)}", blocks)


def forgotten_texts() -> Post:
    """What stands in place of the two texts once whoever typed them has had their words forgotten."""
    return _plain_post("The question and the response that stood here are gone: their author asked me to forget them.")


def in_progress(case: LoggedCase) -> Post:
    """For the person who asks for what is under way."""
    sentence = "This reply is being scored right now. If no verdict appears here in a moment, ask again."
    return _plain_post(f"{sentence} Case {case.id}.")


def accepted(case: LoggedCase) -> str:
    """The answer to a command whose verdict will appear elsewhere, or to one person alone."""
    where = "The verdict will be shown to you alone"
    if case.source is CaseSource.LINK and case.visibility is Visibility.THREAD:
        where = "The verdict will be a reply to that message"
    return f"Scoring the response. {where}. Case {case.id}."


def ask_for_question(case: LoggedCase, reason: str) -> Post:
    """Asks for the question with a button, where the moment for opening a modal has passed."""
    sentence = f"Which question does this reply answer? {reason} Case {case.id}."
    return Post(sentence, [section(sentence), actions(button("Type the question", ids.ACTION_ASK, case.id))])


def sentence(text: str) -> Post:
    """One plain sentence of our own."""
    return _plain_post(text)


def _typed(title: str, text: str) -> Block:
    """A typed text, whole where that does not fill the channel; else how it begins and ends, and how long it is."""
    size = len(text)
    is_long = size > _ROOM
    length = [run(f" ({size:,} characters, shortened)")] if is_long else []
    return quote(text, _EXCERPT if is_long else _ROOM, run(title, is_bold=True), *length)


def _plain_post(text: str) -> Post:
    return Post(text, [section(text)])
