"""cachet.nn against the C++ layers: a program of C++ trains layers and writes what they compute (layer_steps.cpp); the modules
compute the same bits from the same weights, inputs and one thread. Packed layers of C++ agree to 1e-6.

  PYTHONPATH=build/release/python python tests/python/cachet_steps_test.py build/release/layer_steps
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import torch
from safetensors import safe_open

from cachet import nn, ops

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
STEPS, RATE = 4, 0.001
PACKED = 1e-6  # of the largest element, at least of 1


def padding_of(batch, length):
    """The last i % 3 tokens of sample i."""
    return torch.arange(length) >= length - torch.arange(batch).remainder(3).unsqueeze(1)


class Case:
    """A layer and how it is called. `context`: whether the file has a context of its own. `pieces`: of each step's text."""

    def __init__(self, layer, *, grid=None, class_tokens=0, padded=False, causal=False, context=False, pieces=False,
                 decodes=False):
        self.layer, self.padded = layer, padded
        self.layout = nn.Layout(grid, class_tokens, causal=causal)
        self.context, self.pieces, self.decodes = context, pieces, decodes

    def call(self, x, context, state):
        layout = self.layout._replace(padding=padding_of(*x.shape[:2]) if self.padded else None)
        if isinstance(self.layer, nn.UnifiedNorm | nn.MABN | nn.PowerNorm):
            return self.layer(x, layout.padding)
        if self.context:
            return self.layer(x, context, layout)
        if self.pieces:
            return torch.cat([self.layer(piece, layout=layout._replace(state=state)) for piece in x.chunk(2, 1)], 1)
        return self.layer(x, layout=layout)


def softmax_cases():
    heads = lambda dim=16, count=2, **options: nn.MultiHeadAttention(dim, count, **options)
    for length in (1, 5, 63, 64, 65, 130):
        yield f"softmax_{length}", Case(heads())
    for length in (1024, 1025):
        yield f"softmax_{length}", Case(heads(8, 1))
        yield f"softmax_causal_{length}", Case(heads(8, 1), causal=True)
    for length in (5, 65):
        yield f"softmax_causal_{length}", Case(heads(), causal=True)
        yield f"softmax_padded_{length}", Case(heads(), padded=True)
        yield f"softmax_causal_padded_{length}", Case(heads(), padded=True, causal=True)
    yield "softmax_wide", Case(heads(192, 3))
    for keys in (8, 9):
        for contexts in (1, 3):
            yield f"softmax_{keys}_of_{contexts}", Case(heads(projection="separate"), context=True)
    yield "softmax_decoding", Case(heads(), causal=True, decodes=True)


def window_cases():
    four, odd = (4, 4), (4, 3)
    yield "windows", Case(nn.WindowAttention(16, 2, four), grid=(8, 8))
    yield "windows_shifted", Case(nn.WindowAttention(16, 2, four, shift=(2, 2)), grid=(8, 8))
    yield "windows_beyond", Case(nn.WindowAttention(16, 2, odd, shift=(2, 1)), grid=(7, 5))
    yield "windows_padded_first", Case(
        nn.WindowAttention(16, 2, odd, shift=(2, 1), order="pad_then_shift"), grid=(7, 5))
    yield "windows_484", Case(nn.WindowAttention(4, 2, (22, 22)), grid=(22, 22))
    yield "windows_529", Case(nn.WindowAttention(4, 2, (23, 23)), grid=(23, 23))
    yield "windows_many", Case(nn.WindowAttention(32, 2, (7, 7), shift=(3, 3)), grid=(14, 14))
    yield "windows_concatenated", Case(
        nn.WindowAttention(16, 2, four, shift=(2, 2), cache=nn.ConcatenatedCache(16, 16)), grid=(8, 8))
    yield "windows_cached", Case(
        nn.CachedWindowAttention(16, 2, nn.GatedRecurrentCache(16, grid=four), four, shift=(2, 2)), grid=(8, 8))
    yield "windows_fifo", Case(nn.CachedWindowAttention(16, 2, nn.FifoCache(16, grid=odd), odd), grid=(7, 5))


