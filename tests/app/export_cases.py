"""The cases of the export matrix: small models of each family with their plug-ins, their data, and the inputs that they are given."""
import dataclasses
import itertools
import pathlib
import random

import image_files
import runs
from language_test import text
from text_models_test import LANGUAGE
from translate_test import RECIPE as TRANSLATION
from translate_test import pair, write_pairs

TRAINING = """[train]
epochs = 1000
limit = "40 steps"
batch_size = 16
log_every = "40 steps"
evaluate_every = "40 steps"
[optimizer]
lr = 0.01
[schedule]
kind = "constant"
"""
IMAGES = """[data]
kind = "cifar10"
root = "cifar"
workers = 0
"""
VIT = IMAGES + """[model]
name = "vit_tiny_patch16_224"
image_size = 32
patch_size = 8
embed_dim = 16
depth = 2
num_heads = 2
""" + TRAINING
PVT = IMAGES + "[model]\nname = \"pvt_tiny\"\nimage_size = 32\n" + runs.PYRAMID + TRAINING
PVT_V2 = PVT.replace("pvt_tiny", "pvt_v2_b2_li")
T2T = IMAGES + """[model]
name = "t2t_vit_14"
image_size = 32
embed_dim = 16
depth = 1
num_heads = 2
mlp_ratio = 1
token_dim = 8
""" + TRAINING
SWIN = IMAGES + """[model]
name = "swin_tiny_patch4_window7_224"
image_size = 32
embed_dim = 8
depths = [1, 2, 1, 1]
num_heads = [1, 2, 2, 4]
window_size = 4
mlp_ratio = 1
""" + TRAINING
LONGEST = 61  # tokens; no multiple of a block, a chunk or a window
ENCODER = """embed_dim = 16
depth = 2
num_heads = 2
mlp_dim = 16
""" + TRAINING


def sequences(kind, root, model):
    return f"""[task]
kind = "sequence_classification"
[data]
kind = "{kind}"
root = "{root}"
max_length = {LONGEST}
workers = 0
[model]
name = "{model}"
""" + ENCODER


def detector(name, pyramid, tables):
    return runs.detector_recipe(name, 64, tables, pyramid) + TRAINING.replace("40 steps", "6 steps").replace("16", "4")


REGIONS = runs.FEW_REGIONS + """[model.test]
score_thr = 0.0
"""

# Of each family: its recipe, and what its inputs are.
FAMILIES = {
    "vit": (VIT, "images"),
    "deit": (VIT.replace("vit_tiny_patch16_224", "deit_tiny_distilled_patch16_224"), "images"),
    "pvt": (PVT, "images"),
    "pvt_v2": (PVT_V2, "images"),
    "t2t": (T2T, "images"),
    "t2t_transformer": (T2T.replace("t2t_vit_14", "t2t_vit_t_14"), "images"),
    "swin": (SWIN, "images"),
    "texts": (sequences("imdb", "reviews", "lra_small"), "texts"),
    "matching": (sequences("matching", "matching", "lra_matching"), "pairs"),
    "listops": (sequences("listops", "listops", "lra_listops"), "expressions"),
    "pixels": (sequences("cifar10_pixels", "cifar", "lra_image").replace(f"max_length = {LONGEST}", "max_length = 1024")
               .replace("depth = 2", "depth = 1").replace("40 steps", "12 steps").replace("batch_size = 16", "batch_size = 8"), "images"),
    "retinanet": (detector("retinanet_pvt_tiny_fpn", runs.PYRAMID,
                           "[model.bbox_head]\nfeat_channels = 8\nstacked_convs = 1\n[model.test]\nscore_thr = 0.0\n"), "scenes"),
    "mask_rcnn": (detector("mask_rcnn_pvt_tiny_fpn", runs.PYRAMID, REGIONS + "[model.roi_head.mask_head]\nconv_out_channels = 8\n"),
                  "scenes"),
    "faster_rcnn": (detector("faster_rcnn_swin_t_fpn",
                             "embed_dim = 8\ndepths = [1, 1, 1, 1]\nnum_heads = [1, 2, 2, 4]\nwindow_size = 4\nmlp_ratio = 1\n",
                             REGIONS), "scenes"),
    "language": (LANGUAGE.replace("threads = 1\n", "").replace("6 steps", "40 steps") + "[optimizer]\nlr = 0.02\n", "prompts"),
    "translation": (TRANSLATION.replace("threads = 1\n", "limit = \"40 steps\"\n"), "sentences"),
}
PADDED = ("texts", "pairs", "expressions")  # inputs that an export fills up to one length
NO_GRAPH = ("scenes", "prompts", "sentences")  # inputs of models that only LibTorch runs

