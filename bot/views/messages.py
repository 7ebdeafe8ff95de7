"""The messages: placeholder, verdict, the two texts, and the plain sentences in between.

Foreign words (a model's, a person's) stand in a `quote`, or go through `clip` or `excerpt` where they are part of a
line of ours, so that they stay text; no user is mentioned, so that nobody is pinged.
"""

from datetime import timedelta
from typing import Any

from bot.domain.case import Aside, CaseSource, LoggedCase, QuestionSource, Visibility
from bot.domain.verdict import RecordedRating, RecordedVerdict
from bot.log.edits import EditedCase
from bot.slack import ids
from bot.slack.mrkdwn import clip, escape, excerpt
from bot.slack.post import Post
from bot.views.edits import amend_blocks, amend_text
from bot.views.elements import actions, button, context, quote, run, section
from bot.views.labels import feedback, plain_feedback
from bot.views.unscored import why_unscored
from judge.legible import legible

UNCONFIRMED = "unconfirmed"
VERDICT_BEGINS = ("Score ", "Unscored: ")
_ROOM = 3000
_EXCERPT = 300
_NAME = 80
_NOTIFICATION = 300
_STEPS = 5

_QUESTION_FROM = {
    QuestionSource.PARENT: "the first message of this thread",
    QuestionSource.PREVIOUS: "the message before",
    QuestionSource.TYPED: "as typed",
}

_ASIDE = {
    Aside.AUTHOR: "*Counts in no figure:* the author of the reply asked for it.",
    Aside.ANOTHER: "*Counts in no figure:* somebody else had asked for the first verdict on this reply.",
}

_NOT_KEPT = "The justification was not kept in the log."
_NOT_KEPT_HERE = "The justification was not kept in the log; it stands with the verdict in the thread."


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


def texts(case: LoggedCase) -> Post:
    """The typed question and response, as the message that the verdict is a reply to."""
    who = excerpt(case.requester_name, _NAME)
    blocks = [
        section(f"*{who}* asked for a score"),
        quote(case.question or "", _ROOM, run("Question", is_bold=True)),
        quote(case.response or "", _ROOM, run("Response", is_bold=True)),
    ]
    return Post(f"{who} asked for a score: {excerpt(case.question or '', _EXCERPT)}", blocks)


def forgotten_texts() -> Post:
    """What stands in place of the two texts once whoever typed them has had their words forgotten."""
    return _plain_post("The question and the response that stood here are gone: their author asked me to forget them.")


def verdict_message(case: LoggedCase, verdict: RecordedVerdict, note: str = "") -> Post:
    """The verdict, as it stands in the thread or goes to the requester alone; `note` says why alone."""
    if verdict.score is None:
        sentence = clip(why_unscored(verdict), _ROOM)
        headline, said, summary = "*Unscored*", section(sentence), f"Unscored: {sentence}"
    else:
        score = f"Score {verdict.score} of {verdict.highest}"
        headline = f"*{score}*  {gauge(verdict)}"
        words = legible(verdict.justification).strip()
        ours = "" if words else _without_justification(case)
        said = (quote(words, _ROOM) if words else section(ours)) | {"block_id": ids.BLOCK_JUSTIFICATION}
        summary = f"{score}{_offline(verdict)}: {ours or excerpt(words, _NOTIFICATION) or '…'}"
    blocks = [section(headline + _offline(verdict)), said]
    blocks += [context(line) for line in (_warning(verdict), _ASIDE[case.aside] if case.aside else "") if line]
    blocks += _question(case)
    blocks += [context(line) for line in (_provenance(case, verdict), note) if line]
    if verdict.score is not None:
        blocks.append(feedback(case))
    return amended(Post(summary, [*blocks, _buttons(case, verdict)]), case)


def amended(verdict: Post, case: LoggedCase | EditedCase) -> Post:
    """A verdict that says what has become of its question and response since; the same where it does already."""
    return _with_feedback(amend_text(verdict.text, case), amend_blocks(verdict.blocks, case))


def known_verdict(case: LoggedCase, verdict: RecordedVerdict) -> Post:
    """The verdict that is there already, for the person who asked again."""
    post = verdict_message(case, verdict, "This reply was scored before.")
    row = actions(button("Score again", ids.ACTION_AGAIN, case.id), _wrong_question(case), *_own_score(case, verdict))
    return _with_feedback(post.text, [*post.blocks[:-1], row])


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


