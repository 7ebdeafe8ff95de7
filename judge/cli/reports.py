"""What commands over many rows say: sentences about single rows, and a summary."""

import re
import textwrap

import typer

_SHOWN = 10
_WIDTH = 80
# All of C0 and C1 but tab and newline: escape sequences retitle a terminal, write its clipboard, hide what was said.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Reports:
    """Prints sentences on standard error, and leaves a long list of them to the summary."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, sentence: str) -> None:
        """Prints one of the first ten, and for the next that there are more."""
        self._count += 1
        if self._count <= _SHOWN:
            typer.echo(to_printable(sentence), err=True)
        elif self._count == _SHOWN + 1:
            typer.echo("More lines have such trouble; from here on they are only counted.", err=True)


def to_printable(text: str) -> str:
    """`text`, which a model or a file may have written, with U+FFFD for each control character but tab and newline."""
    return _CONTROLS.sub("\ufffd", text)


def to_summary(*sentences: str) -> str:
    """Each sentence as a paragraph of its own, no wider than a terminal; file names stay in one piece."""
    return "\n".join(
        textwrap.fill(sentence, _WIDTH, break_long_words=False, break_on_hyphens=False) for sentence in sentences
    )
