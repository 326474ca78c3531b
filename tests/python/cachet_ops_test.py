"""cachet.ops: each typed function is its operator, and does what its documentation describes.

  PYTHONPATH=build/release/python python tests/python/cachet_ops_test.py
"""
import inspect
import math
import unittest
import warnings

import torch
from operator_samples import SAMPLES, public_operators
from oracle_fixtures import Oracle, oracles
from torch.utils import _pytree as pytree

import cachet
from cachet import ops

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")

UNITS = ["elu_plus_one", "softplus", "gelu", "sigmoid", "glu", "softplus_glu"]
MEANS = ["geometric", "arithmetic", "none"]


def feature_map(weights, units):
    return ops.FeatureMap(weights, [UNITS[unit] for unit in units])


def stream(q, k, v, weights, units, sums=None, padding=None, causal=False, eps=0.0):
    return ops.kernel_attention_stream(q, k, v, feature_map(weights, units), sums, padding=padding, causal=causal, eps=eps)


def kernel_attention(q, k, v, weights, units, padding=None, causal=False, eps=0.0, key_eps=0.0):
    return ops.kernel_attention(q, k, v, feature_map(weights, units), padding=padding, causal=causal, eps=eps, key_eps=key_eps)


def grc_update(cache, tokens, *rest):
    if isinstance(cache, tuple):  # a sample that is one tuple of all
        return grc_update(*cache, tokens, *rest)
    gates = [ops.GateWeights(*rest[place:place + 2]) for place in (0, 2, 4)]
    norm = ops.CandidateNorm(*rest[6:]) if len(rest) > 6 else None
    return tuple(ops.grc_update(cache, tokens, reset=gates[0], update=gates[1], candidate=gates[2], norm=norm))


def unified_norm(x, weight, bias, padding, statistics, counters, window, momentum, eps, warmup, filters, mean, rescale,
                 official, per_channel=False):
    settings = ops.UnifiedNormSettings(*window, *momentum, eps, warmup, filters, "channel" if per_channel else "pooled",
                                       MEANS[mean], official, rescale)
    state = ops.UnifiedNormState(statistics, counters)
    output, statistic, on_own = ops.unified_norm(x, weight, bias, state, settings, padding=padding)
    assert on_own.dtype == torch.bool
    return output, statistic


def power_norm(x, weight, bias, padding, statistics, counters, *settings):
    state = ops.PowerNormState(statistics, counters)
    output, used, own = ops.power_norm(x, weight, bias, state, ops.PowerNormSettings(*settings), padding=padding)
    return output, torch.stack([used, own])


def block_attention(q, k, v, blocks, block_size, scale, *seen):
    keys = ops.KeysSeen(*seen) if seen else None
    return tuple(ops.block_attention(q, k, v, blocks, block_size=block_size, scale=scale, seen=keys))


def token_convolution(tokens, weight, bias, addend, height, width, class_tokens=0, gelu=False):
    return ops.token_convolution(tokens, weight, bias, grid=(height, width), class_tokens=class_tokens, addend=addend,
                                 after="gelu" if gelu else "nothing")


def linear_cross_entropy(x, weight, bias, target, smoothing=0.0, keep=False):
    return tuple(ops.linear_cross_entropy(x, weight, bias, target, label_smoothing=smoothing))


def softmax_attention(q, k, v, bias=None, padding=None, causal=False, dropout=0.0):
    return ops.softmax_attention(q, k, v, bias=bias, padding=padding, causal=causal, dropout=dropout)


# How the typed function is called with the operator's list of arguments; the functions of other names are called as is.
TYPED = {
    "attention_weights": lambda scores, bias, scale: ops.attention_weights(scores, bias, scale=scale),
    "block_attention": block_attention,
    "dropout": lambda x, p, seed: ops.dropout(x, p, seed=seed),
    "grc_update": grc_update,
    "kernel_attention": kernel_attention,
    "kernel_attention_stream": stream,
    "kernel_features": lambda x, weights, units: ops.kernel_features(x, feature_map(weights, units)),
    "linear_cross_entropy": linear_cross_entropy,
    "linear_gelu": lambda x, weight, bias, keep=True: ops.linear_gelu(x, weight, bias),
    "nms": lambda boxes, scores, groups, threshold: tuple(ops.nms(boxes, scores, threshold=threshold, groups=groups)),
    "power_norm": power_norm,
    "relative_attention_weights": lambda c, p, h, scale: ops.relative_attention_weights(c, p, h, scale=scale),
    "resize_tokens": lambda tokens, length, padding=None: ops.resize_tokens(tokens, length, padding=padding),
    "roi_align": lambda map, boxes, height, width, scale, sampling=0: ops.roi_align(
        map, boxes, size=(height, width), scale=scale, sampling=sampling),
    "softmax_attention": softmax_attention,
    "token_convolution": token_convolution,
    "unified_norm": unified_norm,
}
# Of how many of the operator's results the typed function returns.
RETURNED = {"grc_update": 2, "linear_cross_entropy": 2, "linear_gelu": 1, "unified_norm": 1}


