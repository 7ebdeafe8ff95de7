"""What is wrong with single rows, said as it is found."""

import typer

_SHOWN = 10


class Reports:
    """Prints sentences on standard error, and leaves a long list of them to the summary."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, sentence: str) -> None:
        """Prints one of the first ten, and for the next that there are more."""
        self._count += 1
        if self._count <= _SHOWN:
            typer.echo(sentence, err=True)
        elif self._count == _SHOWN + 1:
            typer.echo("More lines have such trouble; from here on they are only counted.", err=True)
