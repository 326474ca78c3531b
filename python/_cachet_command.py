"""The console script `cachet`: replaces the Python process by the command of the package.

This module is not a part of the package `cachet`, because `import cachet` imports torch, which the command does not
need.
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
    """Returns the facts about the build of the package: VERSION, TORCH_VERSION and OPERATORS.

    Ends the process if the folder does not belong to cachet-torch.
    """
    file = PACKAGE / "_build.py"
    if not file.exists():
        sys.exit(f"cachet: {PACKAGE} is not of cachet-torch; the project `cachet` of the package index is unrelated. "
                 "Run: pip uninstall cachet cachet-torch, then install cachet-torch again")
    return {name: value for name, value in runpy.run_path(str(file)).items() if name.isupper()}


def minor(version: str) -> str:
    """Returns the minor release of a version, for example 2.13 for 2.13.0+cpu."""
    return ".".join(version.split("+")[0].split(".")[:2])


def why_not_with(torch: str, version: str, built_with: str) -> str | None:
    """Returns the reason why a Cachet that was built with one version of torch cannot run with another version.

    Returns None if it can run.
    """
    if minor(torch) == minor(built_with):
        return None
    return (
        f"cachet-torch {version} was built with torch {built_with} and found torch {torch}. "
        f"Run: pip install 'torch=={minor(built_with)}.*', or install a cachet-torch that was built with your torch"
    )


def folder_of(package: str) -> pathlib.Path | None:
    """Returns the folder of a package, without importing it. Returns None if this Python does not have the package."""
    spec = importlib.util.find_spec(package)
    return None if spec is None or spec.origin is None else pathlib.Path(spec.origin).parent


def environment(torch: pathlib.Path, openvino: pathlib.Path | None) -> dict[str, str]:
    """Returns the environment in which the command finds this torch and this OpenVINO, in any folder."""
    variables = dict(os.environ)
    packages = {"torch": torch / "lib"} | ({"openvino": openvino / "libs"} if openvino else {})
    # Next to this package, the command finds them by itself.
    paths = [str(libraries) for name, libraries in packages.items()
             if libraries.parent.resolve() != (PACKAGE.parent / name).resolve()]
    if paths:
        variables["LD_LIBRARY_PATH"] = ":".join([*paths, *filter(None, [variables.get("LD_LIBRARY_PATH")])])
    return variables


def main() -> NoReturn:
    """Runs the command with the arguments of this process.

    If torch is missing or has another version, ends the process with a message of one line.
    """
    built = build()
    torch = folder_of("torch")
    if torch is None:
        sys.exit(f"cachet: this Python has no torch. Run: pip install 'torch=={minor(built['TORCH_VERSION'])}.*'")
    found = str(runpy.run_path(str(torch / "version.py"))["__version__"])
    problem = why_not_with(found, built["VERSION"], built["TORCH_VERSION"])
    if problem:
        sys.exit(f"cachet: {problem}")
    os.execve(PACKAGE / "bin" / "cachet", ["cachet", *sys.argv[1:]], environment(torch, folder_of("openvino")))
