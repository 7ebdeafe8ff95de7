"""`blocks.validate` answers as in https://docs.slack.dev/reference/methods/blocks.validate, and
posts nothing.
"""

import json
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

LONG = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}
ODD = {"type": "section", "text": {"type": "invalid", "text": "Hello"}}
VIEW = {"type": "modal", "title": {"type": "plain_text", "text": "My Modal"}, "blocks": [LONG]}
TOO_LONG = {"type": "max_length", "expected": 3000}
ENUM = {"type": "enum", "expected": ["plain_text", "mrkdwn"]}


async def test_what_slack_would_take_is_answered_with_ok_alone(client: AsyncWebClient) -> None:
    assert (await client.blocks_validate(blocks=[{"type": "divider"}])).data == {"ok": True}
    assert (
        await client.blocks_validate(message={"text": "x", "blocks": [{"type": "divider"}]})
    ).data == {"ok": True}
    assert (
        await client.blocks_validate(view={"type": "home", "blocks": [{"type": "divider"}]})
    ).data == {"ok": True}


@pytest.mark.parametrize(
    ("kind", "value", "pointer", "message", "constraint"),
    [
        ("blocks", [ODD], "/0/text/type", "unsupported type: invalid", ENUM),
        ("blocks", [LONG], "/0/text/text", "must be less than 3001 characters", TOO_LONG),
        ("message", {"blocks": [ODD]}, "/blocks/0/text/type", "unsupported type: invalid", ENUM),
        ("view", VIEW, "/blocks/0/text/text", "must be less than 3001 characters", TOO_LONG),
    ],
)
async def test_each_error_says_where_it_is_and_what_was_expected(
    client: AsyncWebClient,
    kind: str,
    value: Any,
    pointer: str,
    message: str,
    constraint: dict[str, Any],
) -> None:
    with pytest.raises(SlackApiError) as caught:
        await client.api_call("blocks.validate", data={kind: json.dumps(value)})
    assert caught.value.response["error"] == f"invalid_{kind}"
    expected = {
        "pointer": pointer,
        "code": "failed_constraint",
        "message": message,
        "constraint": constraint,
    }
    assert expected in caught.value.response["errors"]


async def test_exactly_one_of_the_three_is_given(client: AsyncWebClient) -> None:
    for given in ({}, {"blocks": "[]", "view": "{}"}):
        with pytest.raises(SlackApiError) as caught:
            await client.api_call("blocks.validate", data=given)
        assert caught.value.response["error"] == "invalid_arguments"
