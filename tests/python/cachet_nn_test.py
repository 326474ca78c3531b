"""cachet.nn: the layers against tests/data/oracles in float64, and PyTorch's habits.

  PYTHONPATH=build/release/python python tests/python/cachet_nn_test.py
"""
import copy
import io
import math
import pickle
import unittest
import warnings

import torch
from oracle_fixtures import Oracle, oracles

from cachet import nn, ops

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")


def norm_of(oracle):
    about = oracle.about
    if about.get("norm") == "power":
        settings = ops.PowerNormSettings(about["alpha_fwd"], about["alpha_bkw"], about["eps"], about["warmup"])
        return nn.PowerNorm(about["channels"], settings, group_scaling=bool(about["group_scaling"]))
    if about.get("norm") == "mabn":
        return nn.MABN(about["channels"], window=about["window"], momentum=about["momentum"], eps=about["eps"],
                       warmup=about["warmup"])
    window = about["window"] if isinstance(about["window"], list) else [about["window"]] * 2
    return nn.UnifiedNorm(about["channels"], ops.UnifiedNormSettings(
        *window, about["momentum"], about["momentum"], about["eps"], about["warmup"], bool(about["outlier_filtration"]),
        official=about.get("form") != "paper"))


def load_norm_state(norm, oracle):
    with torch.no_grad():
        norm.weight.copy_(oracle["param.weight"])
        norm.bias.copy_(oracle["param.bias"])
        if "start.iters" not in oracle:
            return
        norm.counters[0] = oracle["start.iters"].flatten()[0]
        if "start.running_phi" in oracle:
            norm.statistics[0] = oracle["start.running_phi"].flatten()
        else:
            window = norm.settings.forward_window
            norm.statistics[0] = oracle["start.running_var"].flatten()
            norm.statistics[2:2 + window] = oracle["start.buffer_x2"]
            norm.statistics[2 + window:] = oracle["start.buffer_gz"]
        if "start.ema_gz" in oracle:
            norm.statistics[1] = oracle["start.ema_gz"].flatten()


class NormFixtures(unittest.TestCase):
    def test_every_step_and_evaluation(self):
        for oracle in oracles("un_", "mabn_", "pn_"):
            with self.subTest(oracle.name):
                norm = norm_of(oracle).double()
                load_norm_state(norm, oracle)
                for i in range(oracle.about["iters"]):
                    step = f"step{i}"
                    norm.zero_grad()
                    x = oracle[f"{step}.x"].requires_grad_()
                    y = norm(x, oracle[f"{step}.pad"].bool() if f"{step}.pad" in oracle else None)
                    (y * oracle[f"{step}.dy"]).sum().backward()
                    for actual, key in ((y, "y"), (x.grad, "dx"), (norm.weight.grad, "dweight"), (norm.bias.grad, "dbias")):
                        oracle.close(actual, f"{step}.{key}", f"{step} {key}")
                norm.eval()
                before = norm.statistics.clone()
                oracle.close(norm(oracle["eval.x"]), "eval.y", "evaluation")
                self.assertTrue(torch.equal(before, norm.statistics))
                affine = norm.inference_affine()
                self.assertEqual(affine is None, oracle.about.get("group_scaling") == 1)
                if affine is not None:
                    oracle.close(oracle["eval.x"] * affine[0] + affine[1], "eval.y", "affine form")


# The published layer's names of parts.
PUBLISHED = {"attn_self_func": "self_attention", "attn_mem": "memory_attention", "linear_reset": "cache.reset_gate",
             "linear_update": "cache.update_gate", "linear_add": "cache.candidate", "Norm1": "cache.norm",
             "pos_emb": "position", "lam": "share", "gr_cache": "cache.tokens"}
GATES = ("cache.reset_gate.weight", "cache.update_gate.weight", "cache.candidate.weight")


def reduces(oracle):
    return oracle.about.get("attention", "mhsa") == "sra"


def in_lanes(oracle):
    return oracle.about.get("cache_scope") == "lane"


