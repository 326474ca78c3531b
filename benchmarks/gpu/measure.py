#!/usr/bin/env python3
"""Compares captured steps of Cachet on a GPU with PyTorch on the same GPU, and writes a JSON line for each comparison when it ends.

usage: measure.py ROW... --programs FOLDER -o FILE [--rounds N] [--limit SECONDS] [--models GLOB] [--compile MODES] [--trial]

ROW is one of models_128, models_32, cache, published_cache, un_training, un_folded and loader, or `first` for the first four. FOLDER
has the programs classifier_steps_benchmark and cachet (`benchmarks/gpu/pack.py` makes it). GRC_SRC and UN_SRC name checkouts of the
published codes, as in benchmarks/whole_models.py. --limit ends the measurements after this number of seconds. --compile lists modes of
torch.compile (reduce-overhead, max-autotune); `none` leaves them out. --trial tries everything on the CPU in small batches.

Before a comparison is timed, two checks are made, and a line whose checks fail is void and has the reason:
- Results. The reference is the other program in float32. On the same weights and images, the relative distance of our logits from
  the reference's, and that of all gradients together, is at most FACTOR times the distance of the other program in the precision of
  the comparison (programs round other intermediate values to bfloat16), or at most FLOOR (convolutions in TF32 have ten bits). If
  Cachet is compared with itself, the reference is its own uncaptured step.
- Graph. LibTorch's profiler counts one graph launch for each step of ours, and at most MAX_KERNELS other kernel launches (LibTorch
  sets the states of random generators before a replay).
A line has the median and the quartiles of the ratio of times, other ÷ ours: above 1, ours is faster.
"""
import argparse
import datetime
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers
from loader_row import loader_row
from measurements import pairs_of, ratio_columns
from safetensors_files import read_safetensors, write_safetensors
from served_program import ServedProgram

FACTOR, FLOOR = 3, 2e-3
MAX_KERNELS = 8
WARM_STEPS = 4  # before the compared steps, in classifier_steps_benchmark
STEPS = 3
FIRST = ("models_128", "models_32", "cache", "published_cache")


class Void(Exception):
    """The reason why a comparison does not count."""


class Ours(ServedProgram):
    """Steps of ours, in a process of their own."""

    def __init__(self, setting, model, mode, precision, batch, graph=True):
        words = [mode, precision, str(batch), setting.device.type, "on" if graph else "off", *model.split()]
        try:
            super().__init__([str(setting.programs / "classifier_steps_benchmark"), *words])
        except SystemExit as error:
            raise Void(str(error)) from error

    def ask(self, line):
        said = super().ask(line).strip()
        if said.startswith("error ") or not said:
            raise Void(f"Cachet: {said.removeprefix('error ') or 'the program ended'}")
        return said

    def fields(self, line):
        words = self.ask(line).split()
        return {name: float(value) for name, value in zip(words[::2], words[1::2])}

    def time(self, seconds):
        return float(self.ask(f"time {seconds}"))


def norm_of_difference(ours, reference):
    """‖ours − reference‖ / ‖reference‖ of the logits, and of all gradients together."""
    def distance(names):
        apart = sum((ours[name].double() - reference[name].double()).square().sum().item() for name in names)
        return (apart / max(sum(reference[name].double().square().sum().item() for name in names), 1e-300)) ** 0.5
    gradients = [name for name in reference if name != "logits"]
    return {"logits": distance(["logits"]), "gradients": distance(gradients) if gradients else 0.0}


