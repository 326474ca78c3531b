"""The pages of docs/reference, which tools/docs-reference makes of the program."""

import json
import pathlib
import re
import tomllib

from . import commands, keys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEANINGS = ROOT / "cachet/tasks/key_meanings.toml"
LINK = re.compile(r"\[[^\]]*\]\(\.\./([^)#]+)[^)]*\)")  # to another page of the site
OWN_DEFAULT = re.compile(r"The default (is|comes from)|The defaults are")  # a meaning that has the rule of the default
NOTE = "<!-- Made by tools/docs-reference; change the program, then run it. -->\n"


def read_meanings():
    """Path of a key -> {meaning, change, read_with}. A path may end in a part of a table, such as `assigner.pos_iou_thr`."""
    return tomllib.loads(MEANINGS.read_text(encoding="utf-8"))


def meaning_of(path, meanings):
    """The entry of a key: of its whole path, or of the longest end of the path that has an entry."""
    parts = path.split(".")
    for start in range(len(parts)):
        name = ".".join(parts[start:]) if start == 0 else "*." + ".".join(parts[start:])
        if name in meanings:
            return meanings[name]
    return None


# Names of families that often have a key together.
GROUPS = {"image models": ("ViT", "PVT", "Swin", "T2T-ViT"), "detectors": ("RetinaNet", "Mask R-CNN", "Faster R-CNN"),
          "R-CNN": ("Mask R-CNN", "Faster R-CNN"), "classification of sequences": ("sequences", "pairs of sequences"),
          "language models": ("causal transformer", "Transformer-XL")}
ATTENTION = "model.attention"
OTHER_ATTENTION = ("model.cross_attention", "model.decoder_attention")  # rows that ATTENTION has are not written again
PARTS = {"task": "the task", "data": "data", "model": "models", "heads": "heads of detectors, in `model`", "train": "training"}


def families_of(key):
    """The families that have the key. Keys of data and task do not depend on the model: a family of a group stands for all."""
    if key.table.partition(".")[0] not in ("data", "task"):
        return key.families
    groups = [members for members in GROUPS.values() if set(members) & set(key.families)]
    return list(dict.fromkeys([*key.families, *(family for members in groups for family in members)]))


def grouped(families):
    """The families, with the name of a group instead of all its members."""
    names, rest = [], list(families)
    for name, members in GROUPS.items():
        if set(members) <= set(rest):
            names.append(name)
            rest = [family for family in rest if family not in members]
    return ", ".join(names + rest)


def default_of(key, meaning):
    """The default. If it differs between families, the default of each, or nothing if these are many; the text may have it, too."""
    if key.default in (None, '""') or OWN_DEFAULT.search(meaning):
        return ""
    values = {}
    for family, value in key.defaults.items():
        values.setdefault(value, []).append(family)
    if len(values) <= 1 or key.table in keys.ALIKE:
        return f"<br>default: `{key.default}`"
    if len(values) > 3:
        return "<br>default: that of the model"
    return "<br>default: " + ", ".join(f"`{value}` ({grouped(names)})" for value, names in values.items())


def key_cell(key, meaning):
    """Name, type and default under each other: a narrow screen has room for two columns."""
    kind = ", ".join(f'`"{word}"`' for word in key.words) if key.type == "one of" else key.type or "text"
    return f"`{key.name}`<br>{kind}{default_of(key, meaning)}"


def families_line(key, families):
    """"For: …" unless all families have the key, or the few families that lack it."""
    own = families_of(key)
    others = [family for family in families if family not in own]
    if not others or key.table in keys.ALIKE:
        return ""
    return f"For all models and tasks except: {grouped(others)}." if 2 * len(others) < len(own) else f"For: {grouped(own)}."


def tables_of(found, families):
    """[(line of families, keys)…] of the keys of a table: four or more with the same families have a table of their own, after the others."""
    lines = {}
    for key in found:
        lines.setdefault(families_line(key, families), []).append(key)
    if len(lines) == 1 and len(found) > 1:
        return list(lines.items())
    apart = {line: own for line, own in lines.items() if line and len(own) > 3}
    rest = [key for key in found if not any(key in own for own in apart.values())]
    return ([("", rest)] if rest else []) + list(apart.items())


def key_row(key, meanings, families, shared=""):
    """A row of a table. `shared` is the line of families above the table."""
    text = meaning_of(key.path, meanings) or {}
    meaning = said = text.get("meaning", "")
    if text.get("change"):
        said += f" *{text['change']}*"
    contexts = [each.replace(f"{key.table}.", "") for each in text.get("read_with", key.contexts)]
    if contexts:
        said += " Read with " + ", ".join(f"`{each}`" for each in contexts) + "."
    if (line := families_line(key, families)) != shared:
        said += f" {line}"
    return "| " + " | ".join(text.replace("|", "\\|") for text in (key_cell(key, meaning), said.strip())) + " |"


def part_of(table):
    """The row of the list of tables."""
    first = table.partition(".")[0]
    if first == "model" and "_head" in table:
        return "heads"
    return first if first in PARTS else "train"


def tasks_of_families(program):
    """Family -> kind of its task."""
    kinds = {recipe["name"]: recipe["task"] for recipe in program.json("recipes")["recipes"]}
    return {family: kinds[recipe] for recipe, family in keys.FAMILIES.items()}


