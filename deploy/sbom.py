# SPDX-License-Identifier: Apache-2.0
"""A bill of materials (CycloneDX 1.6, JSON): what a plain install of karat brings, with versions and licences.

`python deploy/sbom.py` describes the environment that runs it; `--extra web` adds what an extra brings.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import uuid
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?")


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(found: Distribution, extras: set[str]) -> list[str]:
    """What it needs, as written; of optional ones those of the extras."""
    out = []
    for line in found.requires or []:
        text, _, marker = line.partition(";")
        wanted = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", marker)
        if wanted is None or wanted[1] in extras:
            out.append(text)
    return out


def closure(root: str, extras: set[str]) -> dict[str, tuple[Distribution, list[str]]]:
    """Every installed distribution that the root needs, with what each needs in turn."""
    found: dict[str, tuple[Distribution, list[str]]] = {}
    waiting = [(root, extras)]
    while waiting:
        name, wanted = waiting.pop()
        try:
            one = distribution(name)
        except PackageNotFoundError:
            continue  # needed by other systems or versions of Python only
        if plain(name) in found:
            continue
        needs = [REQUIREMENT.match(text) for text in requirements(one, wanted)]
        found[plain(name)] = (one, [plain(n[1]) for n in needs if n])
        waiting += [(n[1], set((n[2] or "").replace(" ", "").split(","))) for n in needs if n]
    return found


def licence(found: Distribution) -> list[dict[str, Any]]:
    meta = found.metadata
    if said := meta.get("License-Expression"):
        return [{"expression": said}]
    classifiers = [c.rpartition(" :: ")[2] for c in meta.get_all("Classifier") or [] if c.startswith("License ::")]
    named = classifiers or [line for line in (meta.get("License") or "").splitlines()[:1] if line.strip()]
    return [{"license": {"name": name}} for name in named]


def component(found: Distribution, kind: str = "library") -> dict[str, Any]:
    name, version = found.metadata["Name"], found.version
    address = f"pkg:pypi/{plain(name)}@{version}"
    return {
        "type": kind,
        "bom-ref": address,
        "name": name,
        "version": version,
        "purl": address,
        "licenses": licence(found),
    }


def bill(extras: set[str]) -> dict[str, Any]:
    found = closure("karat", extras)
    parts = {name: component(one, "application" if name == "karat" else "library") for name, (one, _) in found.items()}
    needs = [
        {"ref": parts[name]["bom-ref"], "dependsOn": sorted(parts[n]["bom-ref"] for n in names if n in parts)}
        for name, (_, names) in sorted(found.items())
    ]
    identity = json.dumps([part["purl"] for part in parts.values()])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, identity)}",
        "version": 1,
        "metadata": {"component": parts["karat"]},
        "components": [part for name, part in sorted(parts.items()) if name != "karat"],
        "dependencies": needs,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extra", action="append", default=[])
    json.dump(bill(set(parser.parse_args().extra)), sys.stdout, indent=1, ensure_ascii=False)
    print()
