"""Prints how much a reader has to take in: `python -m tools.density judge bot`.

Counted are nodes of the syntax tree, because lines can be filled more or less. A line of code holds
code: no docstring, no comment alone, and it is not blank. For comparison, nodes a line in all, in
functions of 12 lines or more, and the names in such a function, November 2026: pgqueuer 3.8, 3.9,
22; slack_bolt 4.1, 4.3, 22; httpx 4.2, 4.4, 24; pydantic_evals 4.5, 5.0, 27; starlette 5.0, 5.4, 25.
"""

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LONG_FUNCTION = 12  # lines of code
WIDTH = 100
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


@dataclass
class Density:
    """The counts of some files; `functions` has nodes a line and names of each long function."""

    files: int = 0
    lines: int = 0
    nodes: int = 0
    wide_lines: int = 0
    tuple_assignments: int = 0
    functions: list[tuple[float, int]] = field(default_factory=list)

    def add(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        docstrings = {docstring for node in ast.walk(tree) for docstring in _docstring(node)}
        lines = _code_lines(text)
        for docstring in docstrings:
            lines -= _span(docstring)
        rows = text.splitlines()
        self.files += 1
        self.lines += len(lines)
        self.nodes += _count(tree, docstrings)
        self.wide_lines += len([number for number in lines if len(rows[number - 1]) > WIDTH])
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                is_tuple = isinstance(node.value, ast.Tuple)
                self.tuple_assignments += is_tuple and isinstance(node.targets[0], ast.Tuple)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                own = lines & _span(node)
                if len(own) >= LONG_FUNCTION:
                    nodes = _count(node, docstrings)
                    self.functions.append((nodes / len(own), len(set(_names(node)))))

    def __str__(self) -> str:
        number = max(len(self.functions), 1)
        dense = sum(nodes for nodes, _ in self.functions) / number
        names = sum(names for _, names in self.functions) / number
        lines = max(self.lines, 1)
        return (
            f"{self.files} files, {self.lines} lines of code, {self.nodes} nodes: "
            f"{self.nodes / lines:.1f} a line; functions of {LONG_FUNCTION} lines or more: "
            f"{dense:.1f} nodes a line, {names:.0f} names; lines over {WIDTH} characters: "
            f"{100 * self.wide_lines / lines:.1f}%; a, b = x, y: "
            f"{1000 * self.tuple_assignments / lines:.1f} in 1,000 lines"
        )


def _docstring(node: ast.AST) -> Iterator[ast.stmt]:
    body = getattr(node, "body", None)
    match body:
        case [ast.Expr(value=ast.Constant(value=str())) as docstring, *_]:
            yield docstring


def _span(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _code_lines(text: str) -> set[int]:
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def _count(tree: ast.AST, docstrings: set[ast.stmt]) -> int:
    """The nodes of a tree, without docstrings; whether a name is read or written is no node."""
    total = 0
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        total += not isinstance(node, ast.expr_context)
        nodes += [child for child in ast.iter_child_nodes(node) if child not in docstrings]
    return total


def _names(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def measure(folders: list[str]) -> Density:
    density = Density()
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.py")):
            density.add(path)
    return density


if __name__ == "__main__":
    sys.stdout.write(f"{measure(sys.argv[1:])}\n")
