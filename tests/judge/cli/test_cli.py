import asyncio
import os
import re
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.bot_command import run as run_program
from tests.judge_command import run
from tests.model_server import ModelServer, Stall
from tests.tables import each

JUDGE = str(Path(sys.executable).with_name("judge"))
TEXTS = ("--question", "How do I boil an egg?", "--response", "Boil the egg for six minutes.")


def test_score_prints_the_score_the_justification_and_the_judge() -> None:
    done = run("score", *TEXTS, "--model", "offline")
    assert done.returncode == 0
    assert re.match(r"Score: \d of 5\n\n\d of 5 points: ", done.stdout)
    assert "offline rater, not a judge · rubric additive-5 (" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_texts_are_read_from_standard_input_and_files(tmp_path: Path) -> None:
    question = tmp_path / "question.txt"
    question.write_text(TEXTS[1], encoding="utf-8")
    texts = ("--question", f"@{question}", "--response", "-")
    done = run("score", *texts, "--model", "offline", given=TEXTS[3])
    assert done.stdout == run("score", *TEXTS, "--model", "offline").stdout


def test_unscored_gives_exit_code_1_and_the_reason() -> None:
    done = run("score", "--question", "Why?", "--response", " ", "--model", "offline")
    assert done.returncode == 1
    assert done.stdout.startswith("Unscored\n\nThe response is empty")


def test_mistakes_give_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    noise = tmp_path / "noise.bin"
    noise.write_bytes(b"good\xff\xfe")
    mistakes = [
        ("score", *TEXTS),
        ("score", "a", "b"),
        ("score", *TEXTS, "--samples", "0"),
        ("score", *TEXTS, "--rubric", "none"),
        ("score", "--question", "-", "--response", "-"),
        ("score", "--question", "a", "--response", f"@{tmp_path}"),
        ("score", "--question", "a", "--response", f"@{noise}"),
        ("rubrics", "none"),
        ("nonsense",),
    ]
    for arguments in mistakes:
        done = run(*arguments)
        assert done.returncode == 2, arguments
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr


@each(
    ("options", "environment", "expected"),
    [
        (("--samples", "0"), {}, "--samples is 0"),
        ((), {"JUDGE_SAMPLES": "0"}, "JUDGE_SAMPLES is 0"),
    ],
)
def test_a_mistake_is_named_as_it_was_given(
    options: tuple[str, ...], environment: dict[str, str], expected: str
) -> None:
    assert run("score", *TEXTS, *options, OPENAI_API_KEY="k", **environment).stderr.startswith(
        expected
    )


async def test_model_from_the_environment_is_asked_and_cannot_control_the_terminal(
    model_server: ModelServer,
) -> None:
    model_server.script("score: 4\nGood \x1b]0;title\x07 enough.")
    given = {"OPENAI_API_KEY": "k", "JUDGE_MODEL": "mine", "JUDGE_SAMPLES": "2"}
    done = await asyncio.to_thread(
        run, "score", *TEXTS, OPENAI_BASE_URL=model_server.base_url, **given
    )
    assert done.stdout.startswith("Score: 4 of 5\n\nGood ]0;title enough.\n\n")
    assert "\n\n2 of 2 ratings: 4, 4 · model mine · " in done.stdout
    assert [request["model"] for request in model_server.requests] == ["mine", "mine"]
    assert model_server.headers[0]["authorization"] == "Bearer k"


async def test_interrupt_leaves_no_traceback(model_server: ModelServer) -> None:
    model_server.script(Stall())
    process = await asyncio.create_subprocess_exec(
        *(JUDGE, "score", *TEXTS),
        env=os.environ | {"OPENAI_BASE_URL": model_server.base_url},
        stderr=asyncio.subprocess.PIPE,
    )
    await model_server.asked(1)
    process.send_signal(signal.SIGINT)
    _, stderr = await process.communicate()
    assert process.returncode == 130
    assert stderr == b""


@each(
    ("output", "code", "sentence"),
    [
        ("| true", 0, ""),
        (">&-", 0, ""),
        ("> /dev/full", 2, "Standard output cannot be written (no space left on device).\n"),
    ],
)
def test_output_that_cannot_be_written_leaves_no_traceback(
    output: str, code: int, sentence: str
) -> None:
    done = subprocess.run(  # noqa: S602 - the shell's redirection is under test
        f"{JUDGE} rubrics additive-5 {output}",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, sentence)


@pytest.mark.parametrize("program", ["judge", "judge-bot"])
async def test_program_says_its_version_and_describes_each_command_in_a_whole_sentence(
    tmp_path: Path, program: str
) -> None:
    said = await run_program(program, ("--version",), {}, tmp_path)
    assert said == (0, f"slack-judge {version('slack-judge')}\n", "")
    _, out, _ = await run_program(program, ("--help",), {"COLUMNS": "80"}, tmp_path)
    commands = out.partition("Commands:\n")[2].splitlines()
    assert len(commands) >= 5
    assert [line for line in commands if not line.endswith(".") or line.endswith("..")] == []


def test_rubrics_lists_the_rubrics_and_prints_one() -> None:
    listed = run("rubrics").stdout.splitlines()
    assert listed[0].startswith("additive-5 (the default)  scale 0 to 5, version ")
    assert [line for line in listed if len(line.partition(": ")[2]) < 20] == []
    assert run("rubrics", "additive-5").stdout.startswith("Review the user’s question")


@pytest.mark.parametrize(("program", "command"), [("judge.cli", "batch"), ("bot.cli", "serve")])
def test_help_imports_nothing_heavy(program: str, command: str) -> None:
    heavy = ("openai", "rich", "pydantic", "pyarrow", "judge.rows.batch", "judge.scoring.judging")
    code = (
        f"import sys, {program} as program; program.app([{command!r}, '--help'], "
        "standalone_mode=False)"
    )
    found = f"print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; {found}"], capture_output=True, check=True
    )
    assert done.stdout.splitlines()[-1] == b"[]"
