"""The drawing of the architecture stays true: imports point down, and each outside package has its owners."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from convcli import dialects

TESTS = Path(__file__).parent
ROOT = TESTS.parent
PACKAGE = ROOT / "convcli"
FILES = sorted(PACKAGE.rglob("*.py"))

FLOORS = (
    ("model",),
    ("wire",),
    ("files", "proof"),
    ("kit",),
    ("validation",),
    ("families",),
    ("dialects",),
    ("engine",),
    ("jobs", "views"),
    ("parts",),
    ("report",),
    ("cli",),
    ("__main__", "testing"),
)
"""The packages from the bottom up. What shares a floor may not import each other, but for `WITHIN`."""
FLOOR_OF = {name: floor for floor, names in enumerate(FLOORS) for name in names}
WITHIN = {("views", "jobs")}
"""The views of files are made of what the jobs read."""
PUBLIC = "__init__"
"""The package itself: it imports what it shows, and nothing in it imports that."""

OWNERS = {
    "orjson": ("wire",),
    "jsonschema": ("validation",),
    "jsonschema_rs": ("validation",),
    "referencing": ("validation",),
    "fsspec": ("files",),
    "ray": ("parts",),
    "rich": ("report",),
    "click": ("cli", "__main__"),
}


def room(path: Path) -> str:
    """The first name below the package: a module, or a folder."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


@cache
def imports(path: Path) -> tuple[tuple[str, int], ...]:
    """Every module that a file imports, absolute, with its line."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            if node.module == "convcli":
                yield from ((f"convcli.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield node.module, node.lineno


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_its_own_floor_and_lower_ones(path: Path) -> None:
    mine = room(path)
    if mine == PUBLIC:
        return
    assert mine in FLOOR_OF, f"{mine} has no floor"
    for name, line in imports(path):
        parts = name.split(".")
        if parts[0] != "convcli":
            continue
        is_placed = len(parts) > 1 and parts[1] in FLOOR_OF
        assert is_placed, f"{path.name}:{line} imports {name} from the root"
        allowed = parts[1] == mine or FLOOR_OF[parts[1]] < FLOOR_OF[mine] or (mine, parts[1]) in WITHIN
        assert allowed, f"{path.name}:{line} imports {name} from above"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_an_outside_package_is_imported_by_its_owner_only(path: Path) -> None:
    for name, line in imports(path):
        owners = OWNERS.get(name.split(".")[0])
        assert owners is None or room(path) in owners, f"{path.name}:{line} imports {name}"


def modules() -> dict[str, Path]:
    """Every module of the package by its name."""
    named = {".".join(("convcli", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in FILES}
    return {name.removesuffix(".__init__"): path for name, path in named.items()}


def test_no_module_imports_itself_by_way_of_others() -> None:
    known = modules()
    uses = {name: {imported for imported, _ in imports(path)} & known.keys() for name, path in known.items()}
    while True:
        free = [name for name, used in uses.items() if not used & uses.keys() - {name}]
        if not free:
            break
        for name in free:
            del uses[name]
    assert not uses, f"a circle among {sorted(uses)}"


@pytest.mark.parametrize("path", [path for path in FILES if room(path) == "dialects"], ids=lambda path: str(path))
def test_a_dialect_imports_no_other_dialect(path: Path) -> None:
    mine = path.relative_to(PACKAGE).with_suffix("").parts[1]
    for name, line in imports(path):
        parts = name.split(".")
        if parts[:2] == ["convcli", "dialects"] and len(parts) > 2:
            assert parts[2] == mine, f"{path.name}:{line} imports {name}"


BORROWED = {
    "dialects": ("families", "kit", "validation.rules", "validation.survey", "wire", "model"),
    "families": ("families", "kit", "validation.rules", "validation.survey", "wire", "model"),
}
"""What a dialect and a family are made of; a dialect of its own package too. `survey` is what rules look at."""
LENT = [path for path in FILES if room(path) in BORROWED and path != PACKAGE / "dialects" / "__init__.py"]
"""The modules of dialects and families, without the registry."""


@pytest.mark.parametrize("path", LENT, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_dialect_and_a_family_import_only_what_they_are_made_of(path: Path) -> None:
    own = "dialects." + path.relative_to(PACKAGE).with_suffix("").parts[1] if room(path) == "dialects" else None
    for name, line in imports(path):
        package, _, inside = name.partition(".")
        allowed = any(f"{inside}.".startswith(f"{made_of}.") for made_of in (*BORROWED[room(path)], own) if made_of)
        assert package != "convcli" or allowed, f"{path.name}:{line} imports {name}"


def dialect_entries() -> set[str]:
    """The modules and packages of dialects."""
    return {path.stem for path in (PACKAGE / "dialects").iterdir() if not path.stem.startswith("_")}


def test_every_entry_of_dialects_is_a_dialect() -> None:
    assert dialect_entries() == {name.replace("-", "_") for name in dialects.names()}


FORMATS = frozenset(("finding", "loss", "restore"))
"""Schemas of what convcli itself writes."""


def test_every_dialect_has_a_schema_samples_and_tests_of_its_name_and_nothing_else_has() -> None:
    names = set(dialects.names())
    assert {path.name.removesuffix(".schema.json") for path in (ROOT / "schemas").iterdir()} == names | FORMATS
    assert {path.name for path in (ROOT / "samples").iterdir()} == names
    tested = {path.stem.removeprefix("test_") for path in (TESTS / "dialects").glob("test_*.py")}
    assert dialect_entries() - tested <= WITHOUT_TESTS
    assert tested <= dialect_entries()


WITHOUT_TESTS = frozenset(("anthropic_stream",))
"""Dialects that only the laws test so far. The list may only become shorter."""


def test_nothing_but_the_dialects_names_a_dialect() -> None:
    """Families neither: a borrower gives them its name."""
    allowed = {"intermediate"}  # the hub itself
    for path in FILES:
        if room(path) == "dialects":
            continue
        tree = ast.parse(path.read_text("utf-8"))
        literals = {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        assert not (literals & set(dialects.names())) - allowed - OTHER_MEANINGS.get(path.name, set()), path.name


OTHER_MEANINGS = {"multi_llm.py": {"gemini"}, "envelopes.py": {"openai-batch", "anthropic-batch"}}
"""Names of dialects that mean something else in a file: there, the author of a turn in the program's own words."""

