"""What is loaded when: importing karat is cheap, and help is instant."""

from __future__ import annotations

import subprocess
import sys
from pkgutil import iter_modules

import pytest

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
        ("import karat; karat.evaluate(['A', 'B'], ['A', 'A'])", HEAVY),
        (HELP.format(args="['--help']"), HEAVY + TABLES),
        (HELP.format(args="['--version']"), HEAVY + TABLES),
        (HELP.format(args="['evaluate', '--help']"), HEAVY),
    ],
    ids=["import", "evaluate", "scores", "help", "version", "help of a command"],
)
def test_absent(code: str, absent: tuple[str, ...]) -> None:
    assert loaded(code) & set(absent) == set()


def test_public_names_resolve() -> None:
    import karat

    assert all(getattr(karat, name) is not None for name in karat.__all__)
    assert len(karat.__all__) <= 20


def test_no_public_name_is_a_module() -> None:
    """Importing karat.NAME would put the module in the place of what has its name."""
    import karat

    assert not {m.name for m in iter_modules(karat.__path__)} & set(karat.__all__)


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
