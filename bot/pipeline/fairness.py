"""What people have chosen of *Fair* and *Not fair*, shown on these buttons wherever a list has them."""

from collections.abc import Mapping, Sequence

from bot.domain.label import EVERYBODY
from bot.slack import ids
from bot.slack.blocks import Block, spoken
from bot.store import Store

_IS_FAIR = {ids.ACTION_FAIR: True, ids.ACTION_NOT_FAIR: False}


async def with_choices(
    store: Store, team_id: str, blocks: Sequence[Block], reader: str, words: str = ""
) -> list[Block]:
    """The blocks with what their reader, or EVERYBODY, has chosen by now.

    If they answer `words` after `/judge`, or list what these name, the buttons remember them: Slack
    keeps no copy of what only one person sees, so it is made again.
    """
    elements = [element for block in blocks for element in block.get("elements", ())]
    case_ids = {_case_of(each) for each in elements if each.get("action_id") in _IS_FAIR}
    if not case_ids:
        return list(blocks)
    choices = await store.labels.choices(team_id, case_ids, reader)
    return [
        block | {"elements": [_marked(each, choices, reader, words) for each in block["elements"]]}
        if block["type"] == "actions"
        else block
        for block in blocks
    ]


def _case_of(button: Block) -> int:
    return int(button["value"].rpartition(":")[2])


def _marked(
    button: Block, choices: Mapping[tuple[int, bool], int], reader: str, words: str
) -> Block:
    """A button with a mark if its reader has chosen it, or for EVERYBODY with how many have."""
    action_id = button.get("action_id")
    if action_id not in _IS_FAIR:
        return button
    case_id = _case_of(button)
    label = "Fair" if _IS_FAIR[action_id] else "Not fair"
    if number := choices.get((case_id, _IS_FAIR[action_id]), 0):
        label += f" ({number})" if reader == EVERYBODY else " ✓"
    marked = button | {"text": button["text"] | {"text": label}}
    if words:
        marked["value"] = f"{words}:{case_id}"
    return spoken(marked, button["accessibility_label"].partition(", ")[2])
