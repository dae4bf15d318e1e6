"""Ask PyEvALL: a list of cases in, a list of its reports out."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.oracle.environment import python

WORKER = Path(__file__).with_name("worker.py")
PLAIN = {"NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"}


def ask(cases: Sequence[dict[str, Any]], timeout: float = 300) -> list[dict[str, Any]]:
    """PyEvALL's answer to each case (gold, pred: file texts; gold_file, pred_file, metrics, params, encoding).

    An answer is its report, or {"exception": "Type: text"}, or {"returned": null}.
    The hash seed is fixed because PyEvALL's last digits depend on it, and NumPy is held to instructions that every
    processor has, because the order in which it leaves equal ranks depends on them.
    """
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run(
        [str(python()), str(WORKER)],
        input=lines,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": "", "PYTHONIOENCODING": "utf-8", **PLAIN},
    )
    return [json.loads(line) for line in done.stdout.splitlines()]
