"""Asks every operator that a user calls for second derivatives: each gives the right ones or reports that it has none.

  python tests/python/second_derivatives_test.py build/release/lib/libcachet_ops.so

With CACHET_COMPOSITE=1 in the environment, which the errors recommend, only norms that smooth their gradient have none.
"""
import os
import sys
import traceback
import warnings

import torch
from operator_samples import SAMPLES, public_operators
from torch.utils import _pytree as pytree

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")

COMPOSITE = os.environ.get("CACHET_COMPOSITE", "0") != "0"
SMOOTHED = {"power_norm", "unified_norm"}
# Twice differentiable in every form.
TWICE = {"dropout", "kernel_attention_stream", "kernel_features", "permute_tokens", "resize_tokens", "roi_align"}
# Fused where the processor has a faster product than PyTorch takes.
SOMETIMES_FUSED = {"linear"}
# Calls other operators and PyTorch's fused attention, which have no second derivative and report it by their own names.
OF_OTHERS = {"softmax_attention": ("block_attention: no second derivative", "attention_weights: no second derivative",
                                   "derivative for aten::_scaled_dot_product_flash_attention_for_cpu_backward")}
# Operands in bfloat16 where not all are: weights and state of the others stay float32.
NARROWED = {"grc_update": {1, 2, 4, 6}, "kernel_attention_stream": {0, 1, 2, 3}, "power_norm": {0}, "roi_align": {0},
            "scale_shift": {0}, "unified_norm": {0}}
# Samples that no fused form serves: groups of three channels, causal attention to more keys than queries, and a
# sample's own cache, which is not rounded to bfloat16.
COMPOSED = {("token_convolution", 1), ("kernel_attention", 3)}
COMPOSED_IN_BFLOAT16 = {("grc_update", 1)}
# Of the largest second derivative, against float64: a few roundings of float32 and of bfloat16.
TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 5e-2}


def tensors(tree):
    return [x for x in pytree.tree_leaves(tree) if isinstance(x, torch.Tensor)]


def in_dtype(name, arguments, dtype):
    """The sample with its numbers in a dtype, or in float32 where the operator wants them so."""
    def convert(x, to):
        is_number = isinstance(x, torch.Tensor) and x.is_floating_point()
        return x.detach().to(to, copy=True).requires_grad_(x.requires_grad) if is_number else x

    narrowed = NARROWED.get(name, range(len(arguments))) if dtype == torch.bfloat16 else range(len(arguments))
    return tuple(pytree.tree_map(lambda x: convert(x, dtype if place in narrowed else torch.float32), argument)
                 for place, argument in enumerate(arguments))


def first_derivatives(name, arguments):
    """Gradients of a weighted sum of the results, with their graph."""
    results = [y for y in tensors(getattr(torch.ops.cachet, name)(*arguments)) if y.requires_grad]
    weights = [torch.linspace(-1, 2, y.numel(), dtype=y.dtype).view(y.shape) for y in results]
    wanted = [x for x in tensors(arguments) if x.requires_grad]
    # A result may be linear in an operand: its gradient then has no graph.
    made = torch.autograd.grad(results, wanted, weights, create_graph=True, allow_unused=True)
    return wanted, [g for g in made if g is not None and g.requires_grad]


def second_derivatives(name, arguments):
    wanted, first = first_derivatives(name, arguments)
    if not first:
        return [torch.zeros_like(x) for x in wanted]
    weights = [torch.linspace(2, -1, g.numel(), dtype=g.dtype).view(g.shape) for g in first]
    return torch.autograd.grad(first, wanted, weights, allow_unused=True, materialize_grads=True)


def check_against_differences(name, arguments):
    """gradgradcheck of the operator as a function of what requires a gradient."""
    leaves, structure = pytree.tree_flatten(arguments)
    places = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor) and x.requires_grad]

    def of_differentiable(*given):
        filled = list(leaves)
        for place, x in zip(places, given):
            filled[place] = x
        results = tensors(getattr(torch.ops.cachet, name)(*pytree.tree_unflatten(filled, structure)))
        return tuple(y for y in results if y.requires_grad)

    torch.autograd.gradgradcheck(of_differentiable, [leaves[place] for place in places], fast_mode=True)


def expectation(name, number, dtype):
    """Whether there are second derivatives; None where the processor decides."""
    if name in SMOOTHED:
        return False
    if name in OF_OTHERS:
        return None
    if COMPOSITE or dtype == torch.float64 or name in TWICE or (name, number) in COMPOSED:
        return True
    if dtype == torch.bfloat16 and (name, number) in COMPOSED_IN_BFLOAT16:
        return True
    return None if name in SOMETIMES_FUSED else False


def check(name, number, sample, dtype):
    arguments, expected = in_dtype(name, sample, dtype), expectation(name, number, dtype)
    try:
        found = second_derivatives(name, arguments)
    except RuntimeError as error:
        if name in OF_OTHERS:
            assert str(error).startswith(OF_OTHERS[name]), error
            return
        remedy = "scale_shift" if name in SMOOTHED else "float64"
        assert str(error).startswith(f"{name}: no second derivative") and remedy in str(error), error
        assert "\n" not in str(error), error
        assert not expected, f"refused: {error}"
        return
    assert expected is not False, "an error was to be expected, and none came"
    if dtype == torch.float64:
        check_against_differences(name, arguments)
        return
    exact = second_derivatives(name, in_dtype(name, arguments, torch.float64))
    largest = max(1.0, *(x.abs().max().item() for x in exact))
    for value, reference in zip(found, exact):
        torch.testing.assert_close(value.double() / largest, reference / largest, rtol=0, atol=TOLERANCE[dtype])


def main():
    torch.ops.load_library(sys.argv[1])
    failures, checked = [], 0
    for name in public_operators():
        for dtype in (torch.float64, torch.float32, torch.bfloat16):
            torch.manual_seed(0)
            for number, sample in enumerate(SAMPLES[name]()):
                if not any(x.requires_grad for x in tensors(sample)) or any(x.numel() == 0 for x in tensors(sample)):
                    continue
                try:
                    check(name, number, sample, dtype)
                    checked += 1
                except Exception:
                    failures.append(f"{name}, sample {number}, {dtype}:\n{traceback.format_exc()}")
    print("\n".join(failures), file=sys.stderr)
    print(f"second derivatives: {checked} checks passed, {len(failures)} failures")
    return 1 if failures or not checked else 0


sys.exit(main())
