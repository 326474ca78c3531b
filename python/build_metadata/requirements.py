"""What the wheel requires: the torch that it is built with, which scikit-build-core asks for (pyproject.toml)."""
from __future__ import annotations

import importlib.util
import pathlib
import re
import runpy
from collections.abc import Mapping
from typing import Any

VERSIONS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "versions"


def pinned_torch() -> str:
    """The version of torch that tools/versions names."""
    return re.search(r"^LIBTORCH=(\S+)$", VERSIONS.read_text(encoding="utf-8"), re.MULTILINE)[1]  # type: ignore[index]


def installed_torch() -> str:
    """The version of the torch that this Python has, read without importing torch; the pinned one without any."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return pinned_torch()
    return str(runpy.run_path(str(pathlib.Path(spec.origin).parent / "version.py"))["__version__"])


def dynamic_metadata(field: str, settings: Mapping[str, Any]) -> list[str]:
    """The entries Requires-Dist. The C++ interface of torch changes with each minor version."""
    if field != "dependencies" or settings:
        raise ValueError(f"pyproject.toml: requirements.py gives dependencies, without settings; not {field}")
    major, minor = installed_torch().split(".")[:2]
    return [f"torch=={major}.{minor}.*"]


def get_requires_for_dynamic_metadata(settings: Mapping[str, Any]) -> list[str]:
    """What an isolated build installs. Without isolation (--no-build-isolation) the user's torch is taken."""
    return [f"torch=={pinned_torch()}"]
