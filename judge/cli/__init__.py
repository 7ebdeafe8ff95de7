"""The `judge` command. One module per subcommand; heavy imports belong inside the functions.

Exit codes: 0 done (or scored), 1 done with gaps (unscored, or lines that could not be read), 2 an
error in one plain sentence on standard error, 130 interrupted.
"""

import os
import sys

import typer

from judge.cli import options
from judge.cli.agreement_command import agreement
from judge.cli.batch_command import batch
from judge.cli.label_command import label
from judge.cli.options import say
from judge.cli.row_commands import causes, pairs, topics, view
from judge.cli.score_commands import rubrics, score
from judge.errors import JudgeError
from judge.rows.files import os_reason

__all__ = ["app", "main"]

app = options.make_app()


@app.callback()
def judge(version: options.Version = False) -> None:
    """Scores a response to a question with a language model as the judge."""


# Texts without options are refused in a sentence that names the options.
app.command(context_settings={"allow_extra_args": True})(score)
for _command in (rubrics, batch, pairs, agreement, causes, topics, label, view):
    app.command()(_command)


def main() -> None:
    """Runs the command; an error is shown as one plain sentence, never as a traceback."""
    try:
        options.refuse_clash()
        code = app(standalone_mode=False)
        if sys.stdout is not None:  # None if the parent process closed it
            sys.stdout.flush()
    except JudgeError as exc:
        code = _fail(options.to_options(str(exc)))
    except typer.TyperException as exc:
        code = _fail(exc.format_message())
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except BrokenPipeError:
        _drop_output()  # the reader of our output has gone
        code = 1
    except (
        OSError
    ) as exc:  # errors of files are wrapped where they are opened; this one is from our output
        _drop_output()
        code = _fail(f"Standard output cannot be written ({os_reason(exc)}).")
    sys.exit(code or 0)


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> int:
    say(message, err=True)
    return 2
