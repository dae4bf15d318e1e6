# SPDX-License-Identifier: Apache-2.0
"""`make coverage`: the share of branches, by themselves, that were taken in each part; `coverage report` adds lines to them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

LEAST = 0.95


def main() -> int:
    file = Path(".coverage.json")
    subprocess.run([sys.executable, "-m", "coverage", "json", "-q", "--fail-under=0", "-o", str(file)], check=True)
    taken, every = Counter[str](), Counter[str]()
    for path, found in json.loads(file.read_text(encoding="utf-8"))["files"].items():
        for part in (path.split("karat/")[1].split("/")[0], "all"):
            taken[part] += found["summary"]["covered_branches"]
            every[part] += found["summary"]["num_branches"]
    file.unlink()
    for part, count in sorted(every.items()):
        print(f"{part:12} {taken[part]:5} of {count:5} branches  {taken[part] / max(count, 1):.1%}")
    return 0 if taken["all"] >= LEAST * every["all"] else 1


if __name__ == "__main__":
    sys.exit(main())
