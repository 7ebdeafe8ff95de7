"""Runs the example test in the README."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_test_in_the_readme_passes() -> None:
    (example,) = (
        code
        for code in re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
        if "async def test_" in code
    )
    exec(example, {})  # noqa: S102 - ends with asyncio.run
