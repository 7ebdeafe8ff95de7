"""The messages about an improvement: its progress, its result, and the text that it proposes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import ndiff
from typing import Any

from bot.domain.verdict import OFFLINE
from bot.features.rubrics import ids
from bot.features.rubrics.queries import JudgeRequest
from bot.features.rubrics.text import ROOM, errors
from bot.slack import blocks as ui
from bot.slack.messenger import Post, sentence
from bot.slack.mrkdwn import excerpt
from bot.store.examples import Progress
from judge import Rubric, find_flags
from judge.evaluation.align import LEAST, Alignment, LabelledCase, Way
from judge.evaluation.align import obstacle as obstacle_of
from judge.evaluation.align.cases import threads_of
from judge.evaluation.align.examples import examples_of
from judge.evaluation.align.trial import Trial
from judge.scoring.numbers import number_of

_LINE = 150
_MOST_WARNINGS = 5
_NAMES: Mapping[Way, str] = {
    Way.CALIBRATION: "a calibration of the scores",
    Way.EXAMPLES: "examples in the prompt",
    Way.RUBRIC: "a new text",
}
OFFLINE_RATER = "The offline rater ignores the rubric and learns nothing. Choose a model first."
TOO_FEW = (
    "Learning from labels takes labelled replies of {least} threads on the rubric's scale, and "
    "this channel has {threads}. *Agree* and *Disagree* under a verdict give labels, and "
    "`/judge label` asks for more."
)
RUNNING = "<@{user}> started an improvement here {at}, and it is still running. I started no other."
BEGUN = (
    "I learn from {cases} labelled replies in {threads} threads how to score more like "
    "people. This takes at most {requests} requests to the model and about {tokens} tokens, "
    "often far fewer; they count towards the day's limits. Nothing changes by itself. I tell you "
    "in a direct message how it goes."
)
FIGURES = "\n{requests} of at most {most} requests, {tokens:,} tokens."
STOPPED = "The improvement of the rubric in <#{channel}> is stopped. Nothing changed."
FORGOTTEN = (
    "The improvement of the rubric in <#{channel}> ended, because words that it had read were "
    "deleted. Nothing changed. `/judge rubric improve` starts anew."
)
NO_MODEL = (
    "The improvement of the rubric in <#{channel}> ended, because the model is not answering. "
    "Nothing changed. Try again later: what the model has answered so far is kept."
)
GONE = (
    "The improvement of the rubric in <#{channel}> ended, because the rubric has been deleted. "
    "Nothing changed."
)
NOT_BOTH_HERE = (
    "An improvement of a rubric ended, because you or I have left its channel. Nothing changed."
)
NO_DIRECT_MESSAGE = "I cannot send you a direct message, so I did not start the improvement."
CLOSED = (
    "This choice is closed: it was already decided, somebody asked for another change, or words "
    "that it had learnt from were deleted. In the channel, `/judge rubric` shows and changes the "
    "judge in use."
)
SAVED_MEANWHILE = (
    "Somebody saved another version of `{name}` meanwhile, so I did not save this one."
)
CHANGED_MEANWHILE = (
    "Replies are now scored with another judge than when this began, so I did not use the new "
    "text. `/judge rubric improve` starts anew."
)
CHOSEN_SINCE = (
    "Another judge was chosen for this channel since, so I did not go back. `/judge rubric` "
    "changes it."
)
QUOTES = (
    ":information_source: The new text quotes {replies} with people's scores and, where given, "
    "reasons. Everybody in the channel can read it."
)
SPENT = (
    "It ended early, because its budget of requests or a limit of the day is used up. What the "
    "model has answered is kept for the next time."
)
LEFT = "You kept the current rubric. Nothing changed."
NOT_A_RUBRIC = "A text was better, but cannot be edited in Slack, so I do not offer it: {why}"


def obstacle(model: str, cases: Sequence[LabelledCase]) -> str:
    """Why nothing can be learnt from these cases with that model; empty if it can."""
    if model == OFFLINE:
        return OFFLINE_RATER
    threads = len(threads_of(cases))
    return TOO_FEW.format(least=LEAST, threads=threads) if threads < LEAST else obstacle_of(cases)


def progress(improvement: JudgeRequest, stage: str, figures: str = "") -> Post:
    text = f"*Improving the rubric in <#{improvement.channel_id}>*\n:hourglass: {stage}{figures}"
    return Post(
        text,
        [ui.section(text), ui.actions(ui.button("Stop", ids.ACTION_IMPROVE_STOP, improvement.id))],
    )


def ended(improvement: JudgeRequest | None, channel_id: str) -> str:
    is_forgotten = improvement is not None and improvement.status == Progress.FORGOTTEN
    return (FORGOTTEN if is_forgotten else STOPPED).format(channel=channel_id)


STARTING = "Scoring the replies to learn from."


def stage(way: Way, tested: int) -> str:
    return (
        f"Trying {_NAMES[way]} on {tested} other replies." if tested else f"Learning {_NAMES[way]}."
    )


def report(
    improvement: JudgeRequest,
    found: Alignment,
    cases: Sequence[LabelledCase],
    attempts: int,
    in_use: Rubric,
    links: Mapping[str, str],
) -> tuple[Post, str | None]:
    """The result of an improvement, and the prompt that it offers, if any.

    `attempts` counts the changes tested on these labels, earlier improvements' included. `links`
    lead to the replies whose scores change most, by case id.
    """
    better = found.better
    why = (
        "; ".join(errors("improved", better.rubric.prompt, is_shipped=False).values())
        if better
        else ""
    )
    is_offered = better is not None and not why
    title = (
        "Found a rubric closer to people's scores"
        if is_offered
        else "Found no clearly better rubric"
    )
    lines = [
        f"*{title} for <#{improvement.channel_id}>*",
        (
            f"{found.learned} labelled replies to learn from, {found.tested} others to test "
            f"on. {_labels(cases)}"
        ),
    ]
    trials = {each.way: each for each in found.trials}
    for way, name in _NAMES.items():
        if way in trials:
            lines.append(_trial(trials[way]))
        elif way in found.untried:
            lines.append(f"• *{name.capitalize()}*: not tested. {found.untried[way]}")
    lines += [SPENT] if found.is_spent else []
    if attempts:
        times = number_of(attempts, "change was", "changes were")
        lines.append(
            f"{times} tested on these labels so far; each further one has to be more certain."
        )
    if better is None or why:
        lines += [NOT_A_RUBRIC.format(why=excerpt(why, _LINE))] if why else []
        return sentence("\n".join([*lines, "Nothing changed."])), None
    lines.append("Replies whose scores change most:")
    for each in better.changes:
        case = f"case {each.case.id}"
        linked = f"<{links[each.case.id]}|{case}>" if each.case.id in links else case
        lines.append(f"• {linked}: {each.before} → {each.after}, people {each.case.label:.3g}")
    text = "\n".join(lines)
    return Post(
        text, [ui.section(text), *_offer(improvement, in_use, better)]
    ), better.rubric.prompt


def _offer(improvement: JudgeRequest, in_use: Rubric, better: Trial) -> list[ui.Block]:
    # A text that may quote replies is shown only in a window, because a message would keep them
    # after their deletion.
    examples = len(examples_of(better.rubric))
    is_whole = better.way is Way.CALIBRATION and not examples and len(in_use.prompt) < ROOM
    view = (
        []
        if is_whole
        else [ui.button("View the new text", ids.ACTION_IMPROVE_VIEW, improvement.id)]
    )
    replies = "a reply" if examples == 1 else f"{examples} replies"
    return [
        *([ui.section(QUOTES.format(replies=replies))] if examples else []),
        *([ui.section(better.effect)] if better.effect else []),
        *_warnings(in_use, better.rubric, quotes_lines=is_whole),
        *(diff(in_use, better.rubric) if is_whole else []),
        ui.actions(
            ui.button("Use it", ids.ACTION_IMPROVE_USE, improvement.id),
            ui.button("Keep the current one", ids.ACTION_IMPROVE_LEAVE, improvement.id),
            *view,
        ),
    ]


def _labels(cases: Sequence[LabelledCase]) -> str:
    given = Counter(person for each in cases for person in each.people)
    people, labels = len(given), given.total()
    blind = sum(each.is_blind for each in cases)
    who = "One person gave all labels" if people == 1 else f"{people} people gave the labels"
    most = "" if people == 1 else f", one of them {max(given.values(), default=0)} of {labels}"
    seen = (
        f"{blind} of {len(cases)} replies are labelled blind"
        if blind
        else "all had seen the judge's score before"
    )
    return f"{who}{most}; {seen}."


def _trial(trial: Trial) -> str:
    figures = ", ".join(f"{name} {before} → {after}" for name, before, after in trial.figures)
    said = " ".join(filter(None, [trial.finding, trial.doubt]))
    return f"• *{_NAMES[trial.way].capitalize()}*. {said} Before → after: {figures}."


def diff(before: Rubric, after: Rubric) -> list[ui.Block]:
    lines = ndiff(before.prompt.splitlines(), after.prompt.splitlines())
    text = "\n".join(line for line in lines if not line.startswith("?"))
    title = ui.run("The new text; lines with + are new, lines with - are gone", is_bold=True)
    return ui.quotes(text, ROOM, title, kind="rich_text_preformatted")


def _warnings(before: Rubric, after: Rubric, *, quotes_lines: bool = True) -> list[ui.Block]:
    """Warnings about new lines that give the judge orders, as a reply fishing for a high score
    would; empty if none.
    """
    old = set(before.prompt.splitlines())
    found = [
        f":warning: Line {number} of the new text gives the judge orders"
        + (f": {excerpt(line, _LINE)}" if quotes_lines else ".")
        for number, line in enumerate(after.prompt.splitlines(), 1)
        if line not in old and find_flags("", line)
    ]
    more = (
        [f":warning: {len(found) - _MOST_WARNINGS} more such lines."]
        if len(found) > _MOST_WARNINGS
        else []
    )
    return [ui.section("\n".join([*found[:_MOST_WARNINGS], *more]))] if found else []


def view_modal(before: Rubric, after: Rubric) -> dict[str, Any]:
    return ui.page("New rubric", [*_warnings(before, after), *diff(before, after)])


def decided(blocks: Sequence[ui.Block], said: str, number: int | None = None) -> Post:
    """The message with the figures, after the decision; `number` adds a button to go back from that
    improvement.
    """
    kept = [each for each in blocks if each["type"] != "actions"]
    back = (
        []
        if number is None
        else [ui.actions(ui.button("Go back", ids.ACTION_IMPROVE_BACK, number))]
    )
    return Post(said, [*kept, ui.context(said), *back])
