"""The modules that libraries import and that a process does not load before somebody reads them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from convcli.model.libraries import LATER
from tests.cli_cases import environment

CODE = """
import sys
from convcli.model.libraries import LATER, load_libraries
load_libraries("click")
print(*(name for name in (*LATER, "platform", "typing_extensions") if name in sys.modules), "|")
import click, dataclasses, inspect, textwrap, tokenize, msgspec
assert dataclasses.inspect.cleandoc is inspect.cleandoc and click.core.inspect.signature is inspect.signature
print(msgspec.inspect.type_info(int), msgspec.json.schema(dict[str, int])["type"], textwrap.dedent(" a"))
print(sys.modules["inspect"] is inspect, hasattr(inspect, "nothing"))
"""


def test_a_module_that_nobody_reads_is_not_loaded_and_its_first_reader_gets_it() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, env=environment(), check=True)
    loaded, *read = done.stdout.decode().splitlines()
    assert loaded == "|", LATER
    assert read == ["IntType(gt=None, ge=None, lt=None, le=None, multiple_of=None) object a", "True False"]


def test_a_library_that_reads_such_a_module_while_it_is_imported_gets_it(tmp_path: Path) -> None:
    (tmp_path / "reader.py").write_text("import inspect\nTEXT = inspect.cleandoc('  a')\n", encoding="utf-8")
    code = "import convcli.model.libraries as l; l.load_libraries('reader'); import reader, inspect; print(reader.TEXT)"
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, env=environment(), cwd=tmp_path, check=True)
    assert done.stdout.split() == [b"a"]