def typed(name):
    return TYPED.get(name, getattr(ops, name))


def tensors(tree):
    return [x for x in pytree.tree_leaves(tree) if isinstance(x, torch.Tensor)]


def copies(arguments, detached=False):
    def copy(x):
        return x.detach().clone().requires_grad_(x.requires_grad and not detached) if isinstance(x, torch.Tensor) else x
    return pytree.tree_map(copy, tuple(arguments))


def results(name, call, arguments):
    """What a call returns of an operator's results, the gradients of its operands, and what it leaves in them."""
    given = copies(arguments)
    outputs = tensors(call(*given))[:RETURNED.get(name)]
    made = [y for y in outputs if y.requires_grad]
    wanted = [x for x in tensors(given) if x.requires_grad]
    gradients = []
    if made:
        weights = [torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view(y.shape) for y in made]
        gradients = torch.autograd.grad(made, wanted, weights, allow_unused=True)
    return [None if x is None else x.detach() for x in (*outputs, *gradients, *tensors(given))]


def samples(name, *sizes):
    torch.manual_seed(0)
    return list(SAMPLES[name](*sizes))


class TypedFunctions(unittest.TestCase):
    def test_every_operator_has_one(self):
        names = {name for name in ops.__all__ if inspect.isfunction(getattr(ops, name)) and not name.startswith("initial_")}
        self.assertEqual(names, set(public_operators()))

    def test_they_are_their_operators(self):
        for name in public_operators():
            for number, arguments in enumerate(samples(name)):
                with self.subTest(name=name, number=number):
                    expected = results(name, getattr(torch.ops.cachet, name), arguments)
                    actual = results(name, typed(name), arguments)
                    self.assertEqual(len(actual), len(expected))
                    for x, y in zip(actual, expected):
                        self.assertTrue((x is None and y is None) or torch.equal(x, y))

    def test_docstrings_name_all_arguments(self):
        for name in public_operators():
            function = getattr(ops, name)
            for argument, parameter in inspect.signature(function).parameters.items():
                with self.subTest(name=name, argument=argument):
                    self.assertIn(f"\n    {argument}: ", inspect.getdoc(function))
                    self.assertIsNot(parameter.annotation, inspect.Parameter.empty)
            for part in ("Returns:", "Raises:"):
                self.assertIn(part, function.__doc__, name)


class Words(unittest.TestCase):
    def test_another_word_is_a_value_error_that_lists_the_words(self):
        x = torch.randn(1, 1, 3, 4)
        tokens, weight = torch.randn(2, 4, 3), torch.randn(3, 1, 3, 3)
        state = ops.initial_unified_norm_state(4)
        calls = {
            'kernel_features: units: "relu" is not one of "elu_plus_one"':
                lambda: ops.kernel_features(x, ops.FeatureMap([], ["relu"])),
            'token_convolution: after: "relu" is not one of "nothing", "gelu"':
                lambda: ops.token_convolution(tokens, weight, grid=(2, 2), after="relu"),
            'unified_norm: forward_mean: "median" is not one of "geometric"':
                lambda: ops.unified_norm(x, None, None, state, ops.UnifiedNormSettings(forward_mean="median")),
            'unified_norm: threshold: "layer" is not one of "pooled", "channel"':
                lambda: ops.unified_norm(x, None, None, state, ops.UnifiedNormSettings(threshold="layer")),
        }
        for message, call in calls.items():
            with self.subTest(message), self.assertRaises(ValueError) as raised:
                call()
            self.assertTrue(str(raised.exception).startswith(message), raised.exception)
            self.assertNotIn("\n", str(raised.exception))

    def test_wrong_shapes_are_one_line_that_names_operator_and_argument(self):
        with self.assertRaises(RuntimeError) as raised:
            ops.mix_heads(torch.ones(1, 2, 3, 4), torch.ones(1, 2, 3, 5), torch.ones(3))
        self.assertTrue(str(raised.exception).startswith("mix_heads: memory heads"), raised.exception)
        self.assertNotIn("\n", str(raised.exception))


