"""The recipes of `convcli help scale`, each run as it stands there, where its engine is installed."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from convcli.parts import Task, begin, finish, plan, run_part
from convcli.report import pages
from tests.cli_cases import OTHER, ROOT

BLOCKS = re.findall(r"```python\n(.*?)```", pages.page("scale"), re.DOTALL)
FRAME, *RECIPES, TABLES = BLOCKS
HOLE = "# … the engine calls run_part(part) for each part in waiting …\n"
PACKAGE = re.compile(r"(?:import|from) (\w+)")


def needs(recipe: str) -> list[str]:
    """The packages that a recipe needs; Ray Data has two more."""
    return ["ray", "pandas", "pyarrow"] if "ray.data" in recipe else PACKAGE.findall(recipe)[:1]


def title(recipe: str) -> str:
    """What a recipe is for, as the name of its test."""
    return "ray.data" if "ray.data" in recipe else needs(recipe)[0]


def test_there_is_a_recipe_for_each_engine_that_the_page_names() -> None:
    assert list(map(title, RECIPES)) == [
        "dask", "ray", "ray.data", "pyspark", "apache_beam", "datasets", "datatrove",
    ]  # fmt: skip
    assert HOLE in FRAME


@pytest.mark.ray
@pytest.mark.parametrize("recipe", RECIPES, ids=title)
def test_a_recipe_does_what_one_process_does(recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in needs(recipe):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    (tmp_path / "in").mkdir()
    for name in "abc":
        rows = ({"messages": [{"role": "user", "name": "ada", "content": f"{name}{row}"}]} for row in range(20))
        (tmp_path / "in" / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    text = FRAME.replace(HOLE, recipe).replace("keep_going=True))", "keep_going=True), size=900)")
    (tmp_path / "job.py").write_text('if __name__ == "__main__":\n' + indent(text, "    "))
    paths = {"PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0", "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "job.py"], cwd=tmp_path, env={**os.environ, **paths}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    monkeypatch.chdir(tmp_path)
    each = plan(["in/*.jsonl"], "alone", Task("convert", OTHER, "anthropic", keep_going=True), size=900)
    begin(each)
    for part in each:
        run_part(part)
    finish(each)
    assert len(each) > 3
    for path in sorted(Path("alone").glob("part-*.jsonl")):
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()
    assert (tmp_path / "out" / "_SUCCESS").exists()


@pytest.mark.ray
@pytest.mark.parametrize("engine", ["ray", "datasets"])
def test_a_batch_does_what_it_does_alone(engine: str, tmp_path: Path) -> None:
    for package in (engine, "pandas", "pyarrow"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    made = {
        "ray": "import ray\nrows = ray.data.from_arrow(table).repartition(3)",
        "datasets": "from datasets import Dataset\nrows = Dataset(table)",
    }
    head, one, other = re.split(r"\n# (?:Ray Data|Hugging Face datasets)\n", TABLES)
    text = "\n".join([TABLE, made[engine], head, one if engine == "ray" else other, COMPARED])
    (tmp_path / "job.py").write_text('if __name__ == "__main__":\n' + indent(text, "    "))
    paths = {"PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0", "HF_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "job.py"], cwd=tmp_path, env={**os.environ, **paths}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["60", "60"]


TABLE = """
import json, pyarrow
texts = [json.dumps({"messages": [{"role": "user", "name": "ada", "content": f"{row}"}]}) for row in range(60)]
table = pyarrow.table({"id": list(range(60)), "text": texts})
"""
COMPARED = """
is_ray = hasattr(converted, "to_arrow_refs")
given = converted.take_all() if is_ray else list(converted.with_format(None))
given = sorted(given, key=lambda row: row["id"])
assert given == to_anthropic(table).to_pylist(), given[:2]
print(len(given), sum(row["loss_count"] for row in given))
"""