def keys_file(found, meanings, kinds):
    """The keys as JSON, one in each line, which `cachet keys` reads. A key without tasks belongs to all of them. A default that differs between
    families is left out. `kinds`: family -> task."""
    lines = []
    for key in found.values():
        text = meaning_of(key.path, meanings) or {}
        tasks = [] if key.table in keys.ALIKE else list(dict.fromkeys(kinds[family] for family in key.families))
        differs = key.table not in keys.ALIKE and len(set(key.defaults.values())) > 1
        entry = {"key": key.path, "type": key.type or "text", "values": key.words, "default": "" if differs else key.default or "",
                 "read_with": text.get("read_with", key.contexts), "tasks": tasks,
                 **{part: LINK.sub(r"see docs/\1", text.get(part, "")) for part in ("meaning", "change")}}
        lines.append(json.dumps(entry, ensure_ascii=False))
    return '{"schema": 1, "keys": [\n' + ",\n".join(lines) + "\n]}\n"


def keys_page(found, meanings):
    """The keys, a table each. Raises SystemExit if the file of meanings names a key that does not exist."""
    families = list(dict.fromkeys(keys.FAMILIES.values()))
    used = [name for name in meanings if any(meaning_of(path, meanings) is meanings[name] for path in found)]
    if unknown := sorted(set(meanings) - set(used)):
        raise SystemExit(f"docs-reference: {MEANINGS.relative_to(ROOT)} has keys that no recipe has: {', '.join(unknown)}")
    tables = {}
    for key in found.values():
        tables.setdefault(key.table, []).append(key)
    order = ("task", "data", "model", "train", "optimizer", "schedule")
    lines = ["# Recipe keys", NOTE,
             "This page lists the keys of a recipe, with type, default and meaning. The text in italics explains when to change a key. "
             "`cachet keys KEY` prints this description of one key, and `cachet keys --recipe RECIPE` prints the values of the keys in a recipe.", "",
             "- This page has no default for three kinds of keys: keys that every recipe sets, keys whose default is empty, and keys whose "
             "default depends on the model or the data. If a default depends on the model or the data, the meaning of the key explains it. "
             "`cachet keys --model NAME` prints the defaults of one model.",
             "- \"For:\" in a row names the models or tasks that have the key of the row. \"For:\" above a table names the models or tasks that "
             "have the keys of the table. If neither the row nor the table has \"For:\", all models and tasks have the key.",
             "- \"Read with `kind = \"x\"`\" means that the key is an error unless `kind` is \"x\".", ""]
    sort = sorted(tables, key=lambda name: (order.index(name.partition(".")[0]), part_of(name) == "heads", name))
    lines += ["| part | tables |", "|---|---|"]
    for part, title in PARTS.items():
        own = [f"[`{table.removeprefix('model.') if part == 'heads' else table}`](#{table.replace('.', '')})"
               for table in sort if part_of(table) == part]
        if own:
            lines.append(f"| {title} | {', '.join(own)} |")
    lines.append("")
    first = {key_row(key, meanings, families, line) for line, own in tables_of(tables.get(ATTENTION, []), families) for key in own}
    for table in sort:
        lines += [f"## `[{table}]`", ""]
        for line, own in tables_of(tables[table], families):
            rows = {key.name: key_row(key, meanings, families, line) for key in own}
            alike = [name for name, row in rows.items() if table in OTHER_ATTENTION and row in first]
            lines += [*([line, ""] if line else []), "| key, type, default | meaning |", "|---|---|"]
            lines += [row for name, row in rows.items() if name not in alike] + [""]
            if alike:
                names = ", ".join(f"`{name}`" for name in alike)
                lines += [f"These keys have the same meaning and default as in [`[{ATTENTION}]`](#{ATTENTION.replace('.', '')}): {names}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def recipes_page(program):
    """The recipes, a table for each folder."""
    folders = {}
    for recipe in program.json("recipes")["recipes"]:
        folders.setdefault(recipe["name"].partition("/")[0], []).append(recipe)
    lines = ["# List of recipes", NOTE,
             "This page lists the recipes that come with Cachet. `cachet train NAME` trains a recipe, and `cachet recipes cp NAME my.toml` "
             "copies a recipe to a file that you can edit. [Recipes](../recipes.md) explains the format, and [the papers](../papers.md) has the rows of the "
             "papers' tables.", ""]
    for folder, recipes in folders.items():
        lines += [f"## {folder}", "", "| recipe, model | what it is |", "|---|---|"]
        for recipe in recipes:
            model = f"<br>`{recipe['model']}`" if recipe.get("model") else ""
            summary = commands.cell(" ".join(recipe["summary"].split()))
            lines.append(f"| `{recipe['name'].partition('/')[2]}`{model} | {summary} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


PAGES = {
    "commands.md": lambda program: commands.page(program).replace("\n\n", f"\n{NOTE}\n", 1),
    "keys.json": lambda program: keys_file(keys.find(program), read_meanings(), tasks_of_families(program)),
    "keys.md": lambda program: keys_page(keys.find(program), read_meanings()),
    "recipes.md": recipes_page,
}
