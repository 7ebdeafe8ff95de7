"""Shared by all commands: options, reports on single rows, summaries."""

import os
import re
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import Field, fields, is_dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup, TyperOption

import judge
from judge.errors import SetupError
from judge.scoring.model.chat import DEFAULT_MODEL
from judge.scoring.rubric import DEFAULT_RUBRIC


class Group(TyperGroup):
    def get_help_option(self, ctx: Any) -> TyperOption | None:
        # If --help has no bool as its default, Typer 0.29 loads pydantic, which takes 0.2 s, to
        # convert the missing value of the parent command.
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option


make_app = partial(
    typer.Typer,
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def refuse_clash() -> None:
    """Raises SetupError if the package `judge` is not ours, because a package of that name lies
    over it.
    """
    if "Judge" not in getattr(judge, "__all__", ()):
        raise SetupError(
            "PyPI's package judge is installed here, too. It has the same folder judge/ as "
            "slack-judge, and the later one overwrites the other: pip uninstall judge, then pip "
            "install --force-reinstall --no-deps slack-judge."
        )


def _say_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        typer.echo(f"slack-judge {version('slack-judge')}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")
]
# What makes a judge: the type of each option, its default, what stands for its value, and what it
# is.
_JUDGE: Mapping[str, tuple[Any, Any, str | None, str]] = {
    "model": (
        str,
        DEFAULT_MODEL,
        None,
        "A model of the server; several, with commas, for a panel; or 'offline'.",
    ),
    "rubric": (str, DEFAULT_RUBRIC, None, "A name from 'judge rubrics', or a file."),
    "samples": (
        int | None,
        None,
        None,
        "Ratings per model, at most; default: 3, or 1 each in a panel.",
    ),
    "timeout_s": (float, 60, None, "Longest time for one answer, in seconds."),
    "ask": (str, "text", "WAY", "How: text, distribution (log probabilities), decision."),
    "effort": (str | None, None, "WORD", "How much the model thinks: none, low, high."),
    "options": (str | None, None, "JSON", "More fields for each request: an object."),
    "tier": (str | None, None, "WORD", "flex: half price, 15 minutes."),
    "answer_tokens": (int | None, None, None, "Longest answer; 1024, or 8192 if the model thinks."),
    "points": (bool, False, None, "Also ask, in one more request, which criteria are met."),
}


def makes_judge(
    command: Callable[..., None], names: Collection[str] = tuple(_JUDGE)
) -> Callable[..., None]:
    """Gives a command the options that make a judge, in place of its parameter `make`, which is a
    partial `Judge`, and the fields of each parameter that is a dataclass of options.
    """
    own: list[Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in signature(command).parameters.values():
        if parameter.name == "make":
            own += map(_option, names)
        elif is_dataclass(parameter.annotation):
            groups[parameter.name] = parameter.annotation
            own += map(_to_parameter, fields(parameter.annotation))
        else:
            own.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run(**given: Any) -> None:
        from judge.scoring.judging import Judge

        judge = {name: given.pop(name) for name in names}
        for name, group in groups.items():
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
        command(make=partial(Judge, **judge), **given)

    run.__signature__ = Signature(own)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in own}
    return run


def _option(name: str) -> Parameter:
    kind, default, metavar, words = _JUDGE[name]
    option = typer.Option(metavar=metavar, envvar=f"JUDGE_{name.upper()}", help=words)
    if kind is bool:
        option = typer.Option(f"--{name}", help=words)
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )


def _to_parameter(option: Field[Any]) -> Parameter:
    return Parameter(
        option.name, Parameter.KEYWORD_ONLY, default=option.default, annotation=option.type
    )


Label = Annotated[
    str,
    typer.Option(
        metavar="FIELD", help="The field with people's label: a number or a list of them."
    ),
]
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)")


class Range(NamedTuple):  # Typer would take the two ends of a plain tuple from two arguments
    low: float
    high: float


def to_range(text: str) -> Range:
    """Lowest and highest label of a range such as "0-1" or "1-10"."""
    match = _RANGE.fullmatch(text.strip())
    if match is None or float(match[1]) >= float(match[2]):
        raise SetupError(
            f"--scale {text}: give the labels' lowest and highest value, such as 0-1 or 1-10."
        )
    return Range(float(match[1]), float(match[2]))


_SCALE = "The labels' scale, such as 0-1, if it is not the rubric's."
LabelScale = Annotated[
    Range | None, typer.Option("--scale", metavar="LOW-HIGH", parser=to_range, help=_SCALE)
]
RubricFile = Annotated[
    Path | None,
    typer.Option(
        "--rubric", metavar="FILE", help="The rubric's file, if it is not one of 'judge rubrics'."
    ),
]
Concurrency = Annotated[
    int, typer.Option(envvar="JUDGE_CONCURRENCY", min=1, help="Rows judged at the same time.")
]
OtherJudge = Annotated[
    bool,
    typer.Option(
        "--other-judge", help="Take a model that answered under several names for one judge."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")]

_SHOWN = 10
# All of C0 and C1 except tab and newline: escape sequences can set a terminal's title or clipboard,
# or hide text. GitHub takes a line that begins with "::", or has "##[" anywhere, as a command to
# mask words or to report an error:
# https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
# which .NET's comparison of strings ignores
_BLANK = r"[\s\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
_GAP = f"{_BLANK}*"
_INDENT = rf"(?:(?!\n){_BLANK})*"
_UNSAFE = re.compile(
    rf"[\x00-\x08\x0b-\x1f\x7f-\x9f]|(?P<kept>^{_INDENT}(?=:{_GAP}:)|#{_GAP}#{_GAP}(?=\[)).",
    re.MULTILINE,
)


class Reports:
    """Prints the first ten sentences on standard error, and leaves the others to the summary."""

    def __init__(self, sentences: Iterable[str] = ()) -> None:
        self._count = 0
        for each in sentences:
            self(each)

    def __call__(self, sentence: str) -> None:
        self._count += 1
        if self._count <= _SHOWN:
            say(to_options(sentence), err=True)
        elif self._count == _SHOWN + 1:
            typer.echo("More lines have problems; from here on they are only counted.", err=True)


def say(sentence: str, *, err: bool = False) -> None:
    """Prints a sentence with names or words from outside, such as a file's name."""
    typer.echo(to_printable(sentence), err=err)


def to_options(text: str) -> str:
    """`text` with the options' names in place of the settings', except of those that the
    environment has.
    """

    def name(setting: re.Match[str]) -> str:
        option = f"--{setting[1].lower().replace('_', '-')}"
        is_given = any(each.partition("=")[0] == option for each in sys.argv)
        return option if is_given or not os.environ.get(setting[0]) else setting[0]

    return re.sub(r"\bJUDGE_([A-Z_]+)", name, text)


def to_printable(text: str) -> str:
    """`text` from a model or a file, with U+FFFD for each control character except tab and newline.

    The same replaces the colon or bracket that makes a line a command of GitHub's.
    """
    return _UNSAFE.sub(lambda found: f"{found['kept'] or ''}\ufffd", text)


def to_summary(*sentences: str) -> str:
    """Each sentence as its own paragraph, no wider than a terminal; file names are not broken."""
    fill = partial(textwrap.fill, width=80, break_long_words=False, break_on_hyphens=False)
    return "\n".join(map(fill, sentences))


def refuse_same_file(source: Path, written: Path | None, why: str) -> None:
    if written and source.exists() and written.exists() and source.samefile(written):
        raise SetupError(f"{written}: {why}; choose another output.")
