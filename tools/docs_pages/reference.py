"""The pages of docs/reference, which tools/docs-reference makes of the program."""

import json
import pathlib
import re
import tomllib

from . import commands, keys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEANINGS = ROOT / "cachet/tasks/key_meanings.toml"
LINK = re.compile(r"\[[^\]]*\]\(\.\./([^)#]+)[^)]*\)")  # to another page of the site
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


def key_cell(key):
    """Name, type and default under each other: a narrow screen has room for two columns."""
    kind = ", ".join(f'`"{word}"`' for word in key.words) if key.type == "one of" else key.type or "text"
    default = f"<br>default: `{key.default}`" if key.default not in (None, '""') else ""
    return f"`{key.name}`<br>{kind}{default}"


def key_row(key, meanings, families):
    text = meaning_of(key.path, meanings) or {}
    said = text.get("meaning", "")
    if text.get("change"):
        said += f" *{text['change']}*"
    contexts = [each.replace(f"{key.table}.", "") for each in text.get("read_with", key.contexts)]
    if contexts:
        said += " Read with " + ", ".join(f"`{each}`" for each in contexts) + "."
    if len(key.families) < len(families) and key.table not in keys.ALIKE:
        said += " For: " + ", ".join(key.families) + "."
    return "| " + " | ".join(text.replace("|", "\\|") for text in (key_cell(key), said.strip())) + " |"


def tasks_of_families(program):
    """Family -> kind of its task."""
    kinds = {recipe["name"]: recipe["task"] for recipe in program.json("recipes")["recipes"]}
    return {family: kinds[recipe] for recipe, family in keys.FAMILIES.items()}


def keys_file(found, meanings, kinds):
    """The keys as JSON, one in each line, which `cachet keys` reads. A key without tasks belongs to all of them. `kinds`: family -> task."""
    lines = []
    for key in found.values():
        text = meaning_of(key.path, meanings) or {}
        tasks = [] if key.table in keys.ALIKE else list(dict.fromkeys(kinds[family] for family in key.families))
        entry = {"key": key.path, "type": key.type or "text", "values": key.words, "default": key.default or "",
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
             "This page lists every key of a recipe with its type, its default and its meaning, and in italics when to change it. "
             "`cachet keys KEY` prints the same, and `cachet keys --recipe RECIPE` the values of one recipe. If this page shows no default for a key, each recipe sets the key, or the "
             "default is empty. If a default depends on the model or the task, the default is that of one of them. "
             "\"For:\" lists the models and tasks that have the key; without it, all have it. "
             "\"Read with\" names the choice that the key needs.", ""]
    for table in sorted(tables, key=lambda name: (order.index(name.partition(".")[0]), name)):
        lines += [f"## `[{table}]`", "", "| key, type, default | meaning |", "|---|---|"]
        lines += [key_row(key, meanings, families) for key in tables[table]] + [""]
    return "\n".join(lines).rstrip() + "\n"


def recipes_page(program):
    """The recipes, a table for each folder."""
    folders = {}
    for recipe in program.json("recipes")["recipes"]:
        folders.setdefault(recipe["name"].partition("/")[0], []).append(recipe)
    lines = ["# List of recipes", NOTE,
             "This page lists the recipes that come with Cachet. `cachet train NAME` trains one, and `cachet recipes cp NAME my.toml` "
             "copies one to edit it. [Recipes](../recipes.md) explains the format, and [the papers](../papers.md) has the rows of the "
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