ATTENTIONS = {
    "softmax": ("kind=softmax",),
    "elu": ("kind=elu",),
    "performer": ("kind=performer",),
    "performer_relu": ("kind=performer", "features=relu"),
    "bigbird": ("kind=bigbird", "block_size=4", "random_blocks=1"),
    "reformer": ("kind=reformer", "chunk_size=8", "buckets=4"),
    "reformer_2_rounds": ("kind=reformer", "chunk_size=8", "buckets=4", "rounds=2", "score=scaled"),
    "reformer_of_the_batch": ("kind=reformer", "chunk_size=8", "buckets=4", "pattern_length=batch"),
    "local": ("kind=local", "window=4"),
    "local_of_the_batch": ("kind=local", "window=4", "pattern_length=batch"),
    "linear": ("kind=kernel", "form=linear"),
    "orthogonal_linear": ("kind=kernel", "form=orthogonal_linear"),
    "glu_1": ("kind=kernel", "form=glu", "layers=1"),
    "glu_2": ("kind=kernel", "form=glu", "layers=2"),
    "oglu_2": ("kind=kernel", "form=oglu", "layers=2"),
    "aoglu_3": ("kind=kernel", "form=aoglu", "layers=3"),
    "feed_forward": ("kind=kernel", "form=feed_forward", "layers=2", "norm=layer"),
}
# Attention functions that a family's recipes refuse: Swin's windows have a bias, and Transformer-XL attends to relative positions.
LEFT_OUT = {family: set(ATTENTIONS) - {"softmax"} for family in ("swin", "faster_rcnn", "language")}
CACHES = {
    "none": (),
    "grc": ("kind=grc",),
    "grc_per_sample": ("kind=grc", "attend=per_sample", "inference=per_sample"),
    "grc_official": ("kind=grc", "variant=official"),
    "fifo": ("kind=fifo",),
    "concatenated": ("kind=concatenated",),
}
NORMS = {
    "layer": ("kind=layer",),
    "rms": ("kind=rms",),
    "batch": ("kind=batch",),
    "un": ("kind=un", "warmup=4"),
    "mabn": ("kind=mabn", "warmup=4"),
    "pn": ("kind=pn", "warmup=4"),
    "pn_star": ("kind=pn", "warmup=4", "group_scaling=false"),
    "group": ("kind=group", "groups=4"),
    "instance": ("kind=instance",),
    "none": ("kind=none",),
}
# Norms that look at later tokens: models that write token by token refuse them.
NOT_CAUSAL = {family: {"group", "instance"} for family in ("language", "translation")}
TARGETS = (("openvino", "f32"), ("openvino", "bf16"), ("openvino", "int8"), ("onnx", "f32"), ("torch", "f32"), ("torch", "bf16"))


