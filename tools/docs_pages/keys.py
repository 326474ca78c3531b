"""The keys of recipes, from the output of the command: there is no second list of keys.

`cachet train RECIPE --print` lists each key that the recipe's kinds have, with its default. If a key gets a list of an empty list,
which no reader accepts, the message lists what the reader accepts. Each choice gets each of its words, and the keys that appear only then
belong to this word.
"""

import concurrent.futures
import dataclasses
import functools
import os
import pathlib
import re
import tempfile

NOT_A_VALUE = "[[]]"
# A recipe of each family of tasks and models, and what the page calls the family. The recipes are read; nothing is trained.
FAMILIES = {
    "vision/demo_plain": "ViT", "vision/evidence_pvt": "PVT", "imagenet/imagenet_swin_tiny": "Swin",
    "imagenet/imagenet_t2t_vit_14": "T2T-ViT", "lra/lra_small_text": "sequences", "lra/lra_small_matching": "pairs of sequences",
    "lra/lra_small_listops": "sequences", "lra/lra_text_subwords": "sequences", "language/wikitext2_plain": "causal transformer",
    "language/wikitext2_kernel": "causal transformer",
    "language/wikitext2_transformer_xl": "Transformer-XL", "language/wikitext2_memory_tokens": "Transformer-XL",
    "translation/multi30k_de_en": "translation", "detection/shapes_retinanet": "RetinaNet",
    "detection/shapes_mask_rcnn": "Mask R-CNN", "detection/coco_faster_rcnn_swin_tiny": "Faster R-CNN"}
# The task's kind is another recipe's, and a table [paper] changes nothing of a run.
LEFT_OUT = re.compile(r"task\.kind$|paper\.")
# Tables whose words mean the same in every family: those of the first one are enough.
ALIKE = ("train", "optimizer", "schedule")
# Keys that readers ask for only if they are written, so that nothing lists them.
ASKED_FOR = ("model.cache.length", "data.other_categories", "data.stored_size", "data.test_folder", "data.test_shards",
             "data.test_annotations", "data.test_images", "data.validation_fraction", "data.class_names", "task.held_out", "train.limit", "train.patience",
             "model.bbox_head.anchors.octave_base_scale", "model.bbox_head.anchors.scales_per_octave",
             "model.rpn_head.anchors.octave_base_scale", "model.rpn_head.anchors.scales_per_octave")
# What a word needs in addition, so that all of its keys are read.
NEEDS = {'schedule.kind="one_cycle"': ('schedule.warmup="0 steps"',), 'data.kind="texts"': ('data.class_names=["a", "b"]',)}
# A recipe that has a vocabulary of both languages. Keys of a language are refused with it, and --set removes no key.
SHARED_VOCABULARY = "translation/multi30k_de_en"


@dataclasses.dataclass
class Key:
    path: str
    default: str | None = None  # as TOML; None if each recipe writes the key
    type: str = ""
    words: list = dataclasses.field(default_factory=list)
    contexts: list = dataclasses.field(default_factory=list)  # "model.cache.kind = "grc"": the words with which the key is read
    families: list = dataclasses.field(default_factory=list)
    defaults: dict = dataclasses.field(default_factory=dict)  # of each family

    @property
    def table(self):
        return self.path.rpartition(".")[0]

    @property
    def name(self):
        return self.path.rpartition(".")[2]


LISTED = re.compile(r"^(\w+) = (.*)  # (\S.*)$")


def listed(text):
    """Path -> (value, origin) of what --print lists, in its order."""
    keys, table = {}, ""
    for line in text.splitlines():
        if line.startswith("["):
            table = line.strip("[]") + "."
        elif match := LISTED.match(line):
            keys[table + match[1]] = (match[2], match[3])
    return {path: value for path, value in keys.items() if not LEFT_OUT.match(path)}


SAID = re.compile(r"^--set: ([\w.]+): (.*), not ")
PLAIN = {"must be true or false": "boolean", "must be an integer, or a fraction": "integer or fraction",
         "must be an integer": "integer", "must be a number": "number",
         "must be a text": "text", "item 1 must be an integer": "integers", "item 1 must be a number": "numbers",
         "item 1 must be a text": "texts"}


def types(complaint):
    """Path -> (type, words of a choice), from the messages about NOT_A_VALUE."""
    found = {}
    for line in complaint.splitlines():
        if match := SAID.match(line):
            said = match[2]
            words = re.findall(r'"([^"]*)"', said)
            kind = next((PLAIN[begin] for begin in PLAIN if said.startswith(begin)), "one of" if words else "")
            if kind:
                found[match[1]] = (kind, words if kind == "one of" else [])
    return found


def settings_of(settings):
    return [part for setting in settings for part in ("--set", setting)]


