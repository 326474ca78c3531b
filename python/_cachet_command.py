"""The console script `cachet`: starts the command of the package in place of Python.

It is a module of its own, since `import cachet` imports torch, which the command does not need.
"""
from __future__ import annotations

import importlib.util
import os
import pathlib
import runpy
import sys
from typing import NoReturn

PACKAGE = pathlib.Path(__file__).parent / "cachet"


def build() -> dict[str, str]:
    """What the package was built as: VERSION, TORCH_VERSION, OPERATORS. Ends the process if the folder is not ours."""
    file = PACKAGE / "_build.py"
    if not file.exists():
        sys.exit(f"cachet: {PACKAGE} is not of cachet-torch; the project `cachet` of the package index is unrelated. "
                 "Run: pip uninstall cachet cachet-torch, then install cachet-torch again")
    return {name: value for name, value in runpy.run_path(str(file)).items() if name.isupper()}


def minor(version: str) -> str:
    """The release that a version belongs to: 2.13 of 2.13.0+cpu."""
    return ".".join(version.split("+")[0].split(".")[:2])


def why_not_with(torch: str, version: str, built_with: str) -> str | None:
    """Why a Cachet that was built with one version of torch does not run with another; None if it does."""
    if minor(torch) == minor(built_with):
        return None
    return (
        f"cachet-torch {version} was built with torch {built_with} and found torch {torch}. "
        f"Run: pip install 'torch=={minor(built_with)}.*', or install a cachet-torch that was built with your torch"
    )


def torch_folder() -> pathlib.Path | None:
    """Where torch lies, without importing it; None if this Python has none."""
    spec = importlib.util.find_spec("torch")
    return None if spec is None or spec.origin is None else pathlib.Path(spec.origin).parent


def environment(torch: pathlib.Path) -> dict[str, str]:
    """The environment of the command: it finds this torch, wherever it lies."""
    variables = dict(os.environ)
    if torch.resolve() != (PACKAGE.parent / "torch").resolve():  # where the command looks by itself
        paths = [str(torch / "lib"), variables.get("LD_LIBRARY_PATH", "")]
        variables["LD_LIBRARY_PATH"] = ":".join(path for path in paths if path)
    return variables


def main() -> NoReturn:
    """Runs the command with the arguments of this process. Ends with one line if torch is missing or another one."""
    built = build()
    torch = torch_folder()
    if torch is None:
        sys.exit(f"cachet: this Python has no torch. Run: pip install 'torch=={minor(built['TORCH_VERSION'])}.*'")
    found = str(runpy.run_path(str(torch / "version.py"))["__version__"])
    problem = why_not_with(found, built["VERSION"], built["TORCH_VERSION"])
    if problem:
        sys.exit(f"cachet: {problem}")
    os.execve(PACKAGE / "bin" / "cachet", ["cachet", *sys.argv[1:]], environment(torch))