class SoftmaxAttention(unittest.TestCase):
    def test_each_form_is_the_definition(self):
        torch.manual_seed(0)
        for queries, keys in ((5, 5), (5, 7), (2, 9), (70, 65), (1, 6), (3, 1030)):
            for causal in (False, True):
                for padded in (False, True):
                    for windows in (0, 2):
                        q, k, v = (torch.randn(4, 2, n, 6) for n in (queries, keys, keys))
                        padding = torch.arange(keys) >= keys - torch.arange(4).unsqueeze(1) if padded else None
                        bias = torch.randn(windows, 2, queries, keys) if windows else None
                        scores = (q @ k.mT).double() * 6 ** -0.5
                        if windows:
                            scores = scores + bias.repeat(2, 1, 1, 1)
                        if padded:
                            scores = scores.masked_fill(padding[:, None, None], -math.inf)
                        if causal:
                            ahead = torch.ones(queries, keys, dtype=torch.bool).triu(1 + keys - queries)
                            scores = scores.masked_fill(ahead, -math.inf)
                        expected = scores.softmax(-1).nan_to_num(0) @ v.double()
                        with self.subTest(queries=queries, keys=keys, causal=causal, padded=padded, windows=windows):
                            y = ops.softmax_attention(q, k, v, bias=bias, padding=padding, causal=causal)
                            torch.testing.assert_close(y.double(), expected, rtol=1e-4, atol=1e-5)

    def test_dropout_drops_weights(self):
        torch.manual_seed(0)
        q, k, v = (torch.randn(2, 2, 9, 4) for _ in range(3))
        self.assertFalse(ops.softmax_attention(q, k, v, dropout=1.0).any())
        self.assertFalse(torch.equal(ops.softmax_attention(q, k, v, dropout=0.5), ops.softmax_attention(q, k, v)))

    def test_autocast_narrows_its_operands(self):
        x = torch.randn(2, 2, 5, 4)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.assertEqual(ops.softmax_attention(x, x, x).dtype, torch.bfloat16)

    def test_bad_operands_are_named_in_one_line(self):
        x = torch.randn(2, 3, 5, 4)
        calls = {
            "q must be floating (B, H, Lq, d)": lambda: ops.softmax_attention(x[0], x, x),
            "k must be (B or 1, H, Lk, d)": lambda: ops.softmax_attention(x, x[:, :2], x),
            "v must be (B, H, Lk, e)": lambda: ops.softmax_attention(x, x, x[:, :, :3]),
            "padding must be bool (B or 1, Lk) = (2, 5)":
                lambda: ops.softmax_attention(x, x, x, padding=torch.zeros(2, 4, dtype=torch.bool)),
            "bias must be floating (W, H, Lq, Lk)": lambda: ops.softmax_attention(x, x, x, bias=torch.zeros(1, 2, 5, 5)),
            "bias has 3 windows, but the number of windows must divide the batch of 2":
                lambda: ops.softmax_attention(x, x, x, bias=torch.zeros(3, 3, 5, 5)),
            "dropout must be in [0, 1], got 2": lambda: ops.softmax_attention(x, x, x, dropout=2),
        }
        for words, call in calls.items():
            with self.subTest(words), self.assertRaises(RuntimeError) as raised:
                call()
            self.assertTrue(str(raised.exception).startswith(f"softmax_attention: {words}"), raised.exception)
            self.assertNotIn("\n", str(raised.exception))


class Seeds(unittest.TestCase):
    def test_dropout_draws_its_seed_from_the_generator(self):
        x = torch.ones(1000)
        torch.manual_seed(3)
        first, second = ops.dropout(x, 0.5), ops.dropout(x, 0.5)
        torch.manual_seed(3)
        self.assertTrue(torch.equal(ops.dropout(x, 0.5), first))
        self.assertFalse(torch.equal(first, second))
        self.assertTrue(torch.equal(ops.dropout(x, 0.5, seed=-5), ops.dropout(x, 0.5, seed=-5)))


def norm_settings(oracle):
    about = oracle.about
    window = about["window"] if isinstance(about["window"], list) else [about["window"]] * 2
    if about.get("norm") == "mabn":
        return ops.UnifiedNormSettings(*window, about["momentum"], 0.0, about["eps"], about["warmup"], False,
                                       forward_mean="arithmetic", official=True, rescale=True)
    return ops.UnifiedNormSettings(*window, about["momentum"], about["momentum"], about["eps"], about["warmup"],
                                   bool(about["outlier_filtration"]), official=about.get("form") != "paper")


