# SPDX-License-Identifier: Apache-2.0
"""Defaults of a project: options of the commands in karat.toml, or under [tool.karat] in pyproject.toml."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import click

FILES = ("karat.toml", "pyproject.toml")


def of_command(name: str, command: click.Command, commands: Any) -> dict[str, Any]:
    """What the project's file says of a command, by parameter: keys at the top hold for all commands that have them."""
    file_settings = _settings(Path.cwd())
    if file_settings is None:
        return {}
    file, settings = file_settings
    params = {flag.lstrip("-"): p for p in command.params for flag in p.opts if flag.startswith("--")}
    of_name = settings.get(name, {})
    common = {key: value for key, value in settings.items() if key not in commands}
    out: dict[str, Any] = {}
    for key, value in [*((k, v) for k, v in common.items() if k in params), *of_name.items()]:
        if key not in params:
            near = difflib.get_close_matches(key, params, 1)
            more = f"; did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"{file}: `karat {name}` has no option {key!r}{more}")
        param = params[key]
        listed = isinstance(param, click.Option) and param.multiple and not isinstance(value, list)
        out[str(param.name)] = [value] if listed else value
    return out


def _settings(folder: Path) -> tuple[str, dict[str, Any]] | None:
    """The nearest file at or above the folder that has settings; the folder of a repository is the last that is looked in."""
    for place in (folder, *folder.parents):
        for name in FILES:
            if (place / name).is_file() and (settings := _read(place / name)) is not None:
                return name, settings
        if (place / ".git").exists():
            return None
    return None


def _read(path: Path) -> dict[str, Any] | None:
    import tomllib  # most folders have no such file

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        if path.name == "pyproject.toml":  # whatever is wrong with it is not ours to say
            return None
        raise click.UsageError(f"{path.name} cannot be read: {error}") from None
    settings = content.get("tool", {}).get("karat") if path.name == "pyproject.toml" else content
    return settings if isinstance(settings, dict) else None
