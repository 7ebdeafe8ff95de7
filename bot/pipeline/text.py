"""The messages other than the verdict: the placeholder, the two texts, windows, and plain
sentences.

Words of a model or a person are put in a `quote`, or pass through `clip` or `excerpt` if they are
part of a line of ours, so that they stay text. No user is mentioned, so that no notification is
sent.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from bot.domain.blocker import FOREIGN
from bot.domain.case import CaseSource, LoggedCase, Visibility, text_hash
from bot.domain.verdict import CaseVerdict
from bot.pipeline.verdict_text import headline
from bot.slack import blocks as ui
from bot.slack import ids
from bot.slack.client import MISSING
from bot.slack.members import MembershipError
from bot.slack.messenger import Post, sentence
from bot.slack.mrkdwn import clip, escape, excerpt
from judge import Turn
from judge.scoring.numbers import number_of
from judge.scoring.rubric import purpose_of
from judge.scoring.sanitize import one_line

_ROOM = 3000
_EXCERPT = 300


def refused_modal() -> dict[str, Any]:
    """The window of a person of another company, in place of the one that they submitted."""
    return ui.page("Slack Judge", [ui.section(FOREIGN)])


PLACEHOLDER = sentence("Scoring the response…")
IN_PROGRESS = sentence("This reply is being scored. If no verdict appears in a moment, ask again.")


def slow(place: int | None) -> Post:
    """The placeholder after a while; `place` is the number of verdicts before this one, None if
    that is not known.
    """
    said = "Other verdicts come before this one"
    if place is not None:
        said = f"This verdict is number {place + 1} in line"
    return sentence(f"The judge's model is slow. {said}.")


def later(case: LoggedCase, pause: timedelta, tries: int) -> Post:
    """The message that replaces the placeholder while the model cannot be asked."""
    minutes = number_of(max(round(pause.total_seconds() / 60), 1), "minute")
    return sentence(
        f"The judge's model is not answering. I will try again in {minutes} (retry "
        f"{case.model_tries} of {tries})."
    )


def texts(case: LoggedCase, verdict: CaseVerdict | None = None) -> Post:
    """The typed question and response, with the score once there is one; the verdict is a reply to
    this message.
    """
    who = excerpt(case.requester_name, 80)
    scored = f"\n{headline(verdict)}" if verdict else ""
    blocks = [
        ui.section(f"*{who}* asked for a score{scored}"),
        _typed("Question", case.question or ""),
        _typed("Response", case.response or ""),
    ]
    return Post(f"{who} asked for a score: {excerpt(case.question or '', _EXCERPT)}", blocks)


def accepted(case: LoggedCase) -> str:
    where = "Only you will see the verdict"
    if case.source is CaseSource.LINK and case.visibility is Visibility.THREAD:
        where = "The verdict will appear in that message's thread, or to you alone"
    return f"Scoring the response. {where}."


def ask_for_question(case: LoggedCase, reason: str) -> Post:
    asked = f"Which question does this reply answer? {reason}"
    return Post(
        asked,
        [ui.section(asked), ui.actions(ui.button("Type the question", ids.ACTION_ASK, case.id))],
    )


def not_understood(reason: object, known: str) -> str:
    """The help for a person who typed something unknown, which `reason` quotes; `known` lists what
    there is.
    """
    return f"{escape(str(reason))}. What I understand:\n{known}"


_TAG = re.compile("<(question|response|reference)>")
_SLOT = re.compile("{(prompt|response|reference|conversation)}")


def parts_of(prompt: str) -> tuple[str, str, str]:
    """A rubric's prompt in three: up to the paragraph that says where the texts are; what it looks
    for, in its own words; and from the texts on. The second may be empty.
    """
    paragraphs = re.split(r"(\n\s*\n)", prompt)
    end = next(at for at, paragraph in enumerate(paragraphs) if _SLOT.search(paragraph))
    tagged = [at for at in range(end) if _TAG.search(paragraphs[at])]
    begin = tagged[-1] + 1 if tagged else 0
    middle = "".join(paragraphs[begin:end])
    looks_for = middle.strip()
    before, _, after = middle.partition(looks_for) if looks_for else (middle, "", "")
    return (
        "".join(paragraphs[:begin]) + before,
        looks_for,
        after + "".join(paragraphs[end:]),
    )


def _typed(title: str, text: str) -> ui.Block:
    """A typed text; if it is long, only its beginning, its end and its length."""
    size = len(text)
    is_long = size > _ROOM
    length = [ui.run(f" ({size:,} characters, shortened)")] if is_long else []
    return ui.quote(text, _EXCERPT if is_long else _ROOM, ui.run(title, is_bold=True), *length)


NO_CASE = "That case was deleted, or you cannot see it. You can score the reply again."
WENT_WRONG = "Something went wrong. Please try again, or ask the person who runs the app."
NOT_SERVED = (
    "This app serves another workspace. To use it here, run it a second time with a token of "
    "this workspace."
)
NOT_INSTALLED = (
    "Slack Judge is not installed here any more. Ask who runs it for its address; at "
    "`/slack/install` there, an admin can install it again."
)


def installed_in(name: str, team_id: str, *, is_first: bool) -> Post:
    """For who installed the app first: one more workspace, or an organisation, has it."""
    if is_first:
        return sentence("Slack Judge is installed. You hear of each further workspace.")
    where = f"{escape(name)} ({team_id})" if name else team_id
    return sentence(
        f"Slack Judge was installed in {where}. Its verdicts use this app's model and limits. "
        f"`judge-bot installations remove {team_id}` ends that."
    )


def outage(since: datetime, cause: str) -> Post:
    """For whom a watch alerts, or who installed the app: every verdict has failed for an hour."""
    begun = ui.short_date(since)
    return sentence(f":warning: *No reply has had a score since {begun}.* {cause}")


NOT_YOURS = (
    "Slack does not list this channel among those that you and I are both in, so I show nothing "
    "from it. In a private channel, type `/invite @Slack Judge`; if you have just joined, wait "
    "up to five minutes."
)
NOT_IN_BOTH = (
    "I can score a message only in a channel that you and I are both in. "
    "If you are in that channel, type `/invite @Slack Judge` there."
)


def several_named(name: str, author_ids: Sequence[str]) -> str:
    each = ", ".join(f"`@{author_id}`" for author_id in author_ids[:10])
    return f"Several here are named `@{clip(name)}`. Use an id instead: {each}."


def none_watched(word: str, typed: str, names: Sequence[str]) -> str:
    """The answer to what is typed after a word that takes one of these watched assistants."""
    listed = ", ".join(f"`@{clip(name)}`" for name in names[:10])
    known = f"Watched: {listed}." if listed else "No assistant is watched here."
    if not typed:
        return known
    return (
        f"I do not understand `{clip(typed)}`. `/judge {word}` takes an assistant or nothing, and is "
        f"always about the last four weeks. {known}"
    )


def unsure_of_membership(error: MembershipError) -> str:
    advice = "Please try again."
    if str(error) == MISSING:
        advice = "The command `judge-bot doctor` says how to fix that."
    return f"Slack did not tell me whether you are in that channel (`{error}`). {advice}"


MAX_INPUT = 3000
OUT_OF_SIGHT = (
    "I could not look for the question, because I am not in this channel. Type it here, "
    "or close this window, type `/invite @Slack Judge`, and score the reply again."
)
OUT_OF_REACH = "I cannot read messages here, so I do not know which question this reply answers."
WRONG_QUESTION = "Which question does this reply answer? It will be scored again with that one."
_NONE_KEPT = "The words of its thread were {}, so there is no message to choose."
NOT_IN_ANY_MORE = (
    "You have left the channel in which you opened this window. Type `/judge` in the channel "
    "where you want the verdict."
)
_SAME_QUESTION = "This question was scored already. Type the one that the reply answers."
_NOTHING_TYPED = "Please type something other than spaces."
_NOT_CHOSEN = (
    "Choose a message, or type the question. A message that was deleted meanwhile cannot be chosen."
)
_SAME = "This is the same as the question. What was the answer?"
_LABEL = 75  # https://docs.slack.dev/reference/block-kit/composition-objects/option-object
FORGOTTEN_TEXTS = (
    "I removed the question and the response, because their author asked me to forget them."
)
_FOR_ONE = "Only you will see the verdict, in direct messages."


def texts_modal(
    state: ui.ModalState, rubrics: Sequence[str], rubric: str, visibility: Visibility | None
) -> ui.Block:
    """The modal of `/judge` without text; without a `visibility`, in direct messages, it does not
    ask for one.
    """
    named = {name: ui.option(name, about=purpose_of(name)) for name in rubrics}
    options = {
        Visibility.THREAD: ui.option(Visibility.THREAD.value, "Everybody in this channel"),
        Visibility.ME: ui.option(Visibility.ME.value, "Only me"),
    }
    seen_by = ui.menu(
        ids.BLOCK_VISIBILITY,
        options.values(),
        options[visibility or Visibility.THREAD],
        "radio_buttons",
    )
    blocks = [
        ui.field("Question", ui.text_box(ids.BLOCK_QUESTION, MAX_INPUT, None, "What was asked")),
        ui.field(
            "Response", ui.text_box(ids.BLOCK_RESPONSE, MAX_INPUT, None, "The answer to score")
        ),
        ui.field(
            "Rubric",
            ui.menu(ids.BLOCK_RUBRIC, named.values(), named.get(rubric) or ui.option(rubric)),
        ),
        ui.field("Who sees the verdict", seen_by) if visibility else ui.section(_FOR_ONE),
    ]
    return ui.modal(ids.VIEW_TEXTS, "Score a response", state, blocks, "Score", "Cancel")


def question_modal(
    case: LoggedCase,
    callback_id: str,
    reason: str,
    state: ui.ModalState,
    said: Mapping[str, Turn] | None = None,
) -> ui.Block:
    """The modal that asks for a case's question; it only shows the response, which stays in the
    store in full.

    If `said` has messages, by ts, one of them can be chosen instead of typing.
    """
    title = "Response to score" if case.response else f"The response to score was {case.why_lost}."
    hint = _NONE_KEPT.format(case.why_lost) if case.has_lost_texts else ""
    label = "Or type the question" if said else "Question"
    known = None if said else case.question
    typed = ui.text_box(ids.BLOCK_QUESTION, MAX_INPUT, known, "What was asked")
    blocks = [
        ui.section(reason),
        *([_choice(said)] if said else []),
        ui.field(label, typed, hint, is_optional=bool(said)),
        ui.quote(case.response or "", 2900, ui.run(title, is_bold=True)),
    ]
    return ui.modal(callback_id, "Which question?", state, blocks, "Score", "Cancel")


def _choice(said: Mapping[str, Turn]) -> ui.Block:
    newest = [
        ui.option(ts, one_line(f"{turn.role}: {turn.text}", _LABEL))
        for ts, turn in [*said.items()][:20]
    ]
    menu = ui.menu(ids.BLOCK_CHOSEN, newest, None)
    return ui.field("Choose a message of this thread", menu, is_optional=True)


def text_errors(question: str, response: str) -> dict[str, str]:
    """What is wrong with the two texts that a person typed, by input; empty if they can be scored."""
    errors = question_errors(question)
    if not response:
        errors[ids.BLOCK_RESPONSE] = _NOTHING_TYPED
    elif question == response:
        errors[ids.BLOCK_RESPONSE] = _SAME
    return errors


def question_errors(
    question: str, scored: LoggedCase | None = None, *, may_choose: bool = False
) -> dict[str, str]:
    """The same for the question alone; `scored` is the case whose question it replaces, if any."""
    if not question:
        return {ids.BLOCK_QUESTION: _NOT_CHOSEN if may_choose else _NOTHING_TYPED}
    is_same = scored is not None and scored.question_hash == text_hash(question)
    return {ids.BLOCK_QUESTION: _SAME_QUESTION} if is_same else {}
