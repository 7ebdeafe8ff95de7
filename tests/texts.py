"""Messages and windows as lines of plain words, for the files in `__snapshots__` that reviewers
read.

`make texts` writes these files anew.
"""

from collections.abc import Sequence
from difflib import ndiff
from typing import Any

Part = dict[str, Any]


def read(blocks: Sequence[Part]) -> str:
    """The blocks from top to bottom, with what can be clicked or filled in as `[words]`.

    The small print begins with a dot, a quote with ">".
    """
    return "\n".join(
        line.rstrip() for block in blocks for line in _READERS[block["type"]](block).splitlines()
    )


def read_window(view: Part) -> str:
    """A window with its title first and its buttons last."""
    ends = [f"[{view[name]['text']}]" for name in ("submit", "close") if name in view]
    return "\n".join([f"== {view['title']['text']} ==", read(view["blocks"]), " ".join(ends)])


def unlike(usual: str, text: str) -> str:
    """How a text differs from the usual one, so that a table of situations repeats nothing: lines
    with "-" and "+".
    """
    return "\n".join(
        line for line in ndiff(usual.splitlines(), text.splitlines()) if line[0] in "-+"
    )


def _section(block: Part) -> str:
    words = [block["text"]["text"]] if "text" in block else []
    words += [each["text"] for each in block.get("fields", [])]
    return "\n".join(words) + (f" {_element(block['accessory'])}" if "accessory" in block else "")


def _input(block: Part) -> str:
    label = block["label"]["text"] + (" (optional)" if block.get("optional") else "")
    hint = f"\n· {block['hint']['text']}" if "hint" in block else ""
    return f"{label}: {_element(block['element'])}{hint}"


def _elements(block: Part) -> str:
    return " ".join(_element(each) for each in block["elements"])


def _rich_text(block: Part) -> str:
    lines = []
    for part in block["elements"]:
        words = "".join(
            run.get("text") or run.get("url") or f":{run.get('name')}:" for run in part["elements"]
        )
        mark = "" if part["type"] == "rich_text_section" else "> "
        lines += [mark + line for line in words.splitlines()]
    return "\n".join(lines)


def _chart(block: Part) -> str:
    chart = block["chart"]
    axes = " by ".join(chart["axis_config"][axis] for axis in ("y_label", "x_label"))
    points = [
        f"{series['name']}: " + " | ".join(p["label"] for p in series["data"])
        for series in chart["series"]
    ]
    return "\n".join([f"[{chart['type']} chart] {block['title']} ({axes})", *points])


def _table(block: Part) -> str:
    return "\n".join(
        [
            f"[table] {block['caption']}",
            *(" | ".join(c["text"] for c in row) for row in block["rows"]),
        ]
    )


def _element(element: Part) -> str:
    chosen = (
        [element["initial_option"]]
        if "initial_option" in element
        else element.get("initial_options", [])
    )
    words = [element[name]["text"] for name in ("text", "placeholder") if name in element]
    words += [
        str(element[name])
        for name in element
        if name.startswith("initial_") and "option" not in name
    ]
    for each in element.get("options", []):
        about = f" ({each['description']['text']})" if "description" in each else ""
        words.append(f"{'*' if each in chosen else ''}{each['text']['text']}{about}")
    words += [
        element[name]["text"]["text"]
        for name in ("positive_button", "negative_button")
        if name in element
    ]
    asked = [part["text"] for part in element.get("confirm", {}).values() if isinstance(part, dict)]
    return f"[{' | '.join(words)}]" + (f" asks: {' | '.join(asked)}" if asked else "")


_READERS = {
    "section": _section,
    "header": lambda block: f"# {block['text']['text']}",
    "context": lambda block: "\n".join(f"· {each['text']}" for each in block["elements"]),
    "divider": lambda _: "---",
    "actions": _elements,
    "context_actions": _elements,
    "input": _input,
    "rich_text": _rich_text,
    "data_visualization": _chart,
    "data_table": _table,
}
