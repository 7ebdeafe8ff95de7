"""Blocks inside blocks: the cards of a carousel and the children of a container."""

from collections.abc import Iterator
from typing import Any


def with_nested(blocks: Any, pointer: str = "") -> Iterator[tuple[dict[str, Any], str]]:
    """Each block with its JSON pointer, followed by the blocks in it; what is no block is left out."""
    for index, block in enumerate(blocks if isinstance(blocks, list) else []):
        if isinstance(block, dict):
            where = f"{pointer}/{index}"
            yield block, where
            for name in ("child_blocks", *(["elements"] if block["type"] == "carousel" else [])):
                yield from with_nested(block.get(name), f"{where}/{name}")