SPELLED = re.compile(r"(^|_)(spell(ed|ing|ings)|odd|trust(ed)?)(_|$)")
"""Names of what would be a spelling, or the belief in one."""
OWN = frozenset(("own", "is_own"))
"""Names of the question whose transcript it is. A writer that asks it has policy in it, which belongs to `fit`."""
STILL_OWN = frozenset(
    (
        "dialects/cline.py",
        "dialects/codex/writing.py",
        "dialects/gemini_cli/fitting.py",
        "dialects/openclaw/fitting.py",
        "dialects/openclaw/rows.py",
        "families/google/carried.py",
        "families/google/fitting.py",
    )
)
"""Modules where something else has such a name: a key, a row, a part. The list may only become shorter."""


def identifiers(path: Path) -> Iterator[str]:
    """Every name that a module gives or reads."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        for field in ("id", "attr", "arg", "name", "asname"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name


@pytest.mark.parametrize("path", LENT, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_dialect_and_no_family_deals_with_spellings_or_asks_whose_a_transcript_is(path: Path) -> None:
    names = {name for name in identifiers(path) if SPELLED.search(name) or name.strip("_") in OWN}
    listed = str(path.relative_to(PACKAGE)) in STILL_OWN
    assert not {name for name in names if SPELLED.search(name) or not listed}


def test_the_list_of_modules_with_own_names_only_those_that_have_it() -> None:
    having = {str(path.relative_to(PACKAGE)) for path in LENT if OWN & {name.strip("_") for name in identifiers(path)}}
    assert having >= STILL_OWN, "a module of the list has no such name any more: take it off"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_function_has_at_most_forty_lines_and_a_file_about_three_hundred_and_fifty(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= LONGEST_FILE, path.name
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert (node.end_lineno or 0) - node.body[0].lineno < 40, f"{path.name}:{node.lineno} {node.name}"


SHARED_CLASS_NAMES = frozenset(("Answer", "Answers", "Shape", "_Answer", "_Choice"))
"""Names that several classes of dialects, families and the kit still have. The list may only become shorter."""


def class_names() -> Counter[str]:
    """How many classes of the package have each name."""
    trees = (ast.parse(path.read_text("utf-8")) for path in FILES)
    return Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def test_one_class_name_is_one_class_of_the_package() -> None:
    assert {name for name, number in class_names().items() if number > 1} <= SHARED_CLASS_NAMES


def test_every_module_says_what_it_is_in_words_of_its_own() -> None:
    filled = [path for path in FILES if path.read_text("utf-8").strip()]
    docs = {path: ast.get_docstring(ast.parse(path.read_text("utf-8"))) for path in filled}
    assert [path.name for path, text in docs.items() if not text] == []
    repeated = {text for text, number in Counter(docs.values()).items() if number > 1}
    assert [str(path) for path, text in docs.items() if text in repeated] == []


TEST_FILES = sorted(TESTS.rglob("*.py"))


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def private_uses(path: Path) -> Iterator[tuple[str, int]]:
    """Private names of other modules that a file imports, reads from an imported module or replaces in it. A private
    module is shared by the modules beside it."""
    known, imported = modules(), set[str]()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("convcli"):
            for alias in node.names:
                imported.add(alias.asname or alias.name)
                beside = known.get(f"{node.module}.{alias.name}", PACKAGE).parent == path.parent
                if is_private(alias.name) and not beside:
                    yield alias.name, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported:
            if is_private(node.attr) and node.attr != "_replace":  # a method of every named tuple
                yield node.attr, node.lineno
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("setattr", "delattr"):
            words = [word.value for word in node.args[1:2] if isinstance(word, ast.Constant)]
            yield from ((word, node.lineno) for word in words if isinstance(word, str) and is_private(word))


@pytest.mark.parametrize("path", [*FILES, *TEST_FILES], ids=lambda path: str(path.relative_to(PACKAGE.parent)))
def test_a_private_name_is_used_in_its_own_module_only(path: Path) -> None:
    assert list(private_uses(path)) == []


LONGEST_FILE = 500
"""The habit is 350; nothing may grow beyond this."""


CORE = ("model", "wire", "files", "proof", "kit", "validation", "engine", "jobs", "views", "report", "testing")
UNTESTED = frozenset(
    f"{package}/{module}.py"
    for package, modules in {
        "files": "packed",
        "jobs": "choosing converting judging workers",
        "kit": "lacking pairing",
        "model": "document findings rule transcript",
        "proof": "align reasons records",
        "report": "choice losses matrix message picture screen text",
        "validation": "survey verdict",
        "views": "rows",
        "wire": "decimals encodings strict_json surrogates",
    }.items()
    for module in modules.split()
)
"""Core modules that are tested only by way of others; nothing may be added."""


def core_modules() -> list[Path]:
    """The modules of the core that do anything: what only declares names has no test of its own."""
    found = (path.relative_to(PACKAGE) for path in FILES if room(path) in CORE and path.name != "__init__.py")
    return [path for path in found if len(path.parts) == 2]


def test_each_module_of_the_core_has_its_test_file() -> None:
    without = {str(path) for path in core_modules() if not (TESTS / path.parent / f"test_{path.name}").exists()}
    assert without <= UNTESTED
    assert set(map(str, core_modules())) >= UNTESTED, "a module in the list is gone"