def own_names(oracle, tensors):
    """Tensors under the names of our layer. The paper's fixtures concatenate [tokens, cache], the layer [cache, tokens]."""
    named = {}
    for name, tensor in tensors.items():
        part, _, rest = name.partition(".")
        named[f"{PUBLISHED[part]}.{rest}" if rest else PUBLISHED[part]] = tensor
    for kind in () if reduces(oracle) else ("weight", "bias"):
        parts = [named.pop(f"self_attention.{part}.{kind}", None) for part in ("q", "kv")]
        if parts[0] is not None:
            named[f"self_attention.qkv.{kind}"] = torch.cat(parts)
    if not oracle.name.startswith("grc_official"):
        for gate in GATES:
            if gate in named:
                named[gate] = named[gate].roll(named[gate].shape[1] // 2, 1)
    return named


def cached_attention(oracle, gradient="detached"):
    about = oracle.about
    official = oracle.name.startswith("grc_official")
    length = None if reduces(oracle) else oracle["step0.x"].shape[1] if official else about["tm"]
    where = {"grid": tuple(about["hw"][0])} if reduces(oracle) else {}
    scope = "batch_row" if in_lanes(oracle) else "batch_mean"
    if oracle.name.startswith("grc_fifo"):
        cache = nn.FifoCache(about["dim"], length, ratio=about["ratio"], scope=scope, **where)
    else:
        cache = nn.GatedRecurrentCache(about["dim"], length, ratio=about["ratio"], scope=scope, gradient=gradient,
                                       variant="official" if official else "paper", attend="per_sample", **where)
    attention = None
    if reduces(oracle):
        attention = lambda width, branch: nn.SpatialReductionAttention(
            width, about["heads"], ratio=about["sr_ratio"], qkv_bias=bool(about["qkv_bias"]))
    layer = nn.CachedAttention(about["dim"], about["heads"], cache, qkv_bias=bool(about["qkv_bias"]),
                               positional_convolution=bool(about["spatial_pos_emb"]), attention=attention).double()
    start = own_names(oracle, {**oracle.below("param."), **oracle.below("buffer.")})
    missing, unexpected = layer.load_state_dict(start, strict=False)
    assert not unexpected and set(missing) <= {"cache.tokens"}, (missing, unexpected)
    return layer


def layout_of(oracle, x, step):
    grid, class_tokens, padding = None, 0, None
    if oracle.about["spatial_pos_emb"]:
        class_tokens = oracle.about.get("cls_dim", 0)
        side = math.isqrt(x.shape[1] - class_tokens)
        grid = (side, side)
    if f"{step}.lengths" in oracle:
        padding = torch.arange(x.shape[1]) >= oracle[f"{step}.lengths"].unsqueeze(1)
    return nn.Layout(grid, class_tokens, padding, bool(oracle.about.get("causal", 0)))


class CachedAttentionFixtures(unittest.TestCase):
    def test_every_step(self):
        fixtures = oracles("grc_")
        self.assertGreaterEqual(len(fixtures), 10)
        for oracle in fixtures:
            with self.subTest(oracle.name):
                layer = cached_attention(oracle)
                state = layer.make_state(len(oracle["step0.x"])) if in_lanes(oracle) else None
                for i in range(oracle.about["steps"]):
                    step = f"step{i}"
                    layer.train(i < oracle.about["train_steps"])
                    layer.zero_grad()
                    x = oracle[f"{step}.x"].requires_grad_()
                    y = layer(x, layout_of(oracle, x, step)._replace(state=state))
                    (y * oracle[f"{step}.dy"]).sum().backward()
                    oracle.close(y, f"{step}.y", f"{step} y")
                    oracle.close(x.grad, f"{step}.dx", f"{step} dx")
                    stored = state.named_tensors()["cache/cache"] if in_lanes(oracle) else layer.cache.tokens
                    oracle.close(stored, f"{step}.cache", f"{step} cache")
                    parameters = dict(layer.named_parameters())
                    for name, expected in own_names(oracle, oracle.below(f"{step}.grad.")).items():
                        gradient = parameters[name].grad
                        oracle.close(torch.zeros_like(expected) if gradient is None else gradient, expected, f"{step} {name}")

    def test_gradients_are_carried_through_pieces(self):
        oracle = Oracle("grc_causal")
        layer, inputs, loss = cached_attention(oracle, "carry"), [], 0
        layout = nn.Layout(causal=True, state=layer.make_state(len(oracle["step0.x"])))
        for i in range(oracle.about["train_steps"]):
            inputs.append(oracle[f"step{i}.x"].requires_grad_())
            loss = loss + (layer(inputs[-1], layout) * oracle[f"step{i}.dy"]).sum()
        loss.backward()
        for i, x in enumerate(inputs):
            oracle.close(x.grad, f"bptt.step{i}.dx", f"dx of piece {i}")
        parameters = dict(layer.named_parameters())
        for name, expected in own_names(oracle, oracle.below("bptt.grad.")).items():
            oracle.close(parameters[name].grad, expected, name)

    def test_the_future_does_not_leak(self):
        oracle, outputs = Oracle("grc_causal"), []
        for suffix in ("", "_changed"):
            layer = cached_attention(oracle)
            layer.cache.tokens.copy_(oracle["noleak.cache_before"])
            outputs.append(layer(oracle[f"noleak.x{suffix}"], nn.Layout(causal=True)))
            oracle.close(outputs[-1], f"noleak.y{suffix}", f"y{suffix}")
            oracle.close(layer.cache.tokens, f"noleak.cache{suffix}", f"cache{suffix}")
        place = oracle.about["noleak_position"]
        self.assertTrue(torch.equal(outputs[0][:, :place], outputs[1][:, :place]))


class KernelFixtures(unittest.TestCase):
    def test_attention_and_gradients(self):
        for oracle in oracles("kernel_"):
            with self.subTest(oracle.name):
                about = oracle.about
                (_, heads, _, width), form = oracle["q"].shape, about["kind"]
                rank = oracle["down0"].shape[-1] if form == "aoglu" else 0
                kernel = nn.KernelAttention(heads, width, form, layers=about["layers"], gate_rank=rank).double()
                names = {"weight": "w" if form == "linear" else "wf", "gate": "wg", "gate_down": "down", "gate_up": "up"}
                given = {name: f"{names[name.split('.')[2]]}{name.split('.')[1]}" for name in kernel.state_dict()}
                kernel.load_state_dict({name: oracle[key] for name, key in given.items()})
                q, k, v = (oracle[key].clone().requires_grad_() for key in "qkv")
                padding = oracle["key_padding"].bool() if about["pad"] else None
                y = kernel(q, k, v, padding=padding, causal=bool(about["causal"]))
                (y * oracle["dy"]).sum().backward()
                oracle.close(y, "y", "y")
                for key, leaf in (*zip("qkv", (q, k, v)), *((given[name], x) for name, x in kernel.named_parameters())):
                    oracle.close(leaf.grad, f"grad.{key}", f"gradient of {key}")

    def test_linear_attention_of_elu(self):
        oracle, kernel = Oracle("attn_linear_elu"), nn.KernelAttention(2, 6, "elu")
        for case in ("full", "padded", "causal"):
            padding = oracle["key_padding"].bool() if case == "padded" else None
            y = kernel(oracle["q"], oracle["k"], oracle["v"], padding=padding, causal=case == "causal")
            oracle.close(y, f"{case}.y", f"{case} y")

    def test_a_stream_is_the_causal_whole(self):
        torch.manual_seed(0)
        for form in ("elu", "linear", "glu", "oglu", "aoglu", "feed_forward"):
            kernel = nn.KernelAttention(2, 4, form, head_wise=form != "glu").double()
            q, k, v = (torch.randn(3, 2, 7, 4, dtype=torch.float64) for _ in range(3))
            sums, parts = None, []
            for first, last in ((0, 3), (3, 4), (4, 7)):
                part, sums = kernel.stream(*(x[:, :, first:last] for x in (q, k, v)), sums)
                parts.append(part)
            torch.testing.assert_close(torch.cat(parts, 2), kernel(q, k, v, causal=True))

    def test_orthogonal_weights_start_so(self):
        for form in ("orthogonal_linear", "oglu", "aoglu"):
            kernel = nn.KernelAttention(2, 6, form)
            self.assertLess(kernel.orthogonality_loss().item(), 1e-10)
            with torch.no_grad():
                kernel.features[0].weight.mul_(2)
            torch.testing.assert_close(kernel.orthogonality_loss().item(), 0.01 * 2 * 6 * 9, rtol=1e-5, atol=0)
        self.assertEqual(nn.KernelAttention(2, 6, "glu").orthogonality_loss().item(), 0)

    def test_multi_head_attention_with_a_kernel(self):
        torch.manual_seed(0)
        layer = nn.MultiHeadAttention(8, 2, function=nn.KernelAttention(2, 4, "aoglu"))
        self.assertEqual([name for name, _ in layer.named_parameters()],
                         ["qkv.weight", "qkv.bias", "proj.weight", "proj.bias", "function.features.0.weight",
                          "function.features.0.gate_down", "function.features.0.gate_up"])
        x, padding = torch.randn(2, 6, 8), torch.arange(6).expand(2, 6) >= 4
        y = layer(x, None, nn.Layout(padding=padding, causal=True))
        changed = torch.where(padding.unsqueeze(2), torch.randn(2, 6, 8), x)
        changed[:, 3] = 0
        z = layer(changed, None, nn.Layout(padding=padding, causal=True))
        torch.testing.assert_close(z[:, :3], y[:, :3])
        self.assertFalse(y[:, 4:].any())
        y.sum().backward()
        self.assertTrue(all(x.grad is not None for x in layer.parameters()))


def layers():
    """A layer of each kind with state, and its input's channels."""
    torch.manual_seed(0)
    window = ops.UnifiedNormSettings(warmup=2)
    yield nn.UnifiedNorm(8, window)
    yield nn.MABN(8, warmup=2)
    yield nn.PowerNorm(8, ops.PowerNormSettings(warmup=2))
    yield nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, 5))
    yield nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, 5, variant="official"), positional_convolution=False)
    yield nn.CachedAttention(8, 2, nn.GatedRecurrentCache(8, 5, gates="half"))
    yield nn.CachedAttention(8, 2, nn.FifoCache(8, 5))


