"""Posts that lose the words of cases."""

from bot.slack.blocks import section
from bot.slack.messenger import Post, drawn_from


def test_what_is_drawn_from_several_cases_goes_with_the_last_of_them() -> None:
    post = Post("Week", [section("Causes"), drawn_from([3, 8], section("too long"))])
    assert post.cases == {3, 8}
    assert post.without({3, 5}) == post
    assert post.without({3, 8}).blocks == [section("Causes")]


def test_an_id_names_as_many_cases_as_slack_takes_and_each_in_full() -> None:
    case_ids = [*range(100_000, 100_100)]
    block = drawn_from(case_ids, section("too long"))
    named = Post("Week", [block]).cases
    assert len(block["block_id"]) <= 255
    assert named == {*case_ids[: len(named)]}
    assert len(named) > 30
