"""Interactive elements: their values in `state.values` and `actions`, and the inputs that the
client refuses.

Source: https://docs.slack.dev/reference/block-kit/block-elements
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pocket_slack.blocks.nesting import with_nested
from pocket_slack.errors import SandboxError, listed
from pocket_slack.model import Json


@dataclass(frozen=True)
class Kind:
    """How an element's value is stored: under the key `key`; the element's field `initial` has the
    first value.
    """

    key: str
    initial: str
    is_option: bool = False
    is_many: bool = False


KINDS: Mapping[str, Kind] = {
    "plain_text_input": Kind("value", "initial_value"),
    "number_input": Kind("value", "initial_value"),
    "email_text_input": Kind("value", "initial_value"),
    "url_text_input": Kind("value", "initial_value"),
    "rich_text_input": Kind("rich_text_value", "initial_value"),
    "file_input": Kind("files", "initial_files", is_many=True),
    "datepicker": Kind("selected_date", "initial_date"),
    "timepicker": Kind("selected_time", "initial_time"),
    "datetimepicker": Kind("selected_date_time", "initial_date_time"),
    "static_select": Kind("selected_option", "initial_option", is_option=True),
    "external_select": Kind("selected_option", "initial_option"),
    "users_select": Kind("selected_user", "initial_user"),
    "conversations_select": Kind("selected_conversation", "initial_conversation"),
    "channels_select": Kind("selected_channel", "initial_channel"),
    "radio_buttons": Kind("selected_option", "initial_option", is_option=True),
    "checkboxes": Kind("selected_options", "initial_options", is_option=True, is_many=True),
    "multi_static_select": Kind(
        "selected_options", "initial_options", is_option=True, is_many=True
    ),
    "multi_external_select": Kind("selected_options", "initial_options", is_many=True),
    "multi_users_select": Kind("selected_users", "initial_users", is_many=True),
    "multi_conversations_select": Kind(
        "selected_conversations", "initial_conversations", is_many=True
    ),
    "multi_channels_select": Kind("selected_channels", "initial_channels", is_many=True),
}


def elements_of(blocks: list[Json]) -> Iterator[tuple[Json, Json]]:
    """Every interactive element, after the block that contains it."""
    for block, _ in with_nested(blocks):
        candidates = [block.get("accessory"), block.get("element"), *block.get("actions", [])]
        if block["type"] in ("actions", "context_actions"):
            candidates += block.get("elements", [])
        for element in candidates:
            if element and "action_id" in element:
                yield block, element


def find_element(
    blocks: list[Json], action_id: str, block_id: str | None = None
) -> tuple[Json, Json]:
    """The block and the element with that action id; `block_id` says which, if several have it.

    Raises:
        SandboxError: There is no such element.
    """
    found = list(elements_of(blocks))
    for block, element in found:
        if element["action_id"] == action_id and block_id in (None, block["block_id"]):
            return block, element
    there = [element["action_id"] for _, element in found]
    raise SandboxError(f"nothing here has the action_id {action_id!r}; there are {listed(there)}")


def state_values(blocks: list[Json], typed: Json) -> Json:
    """`state.values` of a surface: the values in `typed`, and the initial values of all other
    elements.
    """
    values: Json = {}
    for block, element in elements_of(blocks):
        if element["type"] in KINDS:
            state = typed.get(block["block_id"], {}).get(element["action_id"])
            values.setdefault(block["block_id"], {})[element["action_id"]] = state or _initial(
                element
            )
    return values


def chosen(element: Json, value: Any) -> Json:
    """The state of an element after a person typed or chose `value`: text, an option's value, an
    id, or a list.

    Text for a `rich_text_input` becomes a rich_text value without formatting; a rich_text value is
    taken as it is.

    Raises:
        SandboxError: There is no such option.
    """
    kind = KINDS[element["type"]]
    if kind.is_option and kind.is_many:
        return {"type": element["type"], kind.key: [option_of(element, one) for one in value]}
    if kind.is_option:
        return {
            "type": element["type"],
            kind.key: None if value is None else option_of(element, value),
        }
    if element["type"] == "rich_text_input" and isinstance(value, str):
        return {"type": element["type"], kind.key: to_typed_rich_text(value)}
    return {"type": element["type"], kind.key: value}


def to_typed_rich_text(text: str) -> Json | None:
    """The value of a `rich_text_input` with `text` typed and nothing formatted; None if `text` is
    empty.
    """
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    return {"type": "rich_text", "elements": [section]} if text else None


def option_of(element: Json, value: str) -> Json:
    """The option with that value."""
    groups = [group["options"] for group in element.get("option_groups", [])]
    options: list[Json] = sum(groups, list(element.get("options", [])))
    for option in options:
        if option["value"] == value:
            return option
    raise SandboxError(
        f"no option {value!r} in {element['action_id']!r}; there are "
        f"{listed(one['value'] for one in options)}"
    )


def refusals(blocks: list[Json], values: Json) -> dict[str, str]:
    """The client's messages, by block id, under inputs that it would not send: empty, too short or
    too long.
    """
    errors = {}
    for block, element in elements_of(blocks):
        if block["type"] == "input":
            state = values[block["block_id"]][element["action_id"]]
            if text := _refusal(block, element, state[KINDS[element["type"]].key]):
                errors[block["block_id"]] = text
    return errors


def _refusal(block: Json, element: Json, value: Any) -> str | None:
    if not value:
        return None if block.get("optional") else "Please complete this required field."
    if element["type"] != "plain_text_input":
        return None
    shortest = element.get("min_length", 0)
    longest = element.get("max_length", 3000)
    if len(value) < shortest:
        return f"Please enter at least {shortest} characters."
    if len(value) > longest:
        return f"Please enter no more than {longest} characters."
    return None


def _initial(element: Json) -> Json:
    kind = KINDS[element["type"]]
    return {
        "type": element["type"],
        kind.key: element.get(kind.initial, [] if kind.is_many else None),
    }
