"""What the command line prints, to the letter; `python -m tests.golden` writes the files anew."""

from __future__ import annotations

import pytest

from tests.golden.cases import CASES, FILES, FOLDER, run


@pytest.mark.parametrize("name", CASES)
def test_output(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FILES)
    code, text = run(CASES[name])
    assert code == CASES[name].code
    assert text == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_no_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(CASES)


def test_same_input_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FILES)
    assert run(CASES["json"]) == run(CASES["json"])


def test_a_failed_evaluation_writes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    from pathlib import Path

    monkeypatch.chdir(FILES)
    target = Path(str(tmp_path)) / "report.json"
    case = CASES["broken"]
    assert run(case._replace(line=f"{case.line} -o {target}"))[0] == 2
    assert list(target.parent.iterdir()) == []