def ask(program, recipe, settings, known):
    """The keys with these settings, and the types of those that are not in `known`; None if the readers refuse the settings."""
    status, output, _ = program.run("train", recipe, "--print", *settings_of(settings))
    if status:
        return None
    keys = listed(output)
    fixed = {setting.partition("=")[0] for setting in settings}
    wanted = [path for path in (*keys, *ASKED_FOR) if path not in fixed and path not in known]
    found = {}
    # A wrong name of a model hides the other keys of the model, so it is asked for alone. A kind that is not read hides the keys of the kind,
    # so what is left is asked for once more, without those that were answered.
    names = [path for path in wanted if path.endswith(".name")]
    others = [path for path in wanted if path not in names]
    for paths in (names, others, others):
        probes = [f"{path}={NOT_A_VALUE}" for path in paths if path not in found]
        if probes:
            found.update(types(program.run("train", recipe, "--print", *settings_of([*settings, *probes]))[2]))
    for path in ASKED_FOR:
        if path in found and path not in keys:
            keys[path] = ("", "not listed")
    return keys, found


def of_family(program, recipe):
    """All keys of a family: those of its recipe, and those that appear with a word of a choice."""
    first = ask(program, recipe, [], {})
    if first is None:
        raise SystemExit(f"docs-reference: cachet train {recipe} --print failed; it has to be a recipe of this version")
    found = {}

    def add(keys, kinds, context):
        for path, (value, origin) in keys.items():
            key = found.setdefault(path, Key(path, families=[FAMILIES[recipe]]))
            if context and (key.contexts or not key.type):
                key.contexts.append(context)
            if key.default is None and origin == "default":
                key.default = key.defaults[FAMILIES[recipe]] = value
            kind, words = kinds.get(path, ("", []))
            key.type, key.words = key.type or kind, key.words or words

    add(*first, "")
    # With a word the recipe's own kind is one of several with which a key is read.
    base = {path: f"{path} = {value}" for path, (value, _) in first[0].items() if path.endswith(".kind")}
    todo = [((), first)]
    while todo:
        settings, (keys, kinds) = todo.pop(0)
        chosen = [setting.partition("=")[0] for setting in settings]
        for path, (kind, words) in kinds.items():
            if kind not in ("one of", "boolean") or path in chosen or len(chosen) >= 2 or path not in keys:
                continue
            if list(FAMILIES).index(recipe) and path.partition(".")[0] in ALIKE:
                continue
            if chosen and path.rpartition(".")[0] != chosen[-1].rpartition(".")[0]:
                continue  # words of other tables are tried by themselves
            for word in [f'"{word}"' for word in words] if kind == "one of" else ["true", "false"]:
                if keys[path][0] == word:
                    continue
                setting = f"{path}={word}"
                answer = ask(program, recipe, (*settings, setting, *NEEDS.get(setting, ())), found)
                if answer is None:
                    continue
                new = {each: value for each, value in answer[0].items() if each not in keys}
                if new:
                    add(new, answer[1], f"{path} = {word}")
                    todo.append(((*settings, setting), answer))
    for key in found.values():
        own = base.get(f"{key.table}.kind")
        if key.path in first[0] and own and not key.contexts and key.name != "kind":
            key.contexts = [f"? {own}"]
    return found


def merged(families):
    """Key by path. A recipe's own kind counts as a context only for keys that another kind lacks."""
    keys = {}
    for found in families:
        for path, key in found.items():
            known = keys.setdefault(path, key)
            if known is not key:
                known.contexts = list(dict.fromkeys(known.contexts + key.contexts))
                known.families = list(dict.fromkeys(known.families + key.families))
                known.defaults = key.defaults | known.defaults
                known.default = known.default if known.default is not None else key.default
                known.words = list(dict.fromkeys(known.words + key.words))
                known.type = known.type or key.type
    for key in keys.values():
        sure = [each for each in key.contexts if not each.startswith("? ")]
        key.contexts = sorted({each.removeprefix("? ") for each in key.contexts}) if sure else []
    return keys


def of_languages(program):
    """The keys of a vocabulary for each language, which the recipes do not have."""
    text = program.text("train", SHARED_VOCABULARY, "--print")
    text = re.sub(r"^vocabulary\w* = .*\n", "", text, flags=re.MULTILINE).replace("shared_vocabulary = true", "shared_vocabulary = false")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "languages.toml"
        path.write_text(text, encoding="utf-8")
        keys, kinds = ask(program, str(path), [], {})
    family, context = FAMILIES[SHARED_VOCABULARY], "data.shared_vocabulary = false"
    return {path: Key(path, value, *kinds.get(path, ("", [])), [context], [family], {family: value})
            for path, (value, _) in keys.items() if re.match(r"data\.(source|target)_vocabulary", path)}


@functools.cache
def find(program):
    """Key by path, in the order of the families. The calls take minutes, so that the pages share them."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return merged([*pool.map(lambda recipe: of_family(program, recipe), FAMILIES), of_languages(program)])
