"""The texts about a channel's rubrics (see `__snapshots__`), and Slack's limits for them."""

from dataclasses import replace
from datetime import UTC, datetime

from syrupy.assertion import SnapshotAssertion

from bot.features.rubrics import ids, reference_text, text
from bot.pipeline.text import MAX_INPUT, not_understood
from bot.slack.blocks import ModalState
from bot.slack.messenger import Post
from bot.store.rubrics import ChannelJudge, SavedRubric
from judge import Rubric, list_rubrics, load_rubric
from tests.cases import TONE
from tests.tables import each
from tests.texts import read, read_window, unlike

MOMENT = datetime(2026, 11, 21, 8, 30, tzinfo=UTC)
FIRST = SavedRubric("T1", "C1", "tone", 1, TONE, "U1", MOMENT)
SHIPPED = {name: load_rubric(name) for name in list_rubrics()}
NOW = Rubric("tone", TONE)


def the_list(chosen: ChannelJudge, *own: SavedRubric, models: tuple[str, ...] = ()) -> Post:
    return text.state(chosen, "additive-5", ["additive-5", "code"], own, models)


USUAL = the_list(ChannelJudge())
NEWEST = replace(FIRST, number=2, prompt=f"Be strict. {TONE}")
LISTS = {
    "with its own in use": the_list(ChannelJudge("tone", FIRST.rubric.version), FIRST),
    "with an earlier version in use": the_list(ChannelJudge("tone", FIRST.rubric.version), NEWEST),
    "with models": the_list(ChannelJudge("code", None, "large"), models=("large", "larger")),
    "with a model no longer offered": the_list(ChannelJudge("code", None, "large")),
}


def test_the_list_reads_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    """Of the others, only what differs from the usual list is in the snapshot."""
    usual = read(USUAL.blocks)
    assert usual == snapshot
    for which, post in LISTS.items():
        assert unlike(usual, read(post.blocks)) == snapshot(name=which)


def test_the_sentences_read_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    code = ChannelJudge("code", None, "large")
    said = [
        read(text.ask_to_use(code, "additive-5", "{}").blocks),
        text.saved(NOW, text.unchanged(ChannelJudge("tone"), "additive-5")).text,
        text.used(code, "additive-5"),
        text.used_by("U1", "C1", code, "additive-5"),
        text.unchanged(ChannelJudge(), "additive-5"),
        text.no_rubric("tune", ["additive-5", "code"]),
        text.no_model("huge", ["large", "larger"]),
        text.no_model("huge", []),
        text.needs_reference("reference-5"),
        read(text.ask_to_delete(NEWEST).blocks),
        text.deleted("tone"),
        text.not_made_here("code"),
        text.not_deleted_in_use("tone"),
        not_understood("I do not know '<x>'", text.HELP),
    ]
    assert "\n".join(said) == snapshot


def test_the_windows_read_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    windows = [
        text.begin_modal(text.RubricState(channel_id="C1", based_on="code"), NOW.prompt),
        text.rubric_modal(text.RubricState(channel_id="C1", rubric="tone"), "", NOW.prompt),
        text.view_modal(Rubric("code", TONE)),
        reference_text.reference_modal(ModalState(channel_id="C1"), ""),
        reference_text.reference_modal(ModalState(channel_id="C1"), "So it is."),
    ]
    assert "\n\n".join(map(read_window, windows)) == snapshot


NO_QUESTION = TONE.replace("{prompt}", "")


@each(
    ("name", "prompt", "block", "error"),
    [
        ("tone!", TONE, ids.BLOCK_NAME, text.BAD_NAME),
        ("code", TONE, ids.BLOCK_NAME, text.SHIPPED_NAME),
        ("tone", NO_QUESTION, ids.BLOCK_PROMPT, "{prompt} stands 0 times in the prompt;"),
        ("tone", TONE.replace("score:", "points:"), ids.BLOCK_PROMPT, text.NO_FORMAT),
    ],
)
def test_what_is_wrong_with_a_rubric_is_said_beside_its_field(
    name: str, prompt: str, block: str, error: str
) -> None:
    ((at, said),) = text.errors(name, prompt, ids.BLOCK_PROMPT, is_shipped=name in SHIPPED).items()
    assert (at, said[: len(error)]) == (block, error)
    assert text.errors("tone", TONE, ids.BLOCK_PROMPT, is_shipped=False) == {}


def test_every_shipped_rubric_can_be_edited() -> None:
    assert all(len(rubric.prompt) <= MAX_INPUT for rubric in SHIPPED.values())
