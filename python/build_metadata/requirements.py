"""The requirements of the wheel: numpy, and the torch of the build. scikit-build-core calls this file."""
from __future__ import annotations

import importlib.util
import pathlib
import re
import runpy
from collections.abc import Mapping
from typing import Any

VERSIONS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "versions"


def pinned_torch() -> str:
    """Returns the version of torch that tools/versions names."""
    return re.search(r"^LIBTORCH=(\S+)$", VERSIONS.read_text(encoding="utf-8"), re.MULTILINE)[1]  # type: ignore[index]


def installed_torch() -> str:
    """Returns the version of the installed torch, without importing torch.

    Returns the pinned version if this Python has no torch.
    """
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return pinned_torch()
    return str(runpy.run_path(str(pathlib.Path(spec.origin).parent / "version.py"))["__version__"])


def dynamic_metadata(field: str, settings: Mapping[str, Any]) -> list[str]:
    """Returns the entries Requires-Dist.

    They name a minor version of torch, because the C++ interface of torch changes with each minor version. torch itself
    does not require numpy.
    """
    if field != "dependencies" or settings:
        raise ValueError(f"pyproject.toml: requirements.py gives dependencies, without settings; not {field}")
    major, minor = installed_torch().split(".")[:2]
    return [f"torch=={major}.{minor}.*", "numpy"]


def get_requires_for_dynamic_metadata(settings: Mapping[str, Any]) -> list[str]:
    """Returns the packages that an isolated build installs.

    A build without isolation (--no-build-isolation) uses the installed torch.
    """
    return [f"torch=={pinned_torch()}"]
