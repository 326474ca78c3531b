"""Transformers with recurrent caches, unified normalization and trainable kernels, on PyTorch.

`cachet.ops` has the operators as typed functions. `cachet.nn` has layers that use these operators. `replace_norms` and
`add_cache` put norms and caches into models that were not made with Cachet. `fold` and `freeze` make trained models
faster. `portable` makes exported programs run without this package. `train` starts the command `cachet train`. `Run`
opens folders that the command wrote. `import cachet` loads libcachet_ops, the library with the compiled operators.
"""
from __future__ import annotations

from cachet import _build, _library

_library.load()

# The operators have to be registered first.
from cachet import nn, ops  # noqa: E402
from cachet._added import CachesAdded, add_cache  # noqa: E402
from cachet._command import CommandError  # noqa: E402
from cachet._fold import NormsFolded, fold  # noqa: E402
from cachet._freeze import CachesFrozen, freeze  # noqa: E402
from cachet._portable import portable  # noqa: E402
from cachet._replace import NormsReplaced, replace_norms  # noqa: E402
from cachet._run import Run  # noqa: E402
from cachet._train import Training, train  # noqa: E402

__version__ = _build.VERSION
#: For CMake: `find_package(cachet)` finds the C++ library in this prefix.
cmake_prefix_path = str(_library.FOLDER)

__all__ = [
    "CachesAdded",
    "CachesFrozen",
    "CommandError",
    "NormsFolded",
    "NormsReplaced",
    "Run",
    "Training",
    "__version__",
    "add_cache",
    "cmake_prefix_path",
    "fold",
    "freeze",
    "nn",
    "ops",
    "portable",
    "replace_norms",
    "train",
]