@dataclasses.dataclass(frozen=True)
class Case:
    """A model to train, and what to export it to."""
    family: str
    attention: str = ""  # the model's own
    cache: str = ""
    norm: str = ""
    targets: tuple = TARGETS

    @property
    def name(self):
        return "-".join(word for word in (self.family, self.attention, self.cache and f"cache_{self.cache}",
                                          self.norm and f"norm_{self.norm}") if word)

    @property
    def recipe(self):
        return FAMILIES[self.family][0]

    @property
    def inputs(self):
        return FAMILIES[self.family][1]

    @property
    def settings(self):
        tables = (("attention", ATTENTIONS.get(self.attention, ())), ("cache", CACHES.get(self.cache, ())),
                  ("norm", NORMS.get(self.norm, ())))
        settings = [f"model.{table}.{key}" for table, keys in tables for key in keys]
        if self.cache == "grc_official" and (self.family == "pixels" or self.inputs not in ("images", "scenes")):
            settings.append("model.cache.positional_convolution=false")  # of a grid
        if self.norm == "group" and self.family.startswith("t2t"):
            settings.append("model.norm.groups=1")  # the first split has 147 channels, which 4 does not divide
        if self.cache not in ("", "none") and self.family == "language":
            settings.append("model.memory_length=0")  # the cache replaces it
        return [word for setting in settings for word in ("--set", setting)]

    @property
    def chooses_keys(self):
        """A hash of values chooses them: if tokens are equal, as in a picture of one colour, rounding decides."""
        return self.attention.startswith("reformer")

    def refusal(self, engine, precision):
        """The message of `export`; nothing if it writes the folder."""
        if self.chooses_keys and precision == "bf16":
            return "chooses keys by the values of tokens"
        if self.inputs in NO_GRAPH and engine != "torch":
            return f"cannot be exported for {engine}: its model is not a fixed graph"
        # The rule of version 0.1.0: the answer to a text is another one if padding follows it.
        places = self.cache not in ("", "none")
        if self.inputs in PADDED and engine != "torch" and (self.attention == "reformer_of_the_batch" or
                                                            self.attention == "local_of_the_batch" and places):
            return "changes if padding follows"
        return ""

    def takes_file(self, name):
        """All, but with instance norm no picture of one colour: before positions are added, all its tokens are equal, so the norm divides
        rounding errors by rounding errors."""
        return self.norm != "instance" or pathlib.PurePath(name).name not in image_files.OF_ONE_COLOUR


def takes(family, attention, cache):
    """Whether recipes of a family take a cache with an attention function."""
    of_pictures = FAMILIES[family][1] in ("images", "scenes") and family != "pixels"
    return cache != "concatenated" or of_pictures and attention in ("", "softmax")


def trains(family, cache, norm):
    """Whether a model can be trained and answers differently to different inputs. Instance norm needs two tokens, and the last stage of
    these pyramids has one; if the tokens of a text are averaged after it, each mean is the norm's bias. Batch norm needs two tokens of a
    batch, and a cache that is shared by the batch has one in the last stage of PVT."""
    if norm == "instance":
        return family not in ("pvt", "pvt_v2", "swin", "texts")
    return (family, cache, norm) != ("pvt", "grc", "batch")


def whole_matrix():
    """Each attention function and each norm of each family: with each cache for one family of images and one of texts, else with the caches
    by turns."""
    cases = []
    for family in FAMILIES:
        plug_ins = [(attention, "") for attention in ATTENTIONS if attention not in LEFT_OUT.get(family, ())]
        plug_ins += [("", norm) for norm in NORMS if norm not in NOT_CAUSAL.get(family, ())]
        turns = itertools.cycle(CACHES)
        for attention, norm in plug_ins:
            caches = CACHES if family in ("vit", "texts") else (next(turns),)
            cases += [Case(family, attention, cache, norm) for cache in caches
                      if takes(family, attention, cache) and trains(family, cache, norm)]
    return cases


def sample():
    """Each kind of model once, each attention function, cache and norm once or more, each target twice or more."""
    ov, narrow, small, onnx, torch, narrow_torch = TARGETS
    return [
        Case("vit", "bigbird", "grc", "un", (ov, small, torch)),
        Case("deit", "glu_2", "fifo", "batch", (narrow_torch,)),
        Case("pvt", "performer", "grc_per_sample", "rms", (onnx,)),
        Case("t2t", "", "grc_official", "mabn", (narrow,)),
        Case("swin", "", "grc", "pn_star", (ov,)),
        Case("vit", "", "concatenated", "layer", (ov, small, onnx)),
        Case("pvt_v2", "", "concatenated", "un", (onnx, torch)),
        Case("swin", "", "concatenated", "batch", (narrow, narrow_torch)),
        Case("texts", "reformer", "grc", "layer", (ov, small, onnx, narrow_torch)),
        Case("texts", "local_of_the_batch", "fifo", "", (ov, torch)),
        Case("matching", "local", "fifo", "pn", (ov, narrow)),
        Case("listops", "elu", "", "none", (narrow,)),
        Case("retinanet", "", "grc", "un", (torch, ov)),
        Case("language", "", "grc", "", (narrow_torch,)),
        Case("translation", "", "fifo", "batch", (torch, onnx)),
    ]


def words_of(label, number, draw):
    """A review of a label: any length, and words that reveal the label."""
    told = (("bad", "dull"), ("fine", "good"))[label]
    return " ".join(draw.choice(told) if draw.random() < 0.6 else f"w{draw.randrange(9)}" for _ in range(1 + number % 14))


