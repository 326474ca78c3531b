"""Changing the weights of a checkpoint without a library, as damage or a diverged training would: what tests share."""
import hashlib
import json
import struct


def write(checkpoint, file, data):
    """Replaces a file of a checkpoint by these bytes, and makes the manifest true again."""
    (checkpoint / file).write_bytes(data)
    manifest = json.loads((checkpoint / "manifest.json").read_text())
    manifest["files"][file] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    del manifest["digest"]
    body = json.dumps(manifest, separators=(",", ":"), ensure_ascii=False)
    manifest["digest"] = hashlib.sha256(body.encode()).hexdigest()
    (checkpoint / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def fill(checkpoint, chosen, value, file="model.safetensors", count=None):
    """Fills float32 tensors whose names `chosen` takes with a value, the first `count` positions or all, and makes the manifest true again. Returns their names."""
    data = bytearray((checkpoint / file).read_bytes())
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    names = [name for name in header if name != "__metadata__" and header[name]["dtype"] == "F32" and chosen(name)]
    assert names, [name for name in header]
    for name in names:
        begin, end = (8 + size + offset for offset in header[name]["data_offsets"])
        places = (end - begin) // 4 if count is None else count
        data[begin:begin + 4 * places] = struct.pack("<f", value) * places
    write(checkpoint, file, bytes(data))
    return names


def counters(checkpoint, file="model.safetensors"):
    """The first number of each tensor of whole numbers, by name."""
    data = (checkpoint / file).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    numbers = {name: entry for name, entry in json.loads(data[8:8 + size]).items()
               if name != "__metadata__" and entry["dtype"] == "I64"}
    return {name: struct.unpack_from("<q", data, 8 + size + entry["data_offsets"][0])[0] for name, entry in numbers.items()}


def only_checkpoint(run):
    """Of a run that has one."""
    found = [path for path in (run / "checkpoints").iterdir() if path.is_dir() and path.name.startswith("step-")]
    assert len(found) == 1, found
    return found[0]
