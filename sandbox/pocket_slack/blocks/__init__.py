"""Block Kit as Slack checks it: what is wrong with blocks and views, and how Slack stores the right
ones.
"""

from pocket_slack.blocks.chunks import check_chunks
from pocket_slack.blocks.messages import check_blocks, find_wrong, is_too_long
from pocket_slack.blocks.normal import normalised, with_emoji
from pocket_slack.blocks.surfaces import check_view, find_wrong_in_view

__all__ = [
    "check_blocks",
    "check_chunks",
    "check_view",
    "find_wrong",
    "find_wrong_in_view",
    "is_too_long",
    "normalised",
    "with_emoji",
]
