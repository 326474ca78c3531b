"""Transformers with recurrent caches, unified normalization and trainable kernels, on PyTorch.

`cachet.ops` has the operators as typed functions. `import cachet` loads libcachet_ops, which has their compiled forms.
"""
from __future__ import annotations

from cachet import _build, _library

_library.load()

from cachet import nn, ops  # noqa: E402  the operators have to be registered first

__version__ = _build.VERSION
#: For CMake: `find_package(cachet)` finds the C++ library in this prefix.
cmake_prefix_path = str(_library.FOLDER)

__all__ = ["__version__", "cmake_prefix_path", "nn", "ops"]
