"""Image files of every kind that a user may give: PNG of each colour type and depth, JPEG of each layout, sizes from one pixel on."""
import base64
import json
import struct
import zlib

import command

GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, colour, depth, values, before_data=b""):
    """A PNG whose sample number i, from top left over all channels, has the value values(i) of `depth` bits."""
    per_row = width * CHANNELS[colour]
    rows = b""
    for y in range(height):
        bits = "".join(format(values(y * per_row + i) % (1 << depth), f"0{depth}b") for i in range(per_row))
        bits += "0" * (-len(bits) % 8)
        rows += b"\0" + int(bits, 2).to_bytes(len(bits) // 8, "big")
    header = struct.pack(">2I5B", width, height, depth, colour, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + before_data + png_chunk(b"IDAT", zlib.compress(rows)) +
            png_chunk(b"IEND", b""))


def colours(seed, channels, smooth=7):
    """Values whose channels have brightnesses of their own, by the seed."""
    return lambda i: (i // channels * smooth + 211 * seed * (i % channels + 1)) % 256 * (1 + (seed + i) % 2) // 2


OF_ONE_COLOUR = ("one_pixel.png", "red.png", "green.png", "blue.png")


def write_images_of_each_kind(folder):
    """Returns the names of the files, in the order in which they were written."""
    folder.mkdir()
    palette = png_chunk(b"PLTE", bytes(value for entry in range(16) for value in (entry * 16, 255 - entry * 9, entry * 5 % 256)))
    kinds = {
        "grey.png": png(32, 32, GREY, 8, colours(1, 1)),
        "grey_1.png": png(17, 9, GREY, 1, colours(2, 1, 1)),
        "grey_16.png": png(20, 31, GREY, 16, lambda i: i * 97 % 65536),
        "grey_alpha.png": png(15, 15, GREY_ALPHA, 8, colours(3, 2)),
        "rgb.png": png(32, 32, RGB, 8, colours(4, 3)),
        "rgb_16.png": png(9, 14, RGB, 16, lambda i: i * 1201 % 65536),
        "rgba.png": png(33, 31, RGBA, 8, colours(5, 4)),
        "palette.png": png(21, 13, PALETTE, 4, lambda i: i * 5 + i // 7, palette),
        "palette_transparent.png": png(21, 13, PALETTE, 4, lambda i: i * 3, palette + png_chunk(b"tRNS", bytes(range(0, 256, 16)))),
        "one_pixel.png": png(1, 1, RGB, 8, lambda i: (250, 20, 90)[i]),
        "one_row.png": png(77, 1, RGB, 8, colours(6, 3)),
        "one_column.png": png(1, 53, GREY, 8, colours(7, 1)),
        "large.png": png(211, 97, RGB, 8, colours(8, 3, 1)),
        "red.png": png(32, 32, RGB, 8, lambda i: (240, 10, 10)[i % 3]),
        "green.png": png(32, 32, RGB, 8, lambda i: (10, 240, 10)[i % 3]),
        "blue.png": png(32, 32, RGB, 8, lambda i: (10, 10, 240)[i % 3]),
    }
    for sample in json.loads((command.ROOT / "tests/data/pillow_images.json").read_text())["jpeg"]:
        kinds[sample["name"].replace(":", "") + ".jpg"] = base64.b64decode(sample["file"])
    for name, content in kinds.items():
        (folder / name).write_bytes(content)
    return [f"{folder.name}/{name}" for name in kinds]