def trained(layer, steps=3):
    for step in range(steps):
        torch.manual_seed(step)
        layer(torch.randn(3, 5 + step, 8)).square().sum().backward()
    return layer


def checkpointed(part, x):
    return torch.utils.checkpoint.checkpoint(part, x, use_reentrant=False)


class Habits(unittest.TestCase):
    def same_state(self, one, other):
        self.assertEqual(list(one.state_dict()), list(other.state_dict()))
        for name, x in one.state_dict().items():
            self.assertTrue(torch.equal(x, other.state_dict()[name]), name)

    def test_narrow_types_cast_parameters_and_never_state(self):
        for layer in layers():
            trained(layer)
            before = {name: x.clone() for name, x in layer.named_buffers()}
            for convert in (lambda m: m.to(torch.bfloat16), lambda m: m.half(), lambda m: m.bfloat16()):
                narrow = convert(copy.deepcopy(layer))
                self.assertTrue(all(x.dtype.itemsize == 2 for x in narrow.parameters()))
                for name, x in narrow.named_buffers():
                    self.assertEqual(x.dtype, before[name].dtype, name)
                    self.assertTrue(torch.equal(x, before[name]), name)
            for name, x in copy.deepcopy(layer).double().named_buffers():
                self.assertEqual(x.dtype, torch.float64 if before[name].is_floating_point() else torch.int64, name)

    def test_bfloat16_layers_train(self):
        for layer in layers():
            narrow = layer.bfloat16()
            y = narrow(torch.randn(3, 5, 8, dtype=torch.bfloat16))
            y.sum().backward()
            self.assertEqual(y.dtype, torch.bfloat16)
            self.assertTrue(all(torch.isfinite(x).all() for x in narrow.buffers()))

    def test_copies_pickles_and_state_dicts_continue_alike(self):
        for layer in layers():
            trained(layer)
            loaded = copy.deepcopy(layer)
            for x in loaded.state_dict().values():
                x.zero_()
            file = io.BytesIO()
            torch.save(layer.state_dict(), file)
            file.seek(0)
            loaded.load_state_dict(torch.load(file))
            for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), loaded):
                self.same_state(trained(other), trained(copy.deepcopy(layer)))

    def test_evaluation_between_steps_leaves_the_state(self):
        for layer in layers():
            with_evaluation = copy.deepcopy(layer)
            trained(layer, 1)
            trained(with_evaluation, 1)
            with_evaluation.eval()(torch.randn(7, 9, 8))
            with_evaluation.train()
            self.same_state(layer, with_evaluation)

    def test_two_forward_passes_before_a_backward_pass(self):
        for layer in layers():
            x = [torch.randn(2, 5, 8), torch.randn(4, 6, 8)]
            before = copy.deepcopy(layer)
            (layer(x[0]).square().sum() + layer(x[1]).square().sum()).backward()
            outputs = [before(each) for each in x]
            for y in outputs:
                y.square().sum().backward()
            for (name, one), other in zip(layer.named_parameters(), before.parameters()):
                if one.grad is not None:
                    torch.testing.assert_close(one.grad, other.grad, msg=name)

    def test_checkpointing_takes_one_step(self):
        for layer in layers():
            plain, apart, nested = (copy.deepcopy(layer) for _ in range(3))
            torch.manual_seed(3)
            batches = [torch.randn(2, 5, 8) for _ in range(4)]
            twice = lambda part, x: checkpointed(lambda y: checkpointed(part, y), x)
            for model, through in ((plain, lambda part, x: part(x)), (apart, checkpointed), (nested, twice)):
                for pair in (batches[:2], batches[2:]):  # two forward passes before a backward pass
                    inputs = [x.clone().requires_grad_() for x in pair]
                    sum(through(model, x).square().sum() for x in inputs).backward()
                    model.gradients = [x.grad for x in inputs]
            for model in (apart, nested):
                self.same_state(plain, model)
                for (name, one), other in zip(plain.named_parameters(), model.parameters()):
                    torch.testing.assert_close(one.grad, other.grad, rtol=0, atol=0, msg=name)
                for one, other in zip(plain.gradients, model.gradients):
                    torch.testing.assert_close(one, other, rtol=0, atol=0)

    def test_checkpointing_that_cannot_be_followed_is_refused_by_name(self):
        for layer in layers():
            x = torch.randn(2, 5, 8, requires_grad=True)
            y = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=True)
            with self.assertRaisesRegex(RuntimeError, "^[a-z_]+: gradient checkpointing repeats this forward pass"):
                y.sum().backward()

    def test_an_empty_batch_leaves_the_cache(self):
        for kind in (nn.GatedRecurrentCache(8, 5), nn.FifoCache(8, 5)):
            layer = trained(nn.CachedAttention(8, 2, kind))
            before = layer.cache.tokens.clone()
            layer(torch.randn(0, 5, 8))
            self.assertTrue(torch.equal(layer.cache.tokens, before))

    def test_compiled_without_a_break(self):
        for layer in layers():
            torch._dynamo.reset()
            compiled = torch.compile(copy.deepcopy(layer), fullgraph=True, dynamic=True, backend="aot_eager")
            for batch in (4, 6):
                x = torch.randn(batch, 7, 8)
                torch.testing.assert_close(compiled(x), layer(x))
            for (name, one), other in zip(layer.named_buffers(), compiled.buffers()):
                torch.testing.assert_close(other, one, msg=name)

    def test_pooling_shortens_the_grid_before_interpolation(self):
        cache = nn.GatedRecurrentCache(8, 1 + 4, pool=2)
        x = torch.randn(2, 1 + 3 * 4, 8)
        pooled = torch.nn.functional.avg_pool2d(x[:, 1:, :4].mT.reshape(2, 4, 3, 4), 2, 2, ceil_mode=True).flatten(2).mT
        cache.step(x, x, nn.Layout((3, 4), 1))
        unpooled = nn.GatedRecurrentCache(8, 1 + 4)
        unpooled.load_state_dict({**cache.state_dict(), "tokens": torch.zeros(1, 5, 4)})
        short = torch.cat([torch.cat([x[:, :1, :4], pooled], 1), torch.zeros(2, 5, 4)], 2)
        unpooled.step(short, short, nn.Layout())
        torch.testing.assert_close(cache.tokens, unpooled.tokens)
        with self.assertRaisesRegex(ValueError, "pooling needs tokens on a grid"):
            cache.step(x, x, nn.Layout())

    def test_bad_options_are_value_errors_of_one_line(self):
        calls = {
            "ratio must be above 0": lambda: nn.FifoCache(8, 5, ratio=0),
            "leaves no channel": lambda: nn.FifoCache(1, 5),
            "length must be at least 1": lambda: nn.GatedRecurrentCache(8, 0),
            'variant: "own" is not one of "paper", "official"': lambda: nn.GatedRecurrentCache(8, 5, variant="own"),
            "pool must be at least 1": lambda: nn.GatedRecurrentCache(8, 5, pool=0),
            "the number of memory channels, but 3 does not divide 4": lambda: nn.CachedAttention(8, 3, nn.FifoCache(8, 5)),
            'kernel_attention: form: "relu" is not one of': lambda: nn.KernelAttention(2, 4, "relu"),
            'and "orthogonal_linear"; got 2 for "linear"': lambda: nn.KernelAttention(2, 4, "linear", layers=2),
            "gate_rank must be from 0 to the number of channels of a head, 4, got 5": lambda: nn.KernelAttention(2, 4, "aoglu", gate_rank=5),
            "penalty must be at least 0": lambda: nn.KernelAttention(2, 4, penalty=-1),
            "needs at least one head": lambda: nn.KernelAttention(0, 4),
            "num_heads must divide dim, but 3 does not divide 8": lambda: nn.MultiHeadAttention(8, 3),
            "does not divide 8": lambda: nn.CachedAttention(8, 1, nn.FifoCache(8, 5, ratio=0.7), positional_convolution=True),
        }
        for words, call in calls.items():
            with self.subTest(words), self.assertRaises(ValueError) as raised:
                call()
            self.assertIn(words, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