class Fixtures(unittest.TestCase):
    """The operators against tests/data/oracles, in float64."""

    def step_of_norm(self, oracle, step, call):
        x = oracle[f"{step}.x"].requires_grad_()
        weight, bias = (oracle[f"param.{name}"].clone().requires_grad_() for name in ("weight", "bias"))
        y = call(x, weight, bias)
        (y * oracle[f"{step}.dy"]).sum().backward()
        for actual, key in ((y, "y"), (x.grad, "dx"), (weight.grad, "dweight"), (bias.grad, "dbias")):
            oracle.close(actual, f"{step}.{key}", f"{step} {key}")

    def test_unified_norm(self):
        for oracle in oracles("un_", "mabn_"):
            with self.subTest(oracle.name):
                settings = norm_settings(oracle)
                channels, ring = oracle.about["channels"], slice(2, 2 + settings.forward_window)
                state = ops.initial_unified_norm_state(channels, settings, dtype=torch.float64)
                if "start.iters" in oracle:
                    state.statistics[0] = oracle["start.running_var"].flatten()
                    if "start.ema_gz" in oracle:
                        state.statistics[1] = oracle["start.ema_gz"]
                    state.statistics[ring] = oracle["start.buffer_x2"]
                    state.statistics[ring.stop:] = oracle["start.buffer_gz"]
                    state.counters[0] = oracle["start.iters"][0]
                for i in range(oracle.about["iters"]):
                    step = f"step{i}"
                    padding = oracle[f"{step}.pad"].bool() if f"{step}.pad" in oracle else None
                    self.step_of_norm(oracle, step, lambda x, weight, bias, padding=padding: ops.unified_norm(
                        x, weight, bias, state, settings, padding=padding).output)
                    for key in (f"{step}.running_var", f"{step}.state.running_var"):
                        if key in oracle:
                            oracle.close(state.statistics[0], oracle[key].flatten(), key)
                scale = oracle["param.weight"] * torch.rsqrt(state.statistics[0] + settings.eps)
                oracle.close(ops.scale_shift(oracle["eval.x"], scale, oracle["param.bias"]), "eval.y", "evaluation")

    def test_power_norm(self):
        for oracle in oracles("pn_"):
            with self.subTest(oracle.name):
                about = oracle.about
                settings = ops.PowerNormSettings(about["alpha_fwd"], about["alpha_bkw"], about["eps"], about["warmup"])
                state = ops.initial_power_norm_state(about["channels"], dtype=torch.float64)
                state.statistics.copy_(torch.stack([oracle["start.running_phi"].flatten(), oracle["start.ema_gz"].flatten()]))
                state.counters.copy_(oracle["start.iters"])

                def normed(x, weight, bias):
                    if about["group_scaling"]:
                        x = torch.nn.functional.rms_norm(x, (x.shape[-1],), eps=about["eps"])
                    return ops.power_norm(x, weight, bias, state, settings).output

                for i in range(about["iters"]):
                    self.step_of_norm(oracle, f"step{i}", normed)
                    oracle.close(state.statistics[0], oracle[f"step{i}.state.running_phi"].flatten(), f"step {i} phi")
                    oracle.close(state.statistics[1], oracle[f"step{i}.state.ema_gz"].flatten(), f"step {i} gradient")

    def test_kernel_attention(self):
        for oracle in oracles("kernel_"):
            with self.subTest(oracle.name):
                layers, kind = oracle.about["layers"], oracle.about["kind"]
                leaves = {key: x.clone().requires_grad_() for key, x in oracle.tensors.items()
                          if f"grad.{key}" in oracle}

                def weight(layer):
                    if kind == "linear":
                        return leaves[f"w{layer}"]
                    gate = leaves[f"wg{layer}"] if kind == "glu" else leaves[f"down{layer}"] @ leaves[f"up{layer}"]
                    return torch.cat([leaves[f"wf{layer}"], gate], -1)

                last = "softplus" if kind == "linear" else "softplus_glu"
                units = ["gelu" if kind == "linear" else "glu"] * (layers - 1) + [last]
                phi = ops.FeatureMap([weight(layer) for layer in range(layers)], units)
                padding = oracle["key_padding"].bool() if oracle.about["pad"] else None
                y = ops.kernel_attention(leaves["q"], leaves["k"], leaves["v"], phi, padding=padding,
                                         causal=bool(oracle.about["causal"]))
                (y * oracle["dy"]).sum().backward()
                oracle.close(y, "y", "y")
                for key, leaf in leaves.items():
                    oracle.close(leaf.grad, f"grad.{key}", f"gradient of {key}")

    def test_linear_attention_of_elu(self):
        oracle, phi = Oracle("attn_linear_elu"), ops.FeatureMap([], ["elu_plus_one"])
        for case in ("full", "padded", "causal"):
            q, k, v = (oracle[key].clone().requires_grad_() for key in "qkv")
            padding = oracle["key_padding"].bool() if case == "padded" else None
            y = ops.kernel_attention(q, k, v, phi, padding=padding, causal=case == "causal", eps=1e-6)
            (y * oracle["dy"]).sum().backward()
            oracle.close(y, f"{case}.y", f"{case} y")
            for key, leaf in zip("qkv", (q, k, v)):
                oracle.close(leaf.grad, f"{case}.grad.{key}", f"{case} gradient of {key}")

    def test_non_maximum_suppression(self):
        oracle = Oracle("det_nms")
        for case, threshold in (("nms", 0.5), ("nms_strict", 0.3), ("ties", 0.5), ("batched", 0.7)):
            source = "nms" if case == "nms_strict" else case
            groups = oracle[f"{source}.groups"] if f"{source}.groups" in oracle else None
            order, kept = ops.nms(oracle[f"{source}.boxes"], oracle[f"{source}.scores"], threshold=threshold, groups=groups)
            self.assertTrue(torch.equal(order[kept], oracle[f"{case}.keep"].long()), case)

    def test_roi_align(self):
        oracle = Oracle("det_roi_align")
        for side in oracle.about["outputs"]:
            for ratio in oracle.about["sampling_ratios"]:
                x, case = oracle["x"].clone().requires_grad_(), f"out{side}.ratio{ratio}"
                y = ops.roi_align(x, oracle["rois"], size=(side, side), scale=oracle.about["spatial_scale"], sampling=ratio)
                (y * oracle[f"{case}.dy"]).sum().backward()
                oracle.close(y, f"{case}.y", f"{case} y")
                oracle.close(x.grad, f"{case}.dx", f"{case} dx")