class Setting:
    """Of a whole call: where it measures and what it writes."""

    def __init__(self, options, scratch):
        self.options, self.scratch = options, pathlib.Path(scratch)
        self.programs = options.programs.resolve()
        self.device = torch.device("cpu" if options.trial else "cuda")
        self.end = time.monotonic() + options.limit
        self.voids = 0
        environment = subprocess.run([self.programs / "cachet", "env"], capture_output=True, text=True).stdout.splitlines()
        about = dict(line.split(": ", 1) for line in environment if ": " in line)
        self.facts = {"card": self.card(), "driver": self.driver(), "torch": torch.__version__,
                      **{name: about.get(key, "") for name, key in (("cachet", "cachet"), ("commit", "commit"), ("libtorch", "torch"))}}

    def card(self):
        if self.device.type == "cuda":
            return torch.cuda.get_device_name()
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next((line.split(": ", 1)[1] for line in lines if line.startswith("model name")), "CPU")

    def driver(self):
        if self.device.type == "cpu":
            return ""
        return subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True,
                              text=True).stdout.strip().splitlines()[0]

    def write(self, row):
        """Appends a line as soon as its comparison ends."""
        line = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), **self.facts, **row}
        with self.options.output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.voids += bool(row.get("void"))
        what = ", ".join(str(row[name]) for name in ("row", "model", "mode", "precision", "batch", "other") if name in row)
        print(f"{what}: " + (f"void: {row['void']}" if row.get("void") else f"ratio {row['ratio']} ({row['lower']} to {row['upper']})"
                             if "ratio" in row else f"waited {row['waited']:.3f}"), flush=True)

    def has_time(self, what):
        if time.monotonic() < self.end:
            return True
        print(f"{what}: left out, because the time is over", flush=True)
        return False

    def wants(self, model):
        return fnmatch.fnmatch(model, self.options.models)

    def batch(self, size):
        return 2 if self.options.trial else size

    def compile_modes(self):
        return [] if self.options.compile == "none" else self.options.compile.split(",")


def check_results(row, ours, other):
    """Puts the distances into the row, and ends the comparison if ours are too large."""
    row["distances"] = {"ours": ours, "other": other, "factor": FACTOR, "floor": FLOOR}
    for what in ("logits", "gradients"):
        bound = max(FACTOR * other[what], FLOOR)
        if not ours[what] <= bound:  # NaN is not
            raise Void(f"the {what} differ by {ours[what]:.2g}, which is above {bound:.2g}")


def check_graph(setting, row, ours):
    found = ours.fields("profile 10")
    row["graph_launches"], row["kernel_launches"], row["busy"] = found["graphs"], found["kernels"], found["busy"]
    if setting.options.trial:
        row["trial"] = "no graph, because this is a trial on the CPU"
    elif found["graphs"] != 1 or found["kernels"] > MAX_KERNELS:
        note = ours.ask("note") if row["graph_launches"] == 0 else ""
        raise Void(f"a step has {found['graphs']:g} graph launches and {found['kernels']:g} kernel launches; {note}".rstrip("; "))


