"""Data of a user's own, small and made by a seed: photographs, a text, a language pair, scenes and labelled texts."""
import json
import random
import struct
import zlib

CLASSES = {"ant": (200, 60, 40), "bee": (40, 180, 60), "cat": (60, 50, 210)}
WHO = {"the cat": "die Katze", "the dog": "der Hund", "a bird": "ein Vogel", "my friend": "mein Freund", "the river": "der Fluss"}
DOES = {"sees": "sieht", "finds": "findet", "knows": "kennt", "follows": "folgt"}
WHAT = {"a tree": "einen Baum", "the sea": "das Meer", "some bread": "etwas Brot", "the way": "den Weg", "a house": "ein Haus"}


def write_png(path, width, height, pixel):
    """An RGB file; pixel(x, y) has three values."""
    rows = b"".join(b"\0" + bytes(value for x in range(width) for value in pixel(x, y)) for y in range(height))
    parts = (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    chunks = (struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))


def write_photo(path, name, draw):
    low = draw.randint(0, 40)
    write_png(path, 40, 36, lambda x, y: tuple(min(255, value + low + (x * y) % 15) for value in CLASSES[name]))


def photos(folder, count=16):
    """Class folders, and a file to predict the class of."""
    draw = random.Random(1)
    for name in CLASSES:
        for number in range(count):
            write_photo(folder / "photos" / name / f"{number}.png", name, draw)
    write_photo(folder / "new.png", "bee", draw)


def sentences(count):
    """Sentences and their translations."""
    draw = random.Random(2)
    for _ in range(count):
        who, does, what = (draw.choice(list(words)) for words in (WHO, DOES, WHAT))
        yield f"{who} {does} {what}", f"{WHO[who]} {DOES[does]} {WHAT[what]}"


def notes(folder, lines=600):
    (folder / "notes.txt").write_text("".join(f"{english.capitalize()}.\n" for english, _ in sentences(lines)))


def corpus(folder, pairs=400):
    (folder / "corpus").mkdir()
    english, german = zip(*sentences(pairs))
    (folder / "corpus/text.de").write_text("".join(line + "\n" for line in german))
    (folder / "corpus/text.en").write_text("".join(line + "\n" for line in english))
    (folder / "new.de").write_text("die Katze sieht einen Baum\nmein Freund kennt den Weg\n")


def reviews(folder, count=120):
    draw = random.Random(3)
    good, bad = ("bright", "moving", "clever"), ("dull", "slow", "empty")
    lines = []
    for number in range(count):
        name, words = draw.choice((("good", good), ("bad", bad)))
        lines.append(f"{name}\ta {draw.choice(words)} film that is {draw.choice(words)}, number {number}\n")
    (folder / "reviews.tsv").write_text("".join(lines))


def write_scene(path, boxes):
    def pixel(x, y):
        for (left, top, width, height), colour in boxes:
            if left <= x < left + width and top <= y < top + height:
                return colour
        return 120, 120, 120 + (x + y) % 8

    write_png(path, 96, 80, pixel)


def scenes(folder, count=12):
    """A COCO folder of one file of annotations: rectangles of two colours."""
    draw, images, annotations = random.Random(4), [], []
    colours = ((220, 40, 40), (40, 40, 220))
    for number in range(count):
        kind = draw.randrange(2)
        box = (draw.randint(2, 40), draw.randint(2, 30), draw.randint(20, 40), draw.randint(20, 40))
        write_scene(folder / f"scenes/images/{number}.png", [(box, colours[kind])])
        images.append({"id": number, "width": 96, "height": 80, "file_name": f"{number}.png"})
        annotations.append({"id": number, "image_id": number, "category_id": kind + 1, "bbox": box, "area": box[2] * box[3], "iscrowd": 0})
    (folder / "scenes/annotations").mkdir()
    categories = [{"id": 1, "name": "red"}, {"id": 2, "name": "blue"}]
    (folder / "scenes/annotations/instances.json").write_text(
        json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    write_scene(folder / "new.png", [((20, 20, 30, 30), colours[0])])
