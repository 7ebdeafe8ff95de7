import re
from pathlib import Path

import pytest

from judge import Rubric, RubricError, list_rubrics, load_rubric
from judge.scoring.rubric import purpose_of
from tests.tables import each

DATA = Path(__file__).parents[1] / "data"
TONE = (
    "Is it kind?\n<question>{prompt}</question>\n<response>{response}</response>\nN is between "
    "1 and 3."
)


def test_default_prompt_is_byte_for_byte_the_given_one() -> None:
    golden = (DATA / "additive-5.txt").read_bytes()
    assert load_rubric("additive-5").prompt.encode() == golden
    assert b"\r" not in golden


def test_version_depends_only_on_the_text() -> None:
    # printf 'additive-5.txt' | sha256sum | cut -c1-8
    assert load_rubric("additive-5").version == "f846c469"
    assert Rubric("a", TONE).version == Rubric("b", TONE).version != Rubric("a", TONE + " ").version


def test_file_is_loaded_under_its_stem(tmp_path: Path) -> None:
    path = tmp_path / "tone.txt"
    path.write_text(TONE, encoding="utf-8")
    assert load_rubric(path) == load_rubric(str(path)) == Rubric("tone", TONE)


def test_a_file_in_the_current_folder_needs_no_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("tone", "code"):
        Path(name).write_text(TONE, encoding="utf-8")
    assert load_rubric("tone") == Rubric("tone", TONE)
    assert load_rubric("code").prompt != TONE  # a name of the package comes first


@each("name", list_rubrics())
def test_a_shipped_rubric_states_its_scale_and_the_form_of_the_answer_once(name: str) -> None:
    prompt = load_rubric(name).prompt
    assert len(re.findall(r"is between \d", prompt)) == 1
    assert prompt.count('exact format: "score: <') == 1
    assert "up to 100 words" in prompt
    assert len(prompt) < 2 * 3000  # fits in two fields of a modal
    assert 0 < len(purpose_of(name)) <= 75  # the description of an option in Slack


@each(
    ("prompt", "message"),
    [
        (TONE.replace("{response}", ""), "{response} stands 0 times in the prompt"),
        (TONE + "{prompt}", "{prompt} stands 2 times"),
        (
            TONE.replace("<response>{response}</response>", "{response}"),
            "write it as <response>{response}</response>",
        ),
        (TONE.replace("is between", "lies within"), "0 scales in the prompt; state one"),
        (TONE + " M is between 0 and 9", "2 scales in the prompt"),
        (TONE.replace("1 and 3", "3 and 1"), "lowest first"),
    ],
)
def test_incomplete_prompt_names_the_rubric_and_the_fault(prompt: str, message: str) -> None:
    with pytest.raises(RubricError, match=f"^rubric 'tone': .*{re.escape(message)}"):
        Rubric("tone", prompt)


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        RubricError, match=r"^rubric 'additive': no such rubric; choose one of additive-5"
    ):
        load_rubric("additive")


@each(("content", "fault"), [(None, "No such file"), (b"\xff\xfe\x00", "not UTF-8")])
def test_unreadable_file_says_why(tmp_path: Path, content: bytes | None, fault: str) -> None:
    path = tmp_path / "tone.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RubricError, match=fault):
        load_rubric(path)
