"""Interactive elements, and which blocks may contain them.

Source: https://docs.slack.dev/reference/block-kit/block-elements
"""

from collections.abc import Mapping

from pocket_slack.blocks.objects import (
    ACTION_ID,
    CONFIRM,
    CONVERSATION_FILTER,
    DISPATCH,
    LINK_OPTION,
    OPTION_GROUP,
    PLACEHOLDER,
    PLAIN_OPTION,
    RICH_OPTION,
    SLACK_FILE,
    URL,
    plain_text,
)
from pocket_slack.blocks.rich_text import RICH_TEXT
from pocket_slack.blocks.schema import Check, array, boolean, choice, integer, record, string

_FOCUS: Mapping[str, Check] = {"action_id": ACTION_ID, "focus_on_load": boolean}
_PICKER: Mapping[str, Check] = {**_FOCUS, "confirm": CONFIRM}
_SELECT: Mapping[str, Check] = {**_PICKER, "placeholder": PLACEHOLDER}
_TYPED: Mapping[str, Check] = {
    **_FOCUS,
    "placeholder": PLACEHOLDER,
    "dispatch_action_config": DISPATCH,
}
_MANY: Mapping[str, Check] = {"max_selected_items": integer(1, 1000)}
_IDS = array(string(255, 1), 100)
_STATIC: Mapping[str, Check] = {
    "options": array(PLAIN_OPTION, 100, 1),
    "option_groups": array(OPTION_GROUP, 100, 1),
}
_LABEL = string(75, 1)

IMAGE = record(
    {"alt_text": string(2000)},
    {"image_url": URL, "slack_file": SLACK_FILE},
    either=("image_url", "slack_file"),
)

BUTTON = record(
    {"text": plain_text(75)},
    {
        "action_id": ACTION_ID,
        "url": URL,
        "value": string(2000),
        "style": choice("primary", "danger"),
        "confirm": CONFIRM,
        "accessibility_label": _LABEL,
    },
)

_FEEDBACK_BUTTON = record(
    {"text": plain_text(75), "value": string(2000)}, {"accessibility_label": _LABEL}
)

CONTEXT_ACTIONS: Mapping[str, Check] = {
    "feedback_buttons": record(
        {"positive_button": _FEEDBACK_BUTTON, "negative_button": _FEEDBACK_BUTTON},
        {"action_id": ACTION_ID},
    ),
    "icon_button": record(
        {"icon": choice("trash"), "text": plain_text(75)},
        {
            "action_id": ACTION_ID,
            "value": string(2000),
            "confirm": CONFIRM,
            "accessibility_label": _LABEL,
            "visible_to_user_ids": _IDS,
        },
    ),
}

_MENUS: Mapping[str, Check] = {
    "static_select": record(
        {}, {**_SELECT, **_STATIC, "initial_option": PLAIN_OPTION}, either=tuple(_STATIC)
    ),
    "external_select": record(
        {}, {**_SELECT, "min_query_length": integer(0, 100), "initial_option": PLAIN_OPTION}
    ),
    "users_select": record({}, {**_SELECT, "initial_user": string(255)}),
    "channels_select": record(
        {}, {**_SELECT, "initial_channel": string(255), "response_url_enabled": boolean}
    ),
    "conversations_select": record(
        {},
        {
            **_SELECT,
            "initial_conversation": string(255),
            "default_to_current_conversation": boolean,
            "response_url_enabled": boolean,
            "filter": CONVERSATION_FILTER,
        },
    ),
    "multi_static_select": record(
        {},
        {**_SELECT, **_MANY, **_STATIC, "initial_options": array(PLAIN_OPTION, 100, 1)},
        either=tuple(_STATIC),
    ),
    "multi_external_select": record(
        {},
        {
            **_SELECT,
            **_MANY,
            "min_query_length": integer(0, 100),
            "initial_options": array(PLAIN_OPTION, 100, 1),
        },
    ),
    "multi_users_select": record({}, {**_SELECT, **_MANY, "initial_users": _IDS}),
    "multi_channels_select": record({}, {**_SELECT, **_MANY, "initial_channels": _IDS}),
    "multi_conversations_select": record(
        {},
        {
            **_SELECT,
            **_MANY,
            "initial_conversations": _IDS,
            "default_to_current_conversation": boolean,
            "filter": CONVERSATION_FILTER,
        },
    ),
}

_CHOICES: Mapping[str, Check] = {
    "checkboxes": record(
        {"options": array(RICH_OPTION, 10, 1)},
        {**_PICKER, "initial_options": array(RICH_OPTION, 10, 1)},
    ),
    "radio_buttons": record(
        {"options": array(RICH_OPTION, 10, 1)}, {**_PICKER, "initial_option": RICH_OPTION}
    ),
    "datepicker": record({}, {**_SELECT, "initial_date": string(10, 10)}),
    "timepicker": record({}, {**_SELECT, "initial_time": string(5, 5), "timezone": string(100)}),
    "datetimepicker": record(
        {}, {**_PICKER, "initial_date_time": integer(1_000_000_000, 9_999_999_999)}
    ),
}

_INPUTS: Mapping[str, Check] = {
    "plain_text_input": record(
        {},
        {
            **_TYPED,
            "initial_value": string(3000),
            "multiline": boolean,
            "min_length": integer(0, 3000),
            "max_length": integer(1, 3000),
        },
    ),
    "number_input": record(
        {"is_decimal_allowed": boolean},
        {
            **_TYPED,
            "initial_value": string(100),
            "min_value": string(100),
            "max_value": string(100),
        },
    ),
    "email_text_input": record({}, {**_TYPED, "initial_value": string(3000)}),
    "url_text_input": record({}, {**_TYPED, "initial_value": string(3000)}),
    "rich_text_input": record({}, {**_TYPED, "initial_value": RICH_TEXT}),
    "file_input": record(
        {},
        {
            "action_id": ACTION_ID,
            "filetypes": array(string(50, 1), 100, 1),
            "max_files": integer(1, 10),
        },
    ),
}

_OVERFLOW = record(
    {"options": array(LINK_OPTION, 5, 1)}, {"action_id": ACTION_ID, "confirm": CONFIRM}
)
_CLICKED: Mapping[str, Check] = {"button": BUTTON, "overflow": _OVERFLOW, **_MENUS, **_CHOICES}

IN_ACTIONS = _CLICKED
IN_SECTION: Mapping[str, Check] = {**_CLICKED, "image": IMAGE}
IN_INPUT: Mapping[str, Check] = {**_INPUTS, **_MENUS, **_CHOICES}