def time_pair(setting, row, ours, other, least):
    """Times in turns. `least`: the ratio that is asked for."""
    seconds = 0.01 if setting.options.trial else 0.3
    own, others = zip(*pairs_of(setting.options.rounds, lambda: ours.time(seconds), lambda: other.time(seconds), warm_up=1))
    row |= {"ours_ms": sorted(own)[len(own) // 2], "other_ms": sorted(others)[len(others) // 2], "rounds": len(own), "at_least": least,
            **ratio_columns(others, own)}


def make_caches(peer, module, images, device):
    """The first forward pass makes the published caches."""
    if peer.keeps_state:
        with torch.no_grad():
            module.to(device).train()(images.to(device))


def peer_weights(peer, module, folder):
    """Writes the weights of a peer with the names of its code base."""
    write_safetensors(folder / "weights.safetensors",
                      {peer.rename(name): tensor.cpu() for name, tensor in module.state_dict().items()
                       if tensor.dtype in (torch.float32, torch.int64, torch.uint8) and name not in peer.computed})


def reference_file(peer, module, found, folder):
    """The results as a file of weights: gradients instead of parameters, so that the map of names converts them."""
    tensors = {peer.rename(name): tensor for name, tensor in found.items()}
    for name, buffer in module.named_buffers():
        tensors.setdefault(peer.rename(name), buffer.cpu())
    write_safetensors(folder / "reference.safetensors", tensors)


def compare_with_peer(setting, row_name, label, model, peer, mode, precision, batch, least):
    """Ours compared with a peer, eager (`least[0]`) and compiled (`least[1]`): a line for each."""
    batch = setting.batch(batch)
    head = {"row": row_name, "model": label, "mode": mode, "precision": precision, "batch": batch}
    what = f"{row_name}, {label}, {mode}"
    if not setting.wants(label) or not setting.has_time(what):
        return
    torch.manual_seed(0)
    folder = pathlib.Path(tempfile.mkdtemp(dir=setting.scratch))
    ours, names = None, ["eager", *setting.compile_modes()]
    try:
        module = peer.make()
        if module is None:
            raise Void(f"{peer.name} is not here")
        ours = Ours(setting, model, mode, precision, batch)
        ours.ask(f"save {folder}/own.safetensors {folder}/inputs.safetensors")
        inputs = read_safetensors(folder / "inputs.safetensors")
        make_caches(peer, module, inputs["images"], setting.device)
        for name, buffer in module.named_buffers():
            if "cache" in name:
                buffer.zero_()
        peer_weights(peer, module, folder)
        ours.ask(f"load {peer.source} {folder}/weights.safetensors {folder}/inputs.safetensors")
        state = {name: tensor.clone() for name, tensor in module.state_dict().items()}

        def steps(kind, compile_mode=None):
            other = peer.make()
            make_caches(peer, other, inputs["images"], setting.device)
            other.load_state_dict(state)
            return peers.PeerSteps(other, mode, kind, inputs["images"], inputs["labels"], setting.device, compile_mode, peer.mixes_types)

        count = WARM_STEPS + STEPS if peer.keeps_state else 1
        exact = steps("fp32")
        reference = exact.results(count)
        reference_file(peer, exact.model, reference, folder)
        del exact
        common = dict(head)
        own = ours.fields(f"compare {STEPS} {peer.source} {folder}/reference.safetensors")
        check_results(common, {name: own[name] for name in ("logits", "gradients")},
                      norm_of_difference(steps(precision).results(count), reference))
        check_graph(setting, common, ours)
        for name in names:
            row = {**common, "other": f"{peer.name}, " + ("eager" if name == "eager" else f"torch.compile {name}")}
            if not setting.has_time(f"{what}, {row['other']}"):
                continue
            try:
                other = steps(precision, None if name == "eager" else name)
                for _ in range(3):
                    other.step()
                time_pair(setting, row, ours, other, least[0] if name == "eager" else least[1])
            except RuntimeError as error:
                row["void"] = f"{row['other']}: {str(error).splitlines()[0]}"
            setting.write(row)
            torch._dynamo.reset()
    except Void as reason:
        setting.write({**head, "other": peer.name, "void": str(reason)})
    finally:
        if ours:
            ours.close()


def compare_with_own(setting, row_name, label, model, other_label, other_model, modes, precision, batch, least):
    """A model of ours compared with another of ours. `modes`: of both programs. Each is checked with its own uncaptured step."""
    batch = setting.batch(batch)
    row = {"row": row_name, "model": label, "mode": modes[0], "precision": precision, "batch": batch, "other": other_label}
    if not setting.wants(label) or not setting.has_time(f"{row_name}, {label}, {modes[0]}, batch {batch}, {precision}"):
        return
    running = []
    try:
        pair = []
        for settings, mode in ((model, modes[0]), (other_model, modes[1])):
            folder = pathlib.Path(tempfile.mkdtemp(dir=setting.scratch))
            plain = "infer" if mode == "folded" else mode
            for case in ((plain, "fp32", batch, False), (plain, precision, batch, False), (mode, precision, batch)):
                running.append(Ours(setting, settings, *case))
            exact, direct, ours = running[-3:]
            exact.ask(f"save {folder}/weights.safetensors {folder}/inputs.safetensors")
            for each in (direct, ours):
                each.ask(f"load cachet {folder}/weights.safetensors {folder}/inputs.safetensors")
            exact.ask(f"write {STEPS} {folder}/reference.safetensors")
            found = [each.fields(f"compare {STEPS} cachet {folder}/reference.safetensors") for each in (ours, direct)]
            check_results(row, *({name: each[name] for name in ("logits", "gradients")} for each in found))
            check_graph(setting, row, ours)
            pair.append(ours)
            exact.close()
            direct.close()
            running = [each for each in running if each not in (exact, direct)]
        time_pair(setting, row, *pair, least)
    except Void as reason:
        row["void"] = str(reason)
    finally:
        for each in running:
            each.close()
    setting.write(row)


VIT = "name=vit_small_patch16_224"
SMALL_VIT = VIT + " image_size=32 embed_dim=48 depth=2 num_heads=6 classes=10"
CACHE = " cache.kind=grc"
PUBLISHED = CACHE + " cache.variant=official"
UN = " norm.kind=un norm.warmup=0"  # as in the middle of a run
PUBLISHED_UN = UN + " norm.variant=official"
T2T = "name=t2t_vit_14 token_dropout=0"  # draws of two programs differ


def timm_models(setting):
    """label, model of ours, peer"""
    yield "ViT-S", VIT, peers.timm_peer("vit_small_patch16_224")
    yield "Swin-T", "name=swin_tiny_patch4_window7_224", peers.timm_peer("swin_tiny_patch4_window7_224")
    yield "PVT v2 B2", "name=pvt_v2_b2", peers.timm_peer("pvt_v2_b2")
    if setting.options.trial:
        yield "small ViT", SMALL_VIT, peers.pytorch_vit(small=True)


def measure_models(setting, row, batch, least):
    for label, model, peer in timm_models(setting):
        for mode in ("train", "infer"):
            compare_with_peer(setting, row, label, model, peer, mode, "bf16", batch, least)


def cached_models(setting):
    yield "ViT-S", VIT
    yield "PVT-Tiny", "name=pvt_tiny"
    if setting.options.trial:
        yield "small ViT", SMALL_VIT


def measure_cache(setting, row):
    for label, model in cached_models(setting):
        for modes, least in ((("train", "train"), 0.70), (("infer", "infer"), 0.80), (("folded", "infer"), 0.90)):
            # Updated for each image, the cache computes at inference as in training; frozen and folded, it is a constant.
            cached = model + CACHE + (" cache.inference=per_sample" if modes[0] == "infer" else "")
            compare_with_own(setting, row, label, cached, "without a cache", model, modes, "bf16", 128, least)


def measure_published_cache(setting, row):
    for label, model, peer in (("ViT-S", VIT, peers.published_vit()), ("PVT-Tiny", "name=pvt_tiny", peers.published_pvt_tiny())):
        for mode in ("train", "infer"):
            compare_with_peer(setting, row, label, model + PUBLISHED, peer, mode, "bf16", 128, (1.5, 1.0))


def measure_un_training(setting, row):
    for label, model in (("T2T-ViT-14", T2T), *([("small ViT", SMALL_VIT)] if setting.options.trial else [])):
        compare_with_own(setting, row, label, model + UN, "LayerNorm", model, ("train", "train"), "bf16", 128, 0.85)
    compare_with_peer(setting, row, "T2T-ViT-14", T2T + PUBLISHED_UN, peers.published_un(), "train", "bf16", 128, (3.0, 3.0))


def measure_un_folded(setting, row):
    models = [("ViT-S", VIT), ("Swin-T", "name=swin_tiny_patch4_window7_224")]
    for label, model in [*models, *([("small ViT", SMALL_VIT)] if setting.options.trial else [])]:
        for precision in ("fp32", "fp16", "bf16"):
            for batch in sorted({setting.batch(size) for size in (1, 8, 128)}):
                compare_with_own(setting, row, label, model + UN, "LayerNorm", model, ("folded", "folded"), precision, batch, 1.0)


ROWS = {"models_128": lambda setting, row: measure_models(setting, row, 128, (1.05, 0.75)),
        "models_32": lambda setting, row: measure_models(setting, row, 32, (1.5, 1.0)),
        "cache": measure_cache, "published_cache": measure_published_cache, "un_training": measure_un_training,
        "un_folded": measure_un_folded, "loader": loader_row}


def library_path(programs):
    """Where the programs find their libraries, LibTorch and CUDA."""
    packages = pathlib.Path(torch.__file__).parents[1]
    folders = [programs.resolve() / "lib", packages / "torch/lib", *sorted(packages.glob("nvidia/*/lib"))]
    return ":".join([*map(str, folders), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="+", metavar="ROW", choices=[*ROWS, "first"], help=f"{', '.join(ROWS)} or first")
    parser.add_argument("--programs", type=pathlib.Path, required=True, metavar="FOLDER")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="FILE", help="JSON lines, to which lines are added")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--limit", type=float, default=480, metavar="SECONDS")
    parser.add_argument("--models", default="*", metavar="GLOB", help="names of the models to measure, such as 'ViT*'")
    parser.add_argument("--compile", default="reduce-overhead,max-autotune", metavar="MODES")
    parser.add_argument("--trial", action="store_true", help="try everything on the CPU")
    options = parser.parse_args()
    if not options.trial and not torch.cuda.is_available():
        sys.exit("this PyTorch finds no GPU; add --trial to try the script on the CPU")
    warnings.filterwarnings("ignore")
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    os.environ["LD_LIBRARY_PATH"] = library_path(options.programs)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False  # of the float32 references
    with tempfile.TemporaryDirectory() as scratch:
        setting = Setting(options, scratch)
        for row in [each for name in options.rows for each in (FIRST if name == "first" else (name,))]:
            ROWS[row](setting, row)
    sys.exit(1 if setting.voids else 0)


if __name__ == "__main__":
    main()
