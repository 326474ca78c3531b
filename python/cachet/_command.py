"""Runs the command of the package."""
from __future__ import annotations

import os
import pathlib
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import torch

import _cachet_command
from cachet import _library

BINARY = _library.FOLDER / "bin" / "cachet"


class CommandError(RuntimeError):
    """Raised if the command ends with an error. The message of the exception is the error message of the command."""


def environment() -> dict[str, str]:
    """Returns the environment in which the command finds the same torch as this process, and OpenVINO."""
    return _cachet_command.environment(pathlib.Path(torch.__file__).parent, _cachet_command.folder_of("openvino"))


def written(value: Any) -> str:
    """Returns a value of a recipe, as text that the command can read."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | os.PathLike):
        return os.fspath(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(f'"{each}"' if isinstance(each, str) else written(each) for each in value) + "]"
    return repr(value)


def settings(values: Mapping[str, Any] | None) -> list[str]:
    """Returns the command's arguments that change keys of a recipe."""
    return [word for key, value in (values or {}).items() for word in ("--set", f"{key}={written(value)}")]


def failure(text: str, code: int) -> CommandError:
    """Returns the exception for a command that failed, with the text that the command wrote to standard error."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return CommandError("\n".join(lines) or f"cachet ended with status {code} and without a message")


def run(arguments: Sequence[str], *, input: str | None = None) -> str:
    """Runs the command, and returns the text that it prints. Raises CommandError if the command fails."""
    done = subprocess.run(
        [str(BINARY), *arguments], input=input, env=environment(), capture_output=True, text=True, encoding="utf-8"
    )
    if done.returncode:
        raise failure(done.stderr, done.returncode)
    return done.stdout
