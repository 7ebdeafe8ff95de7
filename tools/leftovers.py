"""Lists what a feature would leave in the rest of the app: `python -m tools.leftovers watch`.

Names that the rest of the app defines and that only the feature uses, by their spelling. And the
feature's own name, as a word in names, texts or comments, unless `docs/architecture.md` lists it as
a word of the whole app. Names fail it
(exit code 1); words are only listed. The tables may stay with their columns, and the values of enums, because
what is stored has to remain readable.
"""

import ast
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLES = ("bot/store/schema.py", "bot/store/migrations/")
COMPOSITION = "bot/app.py"  # its line is deleted with the feature
FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef
NAMED = *FUNCTIONS, ast.Name  # in a function these are known only there
READ = {"NAME", "STRING", "COMMENT", "FSTRING_MIDDLE"}


def leftovers(feature: str) -> Iterator[str]:
    own = Counter[str]()
    rest = Counter[str]()
    defined = dict[str, str]()
    is_word_of_app = _is_word_of_app(feature)
    for path in sorted((ROOT / "bot").rglob("*.py")):
        where = path.relative_to(ROOT).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if where.startswith(f"bot/features/{feature}/"):
            own.update(_used(tree))
        elif not where.startswith(TABLES):
            rest.update(_used(tree))
            defined |= {name: f"{where}:{line}" for name, line in _defined(tree)}
            if not (is_word_of_app or where == COMPOSITION):
                yield from (
                    f"{where}:{line}: {text}" for line, text in _mentions(path, tree, feature)
                )
    columns = set(_used(ast.parse((ROOT / TABLES[0]).read_text(encoding="utf-8"))))
    only_own = [name for name in defined if own[name] and not rest[name] and name not in columns]
    yield from (f"{defined[name]}: only {feature} uses {name}" for name in only_own)


def _is_word_of_app(feature: str) -> bool:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    words = page.partition("\n## Words\n")[2].partition("\n## ")[0]
    return re.search(rf"^\| {feature.removesuffix('s')} \|", words, re.MULTILINE) is not None


def _mentions(path: Path, tree: ast.AST, feature: str) -> Iterator[tuple[int, str]]:
    stored = {each.lineno for each in _enum_values(tree)}
    word = re.compile(
        rf"(?<![a-z]){feature}(?![a-z])|{feature.capitalize()}(?![a-z])|\b{feature.upper()}(?![A-Z])"
    )
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            is_stored = token.type == tokenize.STRING and token.start[0] in stored
            if tokenize.tok_name[token.type] in READ and not is_stored:
                for number, line in enumerate(token.string.splitlines()):
                    if word.search(line):
                        yield token.start[0] + number, line.strip()


def _used(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
                yield name
            case ast.keyword(arg=str(name)) | ast.Constant(value=str(name)):
                yield name


def _enum_values(tree: ast.AST) -> list[ast.Assign]:
    kinds = [each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)]
    enums = [
        each
        for each in kinds
        if any(isinstance(base, ast.Name) and base.id == "StrEnum" for base in each.bases)
    ]
    return [line for each in enums for line in each.body if isinstance(line, ast.Assign)]


def _defined(tree: ast.AST) -> Iterator[tuple[str, int]]:
    stored = [each.targets[0] for each in _enum_values(tree)]
    functions = [each for each in ast.walk(tree) if isinstance(each, FUNCTIONS)]
    local = {
        node
        for each in functions
        for node in ast.walk(each)
        if node is not each and isinstance(node, NAMED)
    }
    for node in ast.walk(tree):
        if node in stored or node in local:
            continue
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield name, node.lineno
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node.lineno


if __name__ == "__main__":
    found = list(leftovers(sys.argv[1]))
    print("\n".join(found))
    sys.exit(any(": only " in line for line in found))
