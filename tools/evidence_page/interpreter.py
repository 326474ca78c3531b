"""Finds a Python that has SciPy, which gives the distributions."""

import importlib.util
import os
import pathlib
import sys

VENV = pathlib.Path(__file__).resolve().parents[2] / ".venv"


def ensure_scipy():
    """Returns if this Python has SciPy; else starts the program again with that of .venv, or ends it."""
    sys.dont_write_bytecode = True
    if importlib.util.find_spec("scipy"):
        return
    python = VENV / "bin" / "python"
    if pathlib.Path(sys.prefix).resolve() != VENV.resolve() and python.exists():
        os.execv(python, [str(python), *sys.argv])
    sys.exit("This needs SciPy, and neither python3 nor .venv has it. Run tools/setup --tests, which installs it.")
