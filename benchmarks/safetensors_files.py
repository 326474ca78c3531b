"""safetensors files, as far as the programs here pass tensors to each other: no package is needed."""
import json
import struct

import torch

_TYPES = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64, "U8": torch.uint8}
_WORDS = {type: word for word, type in _TYPES.items()}


def read_safetensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = bytearray(file.read())
    header.pop("__metadata__", None)
    tensors = {}
    for name, about in header.items():
        first, last = about["data_offsets"]
        kind = _TYPES[about["dtype"]]
        flat = torch.frombuffer(data, dtype=kind, offset=first, count=(last - first) // kind.itemsize) if last > first \
            else torch.empty(0, dtype=kind)
        tensors[name] = flat.reshape(about["shape"])
    return tensors


def write_safetensors(path, tensors):
    header, at = {}, 0
    # Wider types first, so that each tensor lies where its type may lie.
    ordered = sorted(tensors.items(), key=lambda item: -item[1].element_size())
    for name, tensor in ordered:
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": _WORDS[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for _, tensor in ordered:
            file.write(tensor.contiguous().numpy().tobytes())
