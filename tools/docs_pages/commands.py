"""The page of commands: what `cachet COMMAND --help` prints, as Markdown."""

import dataclasses
import re

COLUMN = 30  # where the descriptions of the help begin


@dataclasses.dataclass
class Help:
    summary: str = ""
    usage: str = ""
    sections: dict = dataclasses.field(default_factory=dict)  # heading -> [(what is written, what it does)], or lines of examples


def parse(text):
    """A help text by its sections."""
    parsed, rows, summary = Help(), None, []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith("Usage: "):
            parsed.usage = line.removeprefix("Usage: ")
        elif line and not line.startswith(" ") and line.endswith(":") and parsed.usage:
            rows = parsed.sections.setdefault(line[:-1], [])
        elif rows is None:
            if line and not parsed.usage:
                summary.append(line)
        elif not line.startswith("  "):
            continue
        elif not line[:COLUMN].strip():  # the description of a name that is too long for its column
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {line.strip()}".strip())
        elif len(line) > COLUMN and line[COLUMN - 1] == " " and not below.startswith(" " * COLUMN):
            rows.append((line[:COLUMN].strip(), line[COLUMN:].strip()))
        else:
            rows.append((line.strip(), ""))
    parsed.summary = " ".join(summary)
    return parsed


NOT_COMMANDS = ("Positionals", "Options", "Examples")


def subcommands(parsed):
    """Group -> names."""
    return {heading: [name for name, _ in rows] for heading, rows in parsed.sections.items() if heading not in NOT_COMMANDS}


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")


def code(text):
    return f"`{text}`".replace("|", "\\|")


RULE = re.compile(r" (REQUIRED|(Needs|Excludes): ((?:--?[\w-]+ ?)+))")


def rule(match):
    """A match of RULE as a sentence."""
    if match[1] == "REQUIRED":
        return "Required."
    options = [f"`{option}`" for option in match[3].split()]
    return f"Needs {' and '.join(options)}." if match[2] == "Needs" else f"Not with {' or '.join(options)}."


def row(name, does):
    """A row of a table of options. What CLI11 writes after a name, REQUIRED and the like, becomes a sentence."""
    rules = [rule(match) for match in RULE.finditer(name)]
    name = re.sub(r"( \.\.\.)+$", " ...", RULE.sub("", name))
    name = re.sub(r"^([A-Z]+) (TEXT\b|:\S+)", r"\1", name)  # a positional has a name and not a type
    does = cell(does) + ("" if does.endswith(".") or not rules else ".")
    return f"| {code(name)} | {' '.join([does, *rules])} |"


def section(words, parsed, level):
    """A command's part of the page."""
    lines = [f"{'#' * level} cachet {' '.join(words)}", "", cell(parsed.summary) + ".", "", "```text", parsed.usage, "```", ""]
    for heading, rows in parsed.sections.items():
        if heading == "Examples":
            lines += ["Examples:", "", "```sh", *(" ".join(filter(None, each)) for each in rows), "```", ""]
        elif heading in ("Positionals", "Options"):
            rows = [each for each in rows if not each[0].startswith("-h,")]
            if rows:
                lines += [f"| {heading.lower().rstrip('s')} | what it does |", "|---|---|"]
                lines += [row(name, does) for name, does in rows] + [""]
        else:
            lines += ["| command | what it does |", "|---|---|"]
            lines += [f"| [`{name}`](#cachet-{'-'.join([*words, name])}) | {cell(does)} |" for name, does in rows]
            lines += [""]
    return lines


def page(program):
    top = parse(program.text("--help"))
    lines = ["# Commands", "",
             "This page lists every command of `cachet` with its options: it is what `cachet COMMAND --help` prints. Every command has "
             "`-h` and `--help`. [Output of commands](output.md) describes the options that many commands have.", ""]
    for heading, names in subcommands(top).items():
        lines += [f"**{heading}:** " + ", ".join(f"[`{name}`](#cachet-{name})" for name in names), ""]
    for names in subcommands(top).values():
        for name in names:
            parsed = parse(program.text(name, "--help"))
            lines += section([name], parsed, 2)
            for below in subcommands(parsed).values():
                for each in below:
                    lines += section([name, each], parse(program.text(name, each, "--help")), 3)
    return "\n".join(lines).rstrip() + "\n"
