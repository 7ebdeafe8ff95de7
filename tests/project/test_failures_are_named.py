"""A failing test is named even if its report cannot be made."""

import pytest

TESTS = """
import ast

def test_that_fails(monkeypatch):
    def parse(*_args, **_more):
        raise SystemError("AST constructor recursion depth mismatch")
    ast.parse = parse
    assert 1 == 2

def test_that_comes_after_it():
    pass
"""


def test_a_test_whose_source_cannot_be_parsed_is_named(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.conftest import pytest_runtest_makereport")
    pytester.makepyfile(TESTS)
    ran = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    ran.assert_outcomes(failed=1, passed=1)
    ran.stdout.fnmatch_lines(["FAILED *::test_that_fails*", "*1 failed, 1 passed*"])
