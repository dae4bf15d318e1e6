"""What is loaded when: importing karat is cheap, and help is instant."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from pkgutil import iter_modules

import pytest

import karat
from karat.store import open_store

HEAVY = (
    "scipy.stats",
    "pandas",
    "polars",
    "pyarrow",
    "sqlalchemy",
    "starlette",
    "fastapi",
    "flask",
    "uvicorn",
    "pyspark",
)
NEEDLESS = ("numpy.ma", "ssl", "urllib.request", "email", "importlib.metadata", "karat.comparison")
"""Each takes longer to load than two small files take to score."""
TABLES = ("duckdb", "numpy", "scipy", "rich", "jinja2")


def loaded(code: str) -> set[str]:
    """The modules that a fresh interpreter holds after running the code."""
    tail = "import sys; print('\\n' + '\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{tail}"], capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n"))


HELP = "import contextlib\nfrom karat.cli.main import karat\nwith contextlib.suppress(SystemExit): karat({args})"


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import karat", HEAVY + TABLES),
        ("import karat; karat.evaluate", HEAVY),
        ("import karat; karat.evaluate(['A', 'B'], ['A', 'A'])", (*HEAVY, "scipy", "duckdb")),
        (HELP.format(args="['--help']"), HEAVY + TABLES),
        (HELP.format(args="['--version']"), HEAVY + TABLES),
        (HELP.format(args="['evaluate', '--help']"), HEAVY),
    ],
    ids=["import", "evaluate", "scores", "help", "version", "help of a command"],
)
def test_absent(code: str, absent: tuple[str, ...]) -> None:
    assert loaded(code) & set(absent) == set()


SMALL = {
    "json": '[{"id": "1", "value": "A"}, {"id": "2", "value": "B"}]',
    "csv": "id,value\n1,A\n2,B\n",
    "tsv": "1\tA\n2\tB\n",
}


@pytest.mark.parametrize("format", SMALL)
def test_small_files_load_little(format: str, tmp_path: Path) -> None:
    for name in ("gold", "pred"):
        (tmp_path / f"{name}.{format}").write_text(SMALL[format])
    args = ["evaluate", f"{tmp_path}/gold.{format}", f"{tmp_path}/pred.{format}"]
    assert loaded(HELP.format(args=args)) & {*HEAVY, *NEEDLESS, "duckdb", "scipy", "rich", "jinja2"} == set()


def test_a_list_of_runs_loads_no_database_toolkit(tmp_path: Path) -> None:
    open_store(tmp_path / "runs.db").save(karat.evaluate(["A", "B"], ["A", "A"]))
    code = HELP.format(args=["runs", "list", "--store", f"{tmp_path}/runs.db"])
    assert loaded(code) & {*HEAVY, *NEEDLESS, "duckdb", "scipy", "rich", "jinja2", "karat.api"} == set()


def test_public_names_resolve() -> None:
    assert all(getattr(karat, name) is not None for name in karat.__all__)
    assert len(karat.__all__) <= 20


def test_no_public_name_is_a_module() -> None:
    """Importing karat.NAME would put the module in the place of what has its name."""
    assert not {m.name for m in iter_modules(karat.__path__)} & set(karat.__all__)


@pytest.mark.parametrize(
    ("gold", "pred", "context"),
    [
        ("['A', 'B']", "['A', 'A']", "monolabel"),
        ("[['A'], ['B', 'C']]", "[['A'], ['B']]", "multilabel"),
        ("{'1': {'A': 1.0}, '2': {'B': 1.0}}", "{'1': {'A': 0.5, 'B': 0.5}, '2': {'B': 1.0}}", "soft"),
    ],
)
def test_an_evaluation_loads_one_context(gold: str, pred: str, context: str) -> None:
    from karat.contexts import MODULES

    modules = loaded(f"import karat; karat.evaluate({gold}, {pred})")
    assert {name for name, module in MODULES.items() if module in modules} == {context}


ROOMS = ("context", "cells", "metrics")


def test_every_context_has_the_same_rooms() -> None:
    from importlib.util import find_spec

    from karat.contexts import MODULES

    for module in MODULES.values():
        spec = find_spec(module)
        assert spec is not None
        assert spec.submodule_search_locations, f"{module} is a package"
        rooms = {room.name for room in iter_modules(spec.submodule_search_locations)}
        assert all(any(name.startswith(room) for name in rooms) for room in ROOMS), f"{module} has {sorted(rooms)}"


SQL = ("engines/", "read/delimited.py", "read/parquet.py", "store/listing.py")
"""Where SELECT may stand: engines, the own scans of formats, and the list of runs, which must not wait for SQLAlchemy."""


def test_sql_is_in_one_room() -> None:
    from pathlib import Path

    root = Path(karat.__file__).parent
    places = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if "SELECT" in path.read_text("utf-8")}
    assert not {place for place in places if not place.startswith(SQL)}


def test_options_need_no_context() -> None:
    """The command line knows every context's options, and loads no context to show them."""
    found = loaded("import karat.cli.options")
    names = ("monolabel", "multilabel", "splitting", "spans", "ranking.binary", "soft", "clustering")
    assert not found & {f"karat.contexts.{name}" for name in names}


def test_options_are_those_of_the_contexts() -> None:
    from karat.contexts import MODULES, context
    from karat.contexts.options import OPTIONS, SCHEME
    from karat.contexts.spans.tags import SCHEMES

    assert {name: context(name).options for name in MODULES} == OPTIONS
    assert set(SCHEME.choices) == {"strict", *SCHEMES}