def cache_cases():
    gated, fifo, concatenated = nn.GatedRecurrentCache, nn.FifoCache, nn.ConcatenatedCache
    cached = lambda cache, dim=16: nn.CachedAttention(dim, 2, cache)
    for length in (5, 9):
        yield f"grc_{length}", Case(cached(gated(16, length)))
        yield f"grc_padded_{length}", Case(cached(gated(16, length)), padded=True)
        yield f"fifo_padded_{length}", Case(cached(fifo(16, length)), padded=True)
    yield "grc_of_one", Case(cached(gated(16, 5)))
    yield "grc_wide", Case(cached(gated(192, 49), 192))
    yield "fifo", Case(cached(fifo(16, 5)))
    on_grid = dict(grid=(3, 4), class_tokens=1)
    yield "grc_official", Case(cached(gated(16, variant="official", **on_grid)), **on_grid)
    yield "grc_thirds", Case(cached(gated(24, ratio=1 / 3, variant="official", **on_grid), 24), **on_grid)
    yield "grc_pooled", Case(cached(gated(16, pool=2, **on_grid)), **on_grid)
    half = gated(16, 5, ratio=1, gates="half", attend="per_sample", inference="per_sample")
    yield "grc_half", Case(cached(half))
    yield "concatenated", Case(nn.MultiHeadAttention(16, 2, cache=concatenated(16, 13)), **on_grid)
    yield "concatenated_padded", Case(nn.MultiHeadAttention(16, 2, cache=concatenated(16, 9)), padded=True)
    for gradient in ("detached", "recompute", "carry"):
        for name, scope in (("", "batch_mean"), ("_by_row", "batch_row")):
            cache = gated(16, 4, gradient=gradient, scope=scope)
            yield f"grc_{gradient}{name}", Case(cached(cache), causal=True, pieces=True)
    yield "fifo_by_row", Case(cached(fifo(16, 4, scope="batch_row")), causal=True, pieces=True)


def reduction_cases():
    reduced = lambda dim=16, **options: nn.SpatialReductionAttention(dim, 2, **options)
    for ratio in (1, 2, 3):
        yield f"reduced_{ratio}", Case(reduced(ratio=ratio), grid=(6, 6))
    yield "reduced_class", Case(reduced(ratio=2), grid=(6, 7), class_tokens=1)
    yield "pooled", Case(reduced(form="pooling"), grid=(9, 9))
    yield "reduced_concatenated", Case(reduced(ratio=2, cache=nn.ConcatenatedCache(16, 9)), grid=(6, 6))
    both = nn.CachedAttention(16, 2, nn.GatedRecurrentCache(16, grid=(6, 6)),
                              attention=lambda width, branch: reduced(width, ratio=2))
    yield "reduced_cached", Case(both, grid=(6, 6))


def kernel_cases():
    def heads(form, **options):
        return nn.MultiHeadAttention(16, 2, function=nn.KernelAttention(2, 8, form, **options))

    for form in ("linear", "orthogonal_linear", "glu", "oglu", "aoglu", "feed_forward"):
        options = dict(layers=1 if form.endswith("linear") else 2, head_wise=form != "glu")
        yield form, Case(heads(form, **options))
        yield f"{form}_padded", Case(heads(form, **options), padded=True)
        yield f"{form}_causal", Case(heads(form, **options), causal=True)
        yield f"{form}_decoding", Case(heads(form, **options), causal=True, decodes=True)
    for length in (64, 65, 256, 257):
        for form in ("glu", "elu"):
            yield f"{form}_{length}", Case(heads(form))
            yield f"{form}_causal_{length}", Case(heads(form), causal=True)


def norm_cases():
    unified = lambda **options: nn.UnifiedNorm(12, ops.UnifiedNormSettings(2, 2, warmup=1, **options))
    for length in (5, 64, 65, 150):
        yield f"un_{length}", Case(unified())
        yield f"pn_{length}", Case(nn.PowerNorm(12, ops.PowerNormSettings(warmup=2), group_scaling=length != 65))
        yield f"mabn_{length}", Case(nn.MABN(12, window=2, warmup=1))
    yield "un_padded", Case(unified(), padded=True)
    yield "un_by_channel", Case(unified(threshold="channel"))
    yield "un_official", Case(unified(official=True))


