"""Reads files that the command writes: JSON, safetensors, and the recipes of model folders and exports."""
from __future__ import annotations

import hashlib
import json
import math
import pathlib
from typing import Any

import torch
from torch import Tensor

_TYPES = {
    "BOOL": torch.bool, "U8": torch.uint8, "I8": torch.int8, "I16": torch.int16, "I32": torch.int32,
    "I64": torch.int64, "F16": torch.float16, "BF16": torch.bfloat16, "F32": torch.float32, "F64": torch.float64,
}


def read_json(file: pathlib.Path, *, newest: int = 1, version: str = "schema") -> dict[str, Any]:
    """Reads a JSON object.

    Raises:
        ValueError: If the file is damaged or of a newer version. The message names the file.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file}: is damaged: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{file}: is damaged: it is not a JSON object")
    number = content.get(version)
    if number is not None and (not isinstance(number, int) or number > newest):
        raise ValueError(f"{file}: its {version} is {number}; use a newer cachet-torch")
    return content


def read_value(text: str) -> tuple[Any, str]:
    """Reads a value of TOML from a line that the command wrote. Returns the value and the text after it.

    Raises:
        ValueError: If there is no value.
    """
    word = text.strip().split(" ")[0]
    if word.lstrip("+-") in ("inf", "nan"):
        return (math.nan if word.endswith("nan") else float(word)), text.strip()[len(word):]
    decoder = json.JSONDecoder()
    value, end = decoder.raw_decode(text.strip())
    return value, text.strip()[end:]


def read_recipe(file: pathlib.Path) -> dict[str, Any]:
    """Returns the values of a recipe that the command wrote, by dotted keys."""
    values: dict[str, Any] = {}
    table = ""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("[") and text.endswith("]"):
            table = text[1:-1] + "."
            continue
        key, equals, rest = text.partition("=")
        try:
            if not equals:
                raise ValueError("a key needs a value")
            value, after = read_value(rest)
            if after.strip() and not after.strip().startswith("#"):
                raise ValueError("text after a value")
        except ValueError as error:
            raise ValueError(f"{file}:{number}: is damaged: {error}") from None
        values[table + key.strip().strip('"')] = value
    return values


def nested(values: dict[str, Any]) -> dict[str, Any]:
    """Converts values with dotted keys to nested tables."""
    tables: dict[str, Any] = {}
    for key, value in values.items():
        *path, last = key.split(".")
        table = tables
        for name in path:
            table = table.setdefault(name, {})
        table[last] = value
    return tables


def _tensor(file: pathlib.Path, name: str, entry: dict[str, Any], data: memoryview) -> Tensor:
    dtype = _TYPES.get(entry["dtype"])
    if dtype is None:
        raise ValueError(f"{file}: the tensor {name} has the type {entry['dtype']}, which Cachet cannot read")
    begin, end = entry["data_offsets"]
    shape = entry["shape"]
    count = math.prod(shape)
    if not 0 <= begin <= end <= len(data) or end - begin != count * torch.empty((), dtype=dtype).element_size():
        raise ValueError(f"{file}: is damaged: the tensor {name} does not have the number of bytes of its shape")
    if count == 0:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(data[begin:end]), dtype=dtype).view(shape)


def read_safetensors(file: pathlib.Path, sha256: str | None = None) -> dict[str, Tensor]:
    """Returns the tensors of a file by their names.

    Raises:
        ValueError: If the file is damaged or has another digest.
    """
    content = file.read_bytes()
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError(f"{file}: is damaged: its SHA-256 is not the one that was saved")
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > len(content) - 8:
        raise ValueError(f"{file}: is damaged: it is not a safetensors file")
    try:
        header = json.loads(content[8 : 8 + length])
        data = memoryview(content)[8 + length :]
        return {name: _tensor(file, name, entry, data) for name, entry in header.items() if name != "__metadata__"}
    except (KeyError, TypeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{file}: is damaged: its header is not that of a safetensors file: {error}") from None
