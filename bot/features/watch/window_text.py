"""The blocks of the window in which a channel's watch on an assistant is set, and the errors in it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf
from typing import Any

from bot.domain.watch import Shows, Watch, is_channel
from bot.features.watch import ids
from bot.features.watch import text as words
from bot.features.watch.way import Way
from bot.slack import blocks as ui
from bot.slack import ids as slack_ids
from bot.store.watches import EVERYWHERE
from judge import Rubric
from judge.evaluation.standing import MIN_BEFORE
from judge.scoring.numbers import number_of
from judge.scoring.rubric import Scale
from judge.scoring.sanitize import one_line

MOST_PEOPLE = 5
"""At most this many people are alerted by a watch, besides its channel."""
NOT_SHOWN_YET = "The settings of this assistant are still loading. Check them below, then submit."
_TITLE = "Watches"
_NEW = ("Watch an assistant", "Watch")
_CHANGE = ("Change a watch", "Save")
_LABEL = 75  # https://docs.slack.dev/reference/block-kit/composition-objects/option-object
_MOST_ASSISTANTS = 100
_SHARES = (1, 2, 5, 20)
READING = "_Reading this channel…_"
_SHOWN: Mapping[str, str] = {
    Shows.NOTHING: "Nothing; scores only count in the digest",
    Shows.REACTION: "The score, as a reaction",
    Shows.VERDICT: "The verdict, in the thread",
}


class WatchState(ui.ModalState):
    """What the window remembers.

    `told_at` is the channel of the message in which it was opened. `is_long`: it shows all fields.
    `is_everywhere`: it is about the order for all
    public channels, although it was opened in one.
    """

    told_at: str | None = None
    is_long: bool = False
    is_everywhere: bool = False

    @property
    def channel(self) -> str:
        return self.channel_id or ""

    @property
    def place(self) -> str:
        """Where the watch is set."""
        return EVERYWHERE if self.is_everywhere else self.channel


@dataclass(frozen=True)
class WatchView:
    """The initial content of the window: a watch as it is set (`is_set`), or with the default
    settings.

    `names` are those of the assistants to choose from, by id. By the `version`, a change of these
    settings in the meantime is noticed. The assistant writes `a_day` replies a day. `questions` says
    which messages count as questions to it.
    """

    watch: Watch
    is_set: bool
    rubric: Rubric
    way: Way
    names: Mapping[str, str] = field(default_factory=dict)
    a_day: float = 0
    has_digest: bool = False
    set_by: str = ""
    questions: str = ""


def said_modal(text: str) -> dict[str, Any]:
    return ui.page(_TITLE, [ui.section(text)])


def watch_modal(state: WatchState, form: WatchView) -> dict[str, Any]:
    watch = form.watch
    shows_again = {"dispatch_action": True}
    assistant = _select(ids.BLOCK_ASSISTANT, "Assistant", _assistants(form), watch.author_id)
    blocks = [ui.context(_where(state, form)), assistant | shows_again, _share(watch) | shows_again]
    if not state.is_everywhere:
        blocks.append(ui.context(price_a_day(watch, form.a_day, form.way)))
    if not form.is_set and not form.has_digest:
        blocks.append(_also())
    blocks += _all_fields(state, form) if state.is_long else _in_short(watch)
    title, submit = _CHANGE if form.is_set else _NEW
    return ui.modal(ids.VIEW_WATCH, title, state, blocks, submit, "Cancel")


def _in_short(watch: Watch) -> list[ui.Block]:
    said = ui.context(f"It scores {words.order_words(watch)}")
    return [said, ui.actions(ui.button("More", ids.ACTION_WATCH_MORE))]


def _all_fields(state: WatchState, form: WatchView) -> list[ui.Block]:
    end = [ui.actions(_end(state, form))] if form.is_set else []
    return [*_draw(form), *_alerts(form, state.channel), *end]


def _share(watch: Watch) -> ui.Block:
    one_in = round(1 / watch.share)
    shares = {
        str(each): f"A random 1 in {each}" if each > 1 else "All"
        for each in sorted({*_SHARES, one_in})
    }
    block_id = slack_ids.of(ids.BLOCK_SHARE, watch.author_id)
    return _select(block_id, "Replies to score", shares, str(one_in))


def _also() -> ui.Block:
    label = "Post the channel's weekly digest"
    return ui.field("Also", _ticks(ids.BLOCK_ALSO, label, is_ticked=True), is_optional=True)


def _where(state: WatchState, form: WatchView) -> str:
    if not state.is_everywhere:
        return f"In <#{state.channel_id}>."
    by = f" Set by <@{form.set_by}>." if form.set_by else ""
    return f"In all public channels that I am in{words.left_out(form.watch)}.{by}"


def price_a_day(watch: Watch, a_day: float, way: Way) -> str:
    """How many scores a day a watch takes if its assistant writes `a_day` replies, and what they
    cost, if that is known.
    """
    number = ceil(min(a_day * watch.share, watch.per_day or inf))
    if not number:
        return "It wrote nothing in the last week, so I cannot estimate the cost."
    said = f"Up to {number_of(number, 'score')} a day at last week's pace"
    if way.usd is None:
        return f"{said}. What they cost is not known."
    if not way.usd:
        return f"{said}, at no cost."
    usd = number * way.usd
    cost = f"about ${usd:,.2f}" if usd >= 0.01 else "less than $0.01"
    return f"{said}: {cost} a day at list price{' without thinking' if way.is_guess else ''}."


def off_floor(scale: Scale) -> str:
    return f"Enter a number above {scale.low} and below {scale.high}, or leave it empty."


def kept_out(names: Sequence[str]) -> str:
    return (
        "Alerts contain figures of this channel. Not known to be a member of it: "
        f"{', '.join(names)}."
    )


def _assistants(form: WatchView) -> dict[str, str]:
    author_id = form.watch.author_id
    # It comes first, under its name if it has one.
    names = {author_id: author_id, **form.names}
    number = Counter(names.values())
    labels = {
        each: f"{each} · {name}" if number[name] > 1 else name for each, name in names.items()
    }
    return dict(list(labels.items())[:_MOST_ASSISTANTS])


def _draw(form: WatchView) -> list[ui.Block]:
    watch = form.watch
    rubric = form.rubric.name
    per_day_id = slack_ids.of(ids.BLOCK_PER_DAY, watch.author_id)
    shows_id = slack_ids.of(ids.BLOCK_SHOWS, watch.author_id)
    most = ui.number_box(per_day_id, watch.per_day or None, min_value="1", max_value="99999")
    hint = "For this assistant. Empty means no limit. Days begin at midnight UTC."
    return [
        ui.field("Most scored replies a day", most, hint, is_optional=True),
        _select(shows_id, "What the channel sees of each score", _SHOWN, watch.shows),
        ui.context(
            f"Replies are scored with this channel's rubric, `{rubric}`. `/judge rubric` "
            f"lists them all. {words.ask_words(watch)} {form.questions}".rstrip()
        ),
    ]


def _alerts(form: WatchView, channel_id: str) -> list[ui.Block]:
    watch = form.watch
    scale = form.rubric.scale
    needs = f"Between {scale.low} and {scale.high}. Needs {MIN_BEFORE} scores from earlier weeks."
    floor_id = slack_ids.of(ids.BLOCK_FLOOR, watch.author_id)
    floor = ui.number_box(floor_id, watch.floor, is_whole=False)
    here_id = slack_ids.of(ids.BLOCK_ALERTS_HERE, watch.author_id)
    here = _ticks(here_id, "This channel", is_ticked=channel_id in watch.alerts_to)
    which = f"Each reply that is clearly scored {words.lowest_words(scale)}"
    low_id = slack_ids.of(ids.BLOCK_LOW, watch.author_id)
    low = _ticks(low_id, which, is_ticked=watch.low_since is not None)
    return [
        ui.field("Alert when it gets worse or better", here, is_optional=True),
        ui.field("Also alert these people", _people(watch), is_optional=True),
        ui.field("Also alert when the mean is clearly below", floor, needs, is_optional=True),
        ui.field("Also alert within minutes", low, words.LOW_LIMIT, is_optional=True),
    ]


def _people(watch: Watch) -> ui.Block:
    users: ui.Block = {
        "type": "multi_users_select",
        "action_id": slack_ids.of(ids.BLOCK_ALERTS_TO, watch.author_id),
        "max_selected_items": MOST_PEOPLE,
    }
    if chosen := [each for each in watch.alerts_to if not is_channel(each)]:
        users["initial_users"] = chosen
    return users


def _ticks(action_id: str, label: str, *, is_ticked: bool) -> ui.Block:
    """A single box to tick."""
    options = [ui.option("here", label)]
    box = {"type": "checkboxes", "action_id": action_id, "options": options}
    return box | ({"initial_options": options} if is_ticked else {})


def _end(state: WatchState, form: WatchView) -> ui.Block:
    author_id = form.watch.author_id
    name = one_line(form.names.get(author_id, author_id), 80)
    why = words.ENDED_MEANS.replace("Its replies", f"Replies of {name}")
    title = "End it everywhere?" if state.is_everywhere else "End this watch?"
    asked = {"title": ui.plain(title), "text": ui.plain(why), "style": "danger"}
    asked |= {"confirm": ui.plain("End it"), "deny": ui.plain("Keep it")}
    end = ui.button("End this watch", ids.ACTION_WATCH_END, author_id)
    return end | {"style": "danger", "confirm": asked}


def _select(block_id: str, label: str, values: Mapping[str, str], chosen: str) -> ui.Block:
    options = {value: ui.option(value, said[:_LABEL]) for value, said in values.items()}
    return ui.field(label, ui.menu(block_id, options.values(), options[chosen]))
