"""The architecture stays as it is drawn: imports point down, and each outside package has its owners.

Each test names everything that breaks its rule.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from convcli import dialects

TESTS = Path(__file__).parent
ROOT = TESTS.parent
PACKAGE = ROOT / "convcli"
FILES = sorted(PACKAGE.rglob("*.py"))

LAYERS = (
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
    ("_start",),
)
"""The packages from the bottom up. Packages of one layer do not import each other, but for `WITHIN`."""
LAYER_OF = {name: layer for layer, names in enumerate(LAYERS) for name in names}
WITHIN = {("views", "jobs")}
"""Importers and what they import within their layer: the views of files are made of what the jobs read."""
PUBLIC = "__init__"
"""The face of convcli: it imports what it shows, and nothing in convcli imports it."""

OWNERS = {
    "orjson": ("wire",),
    "jsonschema": ("validation",),
    "jsonschema_rs": ("validation",),
    "referencing": ("validation",),
    "fsspec": ("files",),
    "phonenumbers": ("engine",),
    "ray": ("parts",),
    "rich": ("report",),
    "click": ("cli",),
}


def place(path: Path) -> str:
    """Returns the path of a file below the repository, for messages."""
    return str(path.relative_to(ROOT))


def package_of(path: Path) -> str:
    """Returns the first name below `convcli`: a package, or a module."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


class Module(NamedTuple):
    """What the rules ask about a file."""

    docstring: str | None
    imports: list[tuple[str, int]]
    """Every imported module, absolute, with its line."""
    identifiers: set[str]
    """Every name that it gives or reads."""
    literals: set[str]
    """Every string."""
    classes: list[str]
    functions: list[tuple[str, int, int]]
    """Name, line and number of lines of the body."""
    foreign_names: list[tuple[str, int]]
    """Private names of other modules, with their lines."""
    unread: set[str]
    """The names that it defines and does not read itself."""
    members: set[str]
    """What it reads of other modules, with their names."""


@cache
def read(path: Path) -> Module:
    """Reads what the rules ask about; syntax trees of the whole package would fill the memory."""
    tree = ast.parse(path.read_text("utf-8"))
    nodes = list(ast.walk(tree))
    return Module(
        ast.get_docstring(tree),
        list(imports(nodes)),
        {name for node in nodes for field in NAMING if isinstance(name := getattr(node, field, None), str)},
        {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)},
        [node.name for node in nodes if isinstance(node, ast.ClassDef)],
        [
            (node.name, node.lineno, (node.end_lineno or 0) - node.body[0].lineno + 1)
            for node in nodes
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        ],
        list(foreign_names(path, nodes)),
        {name for statement in tree.body for name in defined(statement)} - read_names(nodes),
        members(nodes),
    )


NAMING = ("id", "attr", "arg", "name", "asname")
"""The fields of syntax nodes that hold a name."""