class Programs(unittest.TestCase):
    """torch.compile, torch.export, autocast and deterministic mode of the typed functions."""

    def test_compiled_once_for_all_batches(self):
        for name in public_operators():
            sizes = [samples(name, *size)[0] for size in ((10, 14), (12, 14), (6, 14))]
            with self.subTest(name):
                torch._dynamo.reset()
                compiled = torch.compile(typed(name), fullgraph=True, dynamic=True, backend="aot_eager")
                results(name, compiled, sizes[0])
                with torch.compiler.set_stance("fail_on_recompile"):
                    for other in sizes[1:]:
                        for x, y in zip(results(name, compiled, other), results(name, typed(name), other)):
                            torch.testing.assert_close(x, y)

    def test_exported(self):
        class Call(torch.nn.Module):
            def __init__(self, call):
                super().__init__()
                self.call = call

            def forward(self, *arguments):
                return self.call(*arguments)

        for name in public_operators():
            arguments = copies(samples(name, 10, 14)[0], detached=True)
            with self.subTest(name):
                program = torch.export.export(Call(typed(name)), copies(arguments))
                for x, y in zip(tensors(program.module()(*copies(arguments))), tensors(typed(name)(*copies(arguments)))):
                    torch.testing.assert_close(x, y)

    def test_autocast_narrows_products_and_nothing_else(self):
        gates = [ops.GateWeights(torch.randn(3, 6), torch.zeros(3))] * 3
        cache, tokens = torch.zeros(1, 5, 3), torch.randn(2, 5, 3)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.assertEqual(ops.linear(tokens, torch.randn(4, 3)).dtype, torch.bfloat16)
            updated = ops.grc_update(cache, tokens, reset=gates[0], update=gates[1], candidate=gates[2])
            self.assertEqual(updated.mean.dtype, torch.float32)
            self.assertEqual(ops.scale_shift(tokens, torch.rand(3)).dtype, torch.float32)

    def test_deterministic_mode(self):
        torch.use_deterministic_algorithms(True)
        self.addCleanup(torch.use_deterministic_algorithms, False)
        for name in public_operators():
            arguments = samples(name)[0]
            for x, y in zip(results(name, typed(name), arguments), results(name, typed(name), arguments)):
                self.assertTrue((x is None and y is None) or torch.equal(x, y), name)


class Package(unittest.TestCase):
    def test_version(self):
        self.assertRegex(cachet.__version__, r"^\d+\.\d+\.\d+$")


if __name__ == "__main__":
    unittest.main()
