"""Runs the blocks of docs/python.md and of docs/reference/operators.md as one program each.

It compares the signatures of the operators with those of the library.

  PYTHONPATH=build/release/python python tests/python/python_page_test.py
"""
import pathlib
import re
import sys
import traceback
import warnings

import torch
from operator_samples import public_operators

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
GUIDE, OPERATORS = DOCS / "python.md", DOCS / "reference" / "operators.md"


def blocks(text, language):
    """The blocks of a language, each with the number of its first line."""
    for block in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, block.start(1)), block[1]


def failure_of(page, line, code, names):
    """Runs a block; what went wrong, with the page's own line numbers, or None."""
    try:
        exec(compile("\n" * line + code, page.name, "exec"), names)
    except Exception:
        return traceback.format_exc()
    return None


def one_line(signature):
    """A signature without line breaks, its numbers as Python prints them."""
    number = re.compile(r"(?<==)-?\d+\.\d*(e[-+]?\d+)?")
    return number.sub(lambda found: repr(float(found[0])), " ".join(signature.split()))


def missing_parts(text):
    """The operators without a heading, an example, or the library's signature."""
    sections = {part.split("\n", 1)[0]: part for part in text.split("\n## ")[1:]}
    for name in public_operators():
        section = sections.get(name, "")
        if not any(f"operators.{name}(" in code for _, code in blocks(section, "python")):
            yield f"{name}: no section of the page has an example of it"
        schema = one_line(str(getattr(torch.ops.cachet, name).default._schema).removeprefix("cachet::"))
        if [one_line(code) for _, code in blocks(section, "text")] != [schema]:
            yield f"{name}: its section must give the signature {schema}"


def main():
    failures, run = [], 0
    for page in (GUIDE, OPERATORS):
        names, code = {}, list(blocks(page.read_text(encoding="utf-8"), "python"))
        failures += [failure for failure in (failure_of(page, line, block, names) for line, block in code) if failure]
        failures += [] if code else [f"{page.name} has no blocks"]
        run += len(code)
    failures += missing_parts(OPERATORS.read_text(encoding="utf-8"))
    print("\n".join(failures), file=sys.stderr)
    print(f"{GUIDE.name}, {OPERATORS.name}: {run} blocks, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
