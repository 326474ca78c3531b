"""Loads libcachet_ops.so as a Python user would and runs torch.library.opcheck on every operator in it.

  python tests/python/opcheck_test.py build/release/lib/libcachet_ops.so

An operator without samples fails, and so does a sample for which there is no operator.
"""
import sys
import traceback
import warnings

import torch
from operator_samples import SAMPLES

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")


def operators():
    """Names of the operators that the library registered."""
    return sorted({name.split("::")[1].split(".")[0]
                   for name in torch._C._dispatch_get_all_op_names() if name.startswith("cachet::")})


def main():
    torch.ops.load_library(sys.argv[1])
    torch.manual_seed(0)
    failures = [f"{name}: there is no such operator" for name in SAMPLES.keys() - set(operators())]
    checked = 0
    for name in operators():
        samples = list(SAMPLES[name]()) if name in SAMPLES else []
        if not samples:
            failures.append(f"{name}: tests/python/operator_samples.py has no samples for it")
        for number, arguments in enumerate(samples):
            try:
                torch.library.opcheck(getattr(torch.ops.cachet, name).default, arguments)
                checked += 1
            except Exception:
                failures.append(f"{name}, sample {number}:\n{traceback.format_exc()}")
    print("\n".join(failures), file=sys.stderr)
    print(f"opcheck: {checked} samples of {len(operators())} operators passed, {len(failures)} failures")
    return 1 if failures or not checked else 0


sys.exit(main())