def gauge(verdict: RecordedVerdict) -> str:
    """Five steps, filled from the lowest score to the highest; empty when unscored."""
    if verdict.score is None:
        return "○" * _STEPS
    share = (verdict.score - verdict.lowest) / (verdict.highest - verdict.lowest)
    filled = round(share * _STEPS)
    return "●" * filled + "○" * (_STEPS - filled)


def why_private(case: LoggedCase) -> str:
    """Why only the requester sees a verdict that was meant for the thread, and what helps."""
    if case.blocked_by is None:
        return "Only you see this."
    if case.blocked_by == UNCONFIRMED:
        return "Only you see this: Slack did not confirm my first reply, and I would rather not post it twice."
    # Named, because this may be read elsewhere; a direct message has no name.
    where = "this conversation" if case.channel_id.startswith("D") else f"<#{case.channel_id}>"
    if case.blocked_by in {"not_in_channel", "channel_not_found"}:
        return f"Only you see this, because I am not in {where}. Type `/invite @Slack Judge` there to change that."
    return f"Only you see this, because Slack did not let me reply in {where} (`{escape(case.blocked_by)}`)."


def _warning(verdict: RecordedVerdict) -> str:
    """What the texts try on the judge."""
    texts = {"the response": verdict.response_flags, "the typed question": verdict.question_flags}
    tries = [f"{text} {' and '.join(flag.words for flag in flags)}" for text, flags in texts.items() if flags]
    return f":warning: *Check this one yourself:* {'; '.join(tries)}." if tries else ""


def _without_justification(case: LoggedCase) -> str:
    if not case.has_lost_texts:
        return "The judge gave no justification."
    return _NOT_KEPT_HERE if case.reply_ts and not case.blocked_by else _NOT_KEPT


def _question(case: LoggedCase) -> list[dict[str, Any]]:
    """What was taken for the question, and from where; nothing where neither is known."""
    source = _QUESTION_FROM.get(case.question_source, "") if case.question_source else ""
    if case.question:
        title = run("Question", is_bold=True), run(f" ({source}):")
        # Whole where it was typed for this verdict alone: it is nowhere else, and everybody should see what was asked.
        is_new = case.question_source is QuestionSource.TYPED and (case.message_ts or case.source is CaseSource.BUTTON)
        words = case.question if is_new else " ".join(legible(case.question).split())
        block = quote(words, _ROOM if is_new else _EXCERPT, *title)
    elif source:
        block = context(f"*Question*: {source}")
    else:
        return []
    return [block | {"block_id": ids.BLOCK_QUOTED_QUESTION}]


def _provenance(case: LoggedCase, verdict: RecordedVerdict) -> str:
    model = "offline rater, no model" if verdict.is_offline else escape(verdict.model)
    parts = [
        model,
        f"{escape(verdict.rubric)} @ {verdict.rubric_version}",
        _ratings(verdict),
        f"case {case.id}",
    ]
    return " · ".join(part for part in parts if part)


def _ratings(verdict: RecordedVerdict) -> str:
    if len(verdict.ratings) < 2:
        return ""
    usable = sum(rating.score is not None for rating in verdict.ratings)
    return f"{usable} of {len(verdict.ratings)} ratings: " + ", ".join(_score(rating) for rating in verdict.ratings)


def _score(rating: RecordedRating) -> str:
    return "unscored" if rating.score is None else str(rating.score)


def _offline(verdict: RecordedVerdict) -> str:
    return " (offline rater, no model)" if verdict.is_offline and verdict.score is not None else ""


def _buttons(case: LoggedCase, verdict: RecordedVerdict) -> dict[str, Any]:
    if verdict.score is None:
        again = button("Try again", ids.ACTION_AGAIN, case.id)
        return actions(again, _wrong_question(case), *_own_score(case, verdict))
    return actions(_wrong_question(case))


def _own_score(case: LoggedCase, verdict: RecordedVerdict) -> list[dict[str, Any]]:
    """What an unscored verdict offers in place of agree and disagree, if there was anything to score."""
    is_offered = verdict.score is None and case.obstacle is None
    return [button("Give your own score", ids.ACTION_LABEL, case.id)] if is_offered else []


def _wrong_question(case: LoggedCase) -> dict[str, Any]:
    return button("Wrong question?", ids.ACTION_WRONG_QUESTION, case.id)


def _with_feedback(text: str, blocks: list[dict[str, Any]]) -> Post:
    """A post that may have feedback buttons, which not every Slack knows."""
    plain = [plain_feedback(block) if block["type"] == "context_actions" else block for block in blocks]
    return Post(text, blocks, plain if plain != blocks else None)


def _plain_post(text: str) -> Post:
    return Post(text, [section(text)])
