"""Finds libcachet_ops, checks that this process can load it, and loads it."""
from __future__ import annotations

import pathlib

import torch

from _cachet_command import why_not_with
from cachet import _build

#: The folder of the package. It is the prefix of an installation: bin, include, lib and share lie in it.
FOLDER = pathlib.Path(__file__).parent


def check_owner() -> None:
    """Raises ImportError if the project `cachet` of the package index is installed into the same folder."""
    for other in FOLDER.parent.glob("cachet-*.dist-info"):
        raise ImportError(
            f"{FOLDER} belongs to two distributions: cachet-torch and the unrelated {other.stem}. "
            "Run: pip uninstall cachet cachet-torch, then install cachet-torch again"
        )


def check_torch(version: str) -> None:
    """Raises ImportError unless the library was built for the C++ interface of this version of torch."""
    problem = why_not_with(version, _build.VERSION, _build.TORCH_VERSION)
    if problem:
        raise ImportError(problem)


def check_alone(library: pathlib.Path) -> None:
    """Raises ImportError if this process has already loaded the operators of another build of Cachet."""
    if not any(name.startswith("cachet::") for name in torch._C._dispatch_get_all_op_names()):
        return
    loaded = [line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines()
              if "libcachet_ops" in line]
    raise ImportError(
        f"this process has already loaded another build of Cachet, {loaded[0] if loaded else 'from another library'}, "
        f"and cannot also load {library}. Use only one of them"
    )


def load() -> None:
    """Registers the operators with torch. If this is not possible, raises ImportError with a message of one line."""
    check_owner()
    check_torch(torch.__version__)
    library = FOLDER / "lib" / _build.OPERATORS
    check_alone(library)
    try:
        torch.ops.load_library(library)  # type: ignore[no-untyped-call]
    except OSError as error:
        raise ImportError(f"cachet-torch {_build.VERSION} cannot load {library}: {error}") from None