def all_cases():
    return dict(case for cases in (softmax_cases, window_cases, cache_cases, reduction_cases, kernel_cases, norm_cases)
                for case in cases())


class Steps(unittest.TestCase):
    program = None

    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "steps.safetensors"
            subprocess.run([cls.program, file], check=True)
            with safe_open(file, "pt") as opened:
                cls.tensors = {key: opened.get_tensor(key) for key in opened.keys()}
        cls.cases = all_cases()

    def of(self, name):
        """The tensors of a case by their names there."""
        return {key.removeprefix(f"{name}/"): x for key, x in self.tensors.items() if key.startswith(f"{name}/")}

    def same(self, actual, expected, what):
        if actual is None or actual.shape != expected.shape or not torch.equal(actual, expected):
            differ = "" if actual is None or actual.shape != expected.shape else (
                f": {(actual != expected).sum()} of {expected.numel()} elements differ, by up to "
                f"{(actual - expected).abs().max().item():.1e}")
            self.fail(f"{what} is not that of C++{differ}")

    @staticmethod
    def start(case, file):
        weights = {key.removeprefix("start."): x for key, x in file.items() if key.startswith("start.")}
        case.layer.load_state_dict(weights, strict=True)

    def test_the_file_has_the_same_cases(self):
        self.assertEqual({key.split("/")[0] for key in self.tensors}, set(self.cases))
        self.assertGreater(len(self.cases), 80)
        self.assertEqual([key for key, x in self.tensors.items() if not x.isfinite().all()], [])

    def test_training_steps_are_the_same_bits(self):
        for name, case in self.cases.items():
            if case.decodes:
                continue
            with self.subTest(name):
                file = self.of(name)
                self.start(case, file)
                self.train(case, file)

    def train(self, case, file):
        batch = len(file["step0.x"])
        state = case.layer.make_state(batch) if case.pieces else None
        for step in range(STEPS):
            at = f"step{step}."
            case.layer.train().zero_grad()
            x = file[at + "x"].requires_grad_()
            y = case.call(x, file.get("context"), state)
            (y * file[at + "dy"]).sum().backward()
            self.same(y, file[at + "y"], f"{at}y")
            self.same(x.grad, file[at + "dx"], f"{at}dx")
            gradients = {f"{at}grad.{key}": w.grad for key, w in case.layer.named_parameters() if w.grad is not None}
            states = {f"{at}state.{key}": s for key, s in case.layer.named_buffers()}
            if state is not None:
                state.detach()
                states |= {f"{at}stream.{key}": s for key, s in state.named_tensors().items() if key == "cache/cache"}
            found = gradients | states
            self.assertEqual(set(found), {key for key in file if key.startswith((f"{at}grad.", f"{at}st"))})
            for key, tensor in found.items():
                self.same(tensor, file[key], key)
            with torch.no_grad():
                for weight in case.layer.parameters():
                    if weight.grad is not None:
                        weight.add_(weight.grad, alpha=-RATE)
        if "eval.x" in file:
            case.layer.eval()
            with torch.no_grad():
                y, expected = case.call(file["eval.x"], file.get("context"), None), file["eval.y"]
            error = (y - expected).abs().max().item() / max(1.0, expected.abs().max().item())
            self.assertLessEqual(error, PACKED, "the output in evaluation")

    def test_streams_are_the_same_bits(self):
        for name, case in self.cases.items():
            if not case.decodes:
                continue
            with self.subTest(name), torch.no_grad():
                file = self.of(name)
                self.start(case, file)
                case.layer.eval()
                state = case.layer.make_state(len(file["piece0.x"]), decoding=True)
                pieces = sum(key.endswith(".x") for key in file)
                self.assertGreater(pieces, 2)
                for i in range(pieces):
                    y = case.layer(file[f"piece{i}.x"], layout=case.layout._replace(state=state))
                    self.same(y, file[f"piece{i}.y"], f"piece {i}")


if __name__ == "__main__":
    Steps.program = sys.argv.pop(1)
    unittest.main()
