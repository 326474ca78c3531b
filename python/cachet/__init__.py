"""Transformers with recurrent caches, unified normalization and trainable kernels, on PyTorch.

`cachet.ops` has the operators as typed functions, `cachet.nn` layers made of them. `replace_norms` puts norms into
models that are made elsewhere. `import cachet` loads libcachet_ops, which has their compiled forms.
"""
from __future__ import annotations

from cachet import _build, _library

_library.load()

# The operators have to be registered first.
from cachet import nn, ops  # noqa: E402
from cachet._replace import NormsReplaced, replace_norms  # noqa: E402

__version__ = _build.VERSION
#: For CMake: `find_package(cachet)` finds the C++ library in this prefix.
cmake_prefix_path = str(_library.FOLDER)

__all__ = ["NormsReplaced", "__version__", "cmake_prefix_path", "nn", "ops", "replace_norms"]