def imports(nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            is_face = node.module == "convcli"
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                yield (name if is_face or name in modules() else node.module), node.lineno


def foreign_names(path: Path, nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    """Yields private names of other modules that a file imports, reads from an imported module or replaces in it.

    A private module is shared by the modules of its folder.
    """
    known, imported = modules(), set[str]()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("convcli"):
            for alias in node.names:
                imported.add(alias.asname or alias.name)
                is_neighbour = known.get(f"{node.module}.{alias.name}", PACKAGE).parent == path.parent
                if is_private(alias.name) and not is_neighbour:
                    yield alias.name, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported:
            if is_private(node.attr) and node.attr != "_replace":  # a method of every named tuple
                yield node.attr, node.lineno
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("setattr", "delattr"):
            words = [word.value for word in node.args[1:2] if isinstance(word, ast.Constant)]
            yield from ((word, node.lineno) for word in words if isinstance(word, str) and is_private(word))


def defined(statement: ast.stmt) -> Iterator[str]:
    """Yields the names that a statement of a module defines."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))


def read_names(nodes: list[ast.AST]) -> set[str]:
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def members(nodes: list[ast.AST]) -> set[str]:
    names = set[tuple[str, str]]()
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            source = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            names |= {(alias.asname or alias.name, source + alias.name) for alias in node.names}
    read = {(getattr(node.value, "id", ""), node.attr) for node in nodes if isinstance(node, ast.Attribute)}
    sources = {base: [source for name, source in names if name == base] for base, _ in read}
    return {source for _, source in names} | {f"{source}.{name}" for base, name in read for source in sources[base]}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@cache
def modules() -> dict[str, Path]:
    """Returns every module of convcli by its name."""
    named = {".".join(("convcli", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in FILES}
    return {name.removesuffix(".__init__"): path for name, path in named.items()}


def test_every_package_has_a_layer() -> None:
    assert {package_of(path) for path in FILES} - {PUBLIC} == LAYER_OF.keys()


def is_upward(importer: str, name: str) -> bool:
    """True if a module of convcli stands above the package that imports it, or beside it in the same layer."""
    imported = [*name.split("."), PUBLIC][1]
    if imported == importer or (importer, imported) in WITHIN:
        return False
    return LAYER_OF.get(imported, len(LAYERS)) >= LAYER_OF[importer]


def test_a_module_imports_only_from_its_own_layer_and_lower_ones() -> None:
    placed = [path for path in FILES if package_of(path) != PUBLIC]
    own = [
        (path, name, line) for path in placed for name, line in read(path).imports if name.split(".")[0] == "convcli"
    ]
    upward = [f"{place(path)}:{line} imports {name}" for path, name, line in own if is_upward(package_of(path), name)]
    assert upward == []


def test_an_outside_package_is_imported_by_its_owner_only() -> None:
    owned = [
        (path, name, line, OWNERS[name.split(".")[0]])
        for path in FILES
        for name, line in read(path).imports
        if name.split(".")[0] in OWNERS
    ]
    strange = [f"{place(path)}:{line} imports {name}" for path, name, line, who in owned if package_of(path) not in who]
    assert strange == []


LATE = {"convcli.cli._commands": "convcli.cli._click", "convcli.validation.schemas": "convcli.validation.breaches"}
"""Imports against the direction, in functions: most runs need neither click nor the findings of a schema."""


def test_no_module_imports_itself_by_way_of_others() -> None:
    known = modules()
    uses = {name: {imported for imported, _ in read(path).imports} & known.keys() for name, path in known.items()}
    for name, late in LATE.items():
        uses[name].remove(late)
    while True:
        free = [name for name, used in uses.items() if not used & uses.keys() - {name}]
        if not free:
            break
        for name in free:
            del uses[name]
    assert not uses, f"a circle among {sorted(uses)}"


def dialect_of(path: Path) -> str:
    """Returns the module or package of a dialect that a file below `dialects` belongs to."""
    return path.relative_to(PACKAGE).with_suffix("").parts[1]


def test_a_dialect_imports_no_other_dialect() -> None:
    found = [
        f"{place(path)}:{line} imports {name}"
        for path in FILES
        for name, line in read(path).imports
        if package_of(path) == "dialects"
        and name.startswith("convcli.dialects.")
        and name.split(".")[2] != dialect_of(path)
    ]
    assert found == []


BORROWED = {
    "dialects": ("families", "kit", "validation.rules", "validation.survey", "wire", "model"),
    "families": ("families", "kit", "validation.rules", "validation.survey", "wire", "model"),
}
"""What a dialect and a family are made of; a dialect of its own package too. `survey` is what rules look at."""
LENT = [path for path in FILES if package_of(path) in BORROWED and path != PACKAGE / "dialects" / "__init__.py"]
"""The modules of dialects and families, without the registry."""


def borrowed_by(path: Path) -> tuple[str, ...]:
    """Returns what a module of a dialect or a family may import from convcli."""
    own = (f"dialects.{dialect_of(path)}",) if package_of(path) == "dialects" else ()
    return (*BORROWED[package_of(path)], *own)


def test_a_dialect_and_a_family_import_only_what_they_are_made_of() -> None:
    found = [
        f"{place(path)}:{line} imports {name}"
        for path in LENT
        for name, line in read(path).imports
        if name.split(".")[0] == "convcli"
        and not any(f"{name}.".startswith(f"convcli.{part}.") for part in borrowed_by(path))
    ]
    assert found == []


def dialect_entries() -> set[str]:
    """The modules and packages of dialects."""
    return {path.stem for path in (PACKAGE / "dialects").iterdir() if not path.stem.startswith("_")}


def test_every_entry_of_dialects_is_a_dialect() -> None:
    assert dialect_entries() == {name.replace("-", "_") for name in dialects.names()}


FORMATS = frozenset(("finding", "loss", "receipt", "restore"))
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
    elsewhere = [path for path in FILES if package_of(path) != "dialects"]
    named = {path: read(path).literals & set(dialects.names()) for path in elsewhere}
    found = {place(path): names - allowed - OTHER_MEANINGS.get(path.name, set()) for path, names in named.items()}
    assert {where: names for where, names in found.items() if names} == {}


OTHER_MEANINGS = {
    "multi_llm.py": {"gemini"},
    "names.py": {"codex", "openhands"},
    "presets.py": {"openai-batch", "anthropic-batch"},
}
"""Names of dialects that mean something else in a file: the author of a turn, the user of a container, a preset."""

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
        "families/google/extras.py",
        "families/google/fitting.py",
    )
)
"""Modules where something else has such a name: a key, a row, a part. The list may only become shorter."""


def test_no_dialect_and_no_family_deals_with_spellings_or_asks_whose_a_transcript_is() -> None:
    found = {}
    for path in LENT:
        names = {name for name in read(path).identifiers if SPELLED.search(name) or name.strip("_") in OWN}
        is_listed = str(path.relative_to(PACKAGE)) in STILL_OWN
        found[place(path)] = {name for name in names if SPELLED.search(name) or not is_listed}
    assert {where: names for where, names in found.items() if names} == {}


def test_the_list_of_modules_with_own_names_only_those_that_have_it() -> None:
    having = {
        str(path.relative_to(PACKAGE)) for path in LENT if OWN & {name.strip("_") for name in read(path).identifiers}
    }
    assert having >= STILL_OWN, "a module of the list has no such name any more: take it off"


LONGEST_FILE = 500
"""The habit is 350 lines; nothing may grow beyond this."""


def test_a_file_has_at_most_five_hundred_lines() -> None:
    assert [place(path) for path in FILES if path.read_text("utf-8").count("\n") > LONGEST_FILE] == []


def test_a_function_has_at_most_forty_lines() -> None:
    functions = [(path, *function) for path in FILES for function in read(path).functions]
    assert [f"{place(path)}:{line} {name}" for path, name, line, length in functions if length > 40] == []


SHARED_CLASS_NAMES = frozenset(("Answer", "Answers", "Shape", "_Answer", "_Choice"))
"""Names that several classes of dialects, families and the kit still have. The list may only become shorter."""


def class_names() -> Counter[str]:
    """How many classes of the package have each name."""
    return Counter(name for path in FILES for name in read(path).classes)


def test_a_module_compiles_no_pattern_when_it_is_imported() -> None:
    """A pattern that is a constant is made by `wire.patterns`: compiling it can take longer than loading the module."""
    compiled = [
        f"{place(path)}:{statement.lineno}"
        for path in FILES
        if "re.compile" in (text := path.read_text("utf-8"))
        for statement in ast.parse(text).body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"
    ]
    assert not compiled


def test_one_class_name_is_one_class_of_the_package() -> None:
    assert {name for name, number in class_names().items() if number > 1} <= SHARED_CLASS_NAMES


def test_every_module_says_what_it_is_in_words_of_its_own() -> None:
    filled = [path for path in FILES if path.read_text("utf-8").strip()]
    docs = {path: read(path).docstring for path in filled}
    assert [path.name for path, text in docs.items() if not text] == []
    repeated = {text for text, number in Counter(docs.values()).items() if number > 1}
    assert [str(path) for path, text in docs.items() if text in repeated] == []


TEST_FILES = sorted(TESTS.rglob("*.py"))


def test_a_private_name_is_used_in_its_own_module_only() -> None:
    used = [(path, name, line) for path in (*FILES, *TEST_FILES) for name, line in read(path).foreign_names]
    assert [f"{place(path)}:{line} uses {name}" for path, name, line in used] == []


CORE = ("model", "wire", "files", "proof", "kit", "validation", "engine", "jobs", "views", "report", "testing")
UNTESTED = frozenset(
    f"{package}/{module}.py"
    for package, modules in {
        "files": "packed",
        "jobs": "choosing converting judging workers",
        "kit": "pairing supported",
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
    found = (path.relative_to(PACKAGE) for path in FILES if package_of(path) in CORE and path.name != "__init__.py")
    return [path for path in found if len(path.parts) == 2]


def test_each_module_of_the_core_has_its_test_file() -> None:
    without = {str(path) for path in core_modules() if not (TESTS / path.parent / f"test_{path.name}").exists()}
    assert without <= UNTESTED
    assert set(map(str, core_modules())) >= UNTESTED, "a module in the list is gone"


READ_BY_NAME = {"DIALECT", "command", "render", "program", "__all__", "__version__", "__getattr__", "__dir__"}
"""Names that the registries, the installer and Python itself look up."""
FOR_USERS = {"convcli", "convcli.testing"}
"""Modules whose names are for the authors of other packages."""
FOR_TESTS = {"convcli.validation.survey.SUBJECTS"}
"""What the words of the rules are checked against."""


def test_everything_that_a_module_defines_is_used_in_the_package() -> None:
    every = {name: read(path) for name, path in modules().items()}
    used = {member for module in every.values() for member in module.members} | FOR_TESTS
    defined = {f"{name}.{one}" for name in every.keys() - FOR_USERS for one in every[name].unread - READ_BY_NAME}
    assert sorted(defined - used) == []