def write_cifar(folder):
    """Each class has a colour and a direction of its stripes."""
    folder.mkdir()
    draw = random.Random(1)
    for name, count in [(f"data_batch_{number}", 20) for number in range(1, 6)] + [("test_batch", 30)]:
        records = b""
        for record in range(count):
            label = record % 10
            means = (label % 3, label // 3 % 3, label // 2 % 3)
            records += bytes([label]) + bytes(
                min(255, 40 + 70 * means[channel] + (40 if (x if label % 2 else y) // 4 % 2 else 0) + draw.randrange(20))
                for channel in range(3) for y in range(32) for x in range(32))
        (folder / f"{name}.bin").write_bytes(records)


def write_data(folder, cachet):
    """The data of all families, and the files that are given to them; `cachet` runs the command."""
    draw = random.Random(2)
    write_cifar(folder / "cifar")
    for split, count in (("train", 40), ("test", 24)):
        for label, name in enumerate(("neg", "pos")):
            (folder / "reviews" / split / name).mkdir(parents=True)
            for number in range(count):
                (folder / f"reviews/{split}/{name}/{number}_5.txt").write_text(words_of(label, number, draw))
    for name in ("matching", "listops", "corpus", "pairs"):
        (folder / name).mkdir()
    for split in ("train", "eval", "test"):
        rows = []
        for number in range(64 if split == "train" else 32):
            first, second = number % 2, number // 2 % 2
            rows.append(f"{int(first == second)}\tone\tother\t{words_of(first, number, draw)}\t{words_of(second, 3 * number, draw)}\n")
        (folder / f"matching/new_aan_pairs.{split}.tsv").write_text("".join(rows))
    for split in ("train", "val", "test"):
        rows = [f"{expression(number % 10, number // 10)}\t{number % 10}\n" for number in range(80 if split == "train" else 40)]
        (folder / f"listops/basic_{split}.tsv").write_text("Source\tTarget\n" + "".join(rows))
    for name, lines, first in (("train", 120, 0), ("valid", 20, 5), ("test", 21, 9)):
        (folder / f"corpus/{name}.txt").write_text(text(lines, first))
    write_pairs(folder / "pairs")
    cachet(*runs.shapes_command(24, 6, 64))
    cachet("data", "words", "corpus", "-o", "corpus/words.txt")
    return {
        "images": image_files.write_images_of_each_kind(folder / "given"),
        "scenes": [f"shapes/images/val/{path.name}" for path in sorted((folder / "shapes/images/val").iterdir())],
        "texts": texts(),
        "pairs": [f"{one}\t{two}" for one, two in itertools.pairwise(texts()[::2])] + ["a\tb", "a\t" + "good " * 30, "bad " * 30 + "\tb"],
        "expressions": [expression(value, depth) for value, depth in ((3, 0), (0, 1), (9, 1), (4, 2), (7, 3), (5, 4), (1, 6), (8, 9))] +
                       ["7", "[MIN 6 7 ]", "[MED 1 5 9 ]"],
        "prompts": ["word1", "word2 word3", "word4 word9 word0 word11 word20", "word5 " * 21],
        "sentences": [pair(number)[0] for number in range(180, 192)] + ["a3", "", "a3 " * 40],
    }


def expression(value, depth):
    """An expression of that value."""
    if depth == 0:
        return f"( ( ( [MAX {value} ) {value // 2} ) ] )"
    return f"( ( ( [MIN {expression(value, depth - 1)} ) {min(9, value + 1)} ) ] )"


def texts():
    """Of one byte, of two, of odd lengths, around those of blocks and chunks, of the maximum and beyond; of bytes that are not letters."""
    draw = random.Random(3)
    lengths = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 31, 32, 33, 41, 47, 55, LONGEST - 2, LONGEST - 1, LONGEST, LONGEST + 1, 200)
    made = []
    for place, length in enumerate(lengths):
        words = " ".join(draw.choice(("bad", "dull") if place % 2 else ("fine", "good")) for _ in range(1 + length // 3))
        made.append((words[:length - 1] or "") + "bf"[place % 2])
    return made + ["ümlaut – naïve", "\x01\x02", "  two  blanks  "]
