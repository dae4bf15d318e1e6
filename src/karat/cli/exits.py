# SPDX-License-Identifier: Apache-2.0
"""How a command ends: its exit code, whatever happens to it, its user or its output."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

MISSED, BAD_INPUT, INTERNAL, INTERRUPTED = 1, 2, 3, 130


class Interruption:
    """Whether the user pressed Ctrl-C, or somebody ended the command: engines and readers turn the exception into their own, or swallow it."""

    happened = False
    code = INTERRUPTED

    @classmethod
    def noted(cls, signum: int, frame: Any) -> None:
        cls.happened, cls.code = True, 128 + signum  # as shells count
        raise KeyboardInterrupt


def run(command: Callable[[], Any]) -> int:
    """The exit code of a command, whatever becomes of it; what went wrong is on stderr."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # the last two would end it before it has cleaned up
        number = getattr(signal, name, None)
        if number and signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, Interruption.noted)
    try:
        with _standard_streams():
            code = _finished(command)
    except OSError as error:
        click.echo(f"error: cannot write the output: {error.strerror or error}", err=True)
        code = BAD_INPUT
    if Interruption.happened and Interruption.code != INTERRUPTED:  # who sent the signal sees that it was heard
        signal.signal(Interruption.code - 128, signal.SIG_DFL)
        signal.raise_signal(Interruption.code - 128)
    return Interruption.code if Interruption.happened else code


class _Stream(io.FileIO):
    """A standard stream that loses what nobody reads any more: the command goes on, for its exit code says what it found."""

    lost: type[OSError]

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except self.lost:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            return super().write(data)


class _Out(_Stream):
    lost = BrokenPipeError
    """The reader has seen enough, as with `| head`."""


class _Err(_Stream):
    lost = OSError
    """There is no other place to say that a full disk takes no messages."""


def _in_place_of(stream: Any, kind: type[_Stream]) -> io.TextIOWrapper:
    raw = kind(stream.fileno(), "wb", closefd=False)
    buffer: Any = io.BufferedWriter(raw) if hasattr(stream.buffer, "raw") else raw  # as with PYTHONUNBUFFERED
    return io.TextIOWrapper(
        buffer, stream.encoding, stream.errors, None, stream.line_buffering, write_through=stream.write_through
    )


@contextmanager
def _standard_streams() -> Iterator[None]:
    """Streams that are closed swallow what is written; what could not be written is not tried again at the end."""
    for name, kind in (("stdout", _Out), ("stderr", _Err)):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif stream is getattr(sys, f"__{name}__") and isinstance(
            getattr(stream.buffer, "raw", stream.buffer), io.FileIO
        ):
            setattr(sys, name, _in_place_of(stream, kind))
    try:
        yield
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _finished(command: Callable[[], Any]) -> int:
    try:
        command()
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except OSError:
        raise
    except Exception as error:
        if not Interruption.happened:
            fault = f"{type(error).__name__}: {error}\nThis is a fault of karat; please report it."
            click.echo(f"karat: internal error: {fault}", err=True)
        return INTERNAL
