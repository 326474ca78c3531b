"""Exported programs that run without this package, because they call only PyTorch's own operators."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_ops = torch.ops.cachet


def _linear_gelu(x: Tensor, weight: Tensor, bias: Tensor, keep_product: bool = True) -> tuple[Tensor, Tensor]:
    product = functional.linear(x, weight)
    return functional.gelu(product + bias), product if keep_product else x.new_empty(0)


def _scale_shift(x: Tensor, scale: Tensor, shift: Tensor | None = None) -> Tensor:
    scaled = x.to(scale.dtype) * scale
    return (scaled if shift is None else scaled + shift).to(x.dtype)


def _mix_heads(own: Tensor, memory: Tensor, logit: Tensor) -> Tensor:
    gate = logit.sigmoid().view(1, 1, -1, 1).to(own.dtype)
    return gate * functional.pad(memory, (0, own.shape[3] - memory.shape[3])) + (1 - gate) * own


def _permute_tokens(x: Tensor, index: Tensor, inverse: Tensor) -> Tensor:
    return x.index_select(1, index.clamp_min(0)).masked_fill((index < 0).unsqueeze(-1), 0)


def _token_convolution(
    tokens: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    addend: Tensor | None,
    height: int,
    width: int,
    class_tokens: int = 0,
    gelu: bool = False,
) -> Tensor:
    dim = tokens.shape[2]
    image = tokens[:, class_tokens:].transpose(1, 2).reshape(-1, dim, height, width)
    y = functional.conv2d(image, weight, bias, padding=1, groups=dim // weight.shape[1]).flatten(2).transpose(1, 2)
    if class_tokens:
        y = functional.pad(y, (0, 0, class_tokens, 0))
    if addend is not None:
        y = addend + y
    return functional.gelu(y) if gelu else y


def _attention_weights(scores: Tensor, bias: Tensor | None, scale: float) -> Tensor:
    scaled = scores * scale
    if bias is not None:
        windows = bias.shape[0]
        scaled = (scaled.view(-1, windows, *scaled.shape[1:]) + bias).flatten(0, 1)
    none = scaled.amax(-1, keepdim=True) == -math.inf
    return scaled.masked_fill(none, 0).softmax(-1).masked_fill(none, 0).to(scores.dtype)


def _softmax_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None = None,
    padding: Tensor | None = None,
    causal: bool = False,
    dropout: float = 0.0,
) -> Tensor:
    k, v = k.expand(q.shape[0], -1, -1, -1), v.expand(q.shape[0], -1, -1, -1)
    visible = None if padding is None else ~padding[:, None, None, :]
    if causal and q.shape[2] != 1:
        places = torch.arange(k.shape[2], device=q.device)
        last = torch.arange(q.shape[2], device=q.device) + (k.shape[2] - q.shape[2])
        earlier = places <= last.unsqueeze(1)
        visible = earlier if visible is None else visible & earlier
    if bias is None:
        attended = functional.scaled_dot_product_attention(q, k, v, visible, dropout)
    else:
        if bias.dim() == 4 and bias.shape[0] != 1:
            bias = bias.repeat(q.shape[0] // bias.shape[0], 1, 1, 1)
        mask = bias.to(q.dtype)
        if visible is not None:
            mask = torch.where(visible, mask, -math.inf)
        attended = functional.scaled_dot_product_attention(q, k, v, mask, dropout)
    if padding is not None and visible is not None:
        attended = torch.where(visible.any(-1, keepdim=True), attended, 0.0)  # a query that sees no key
    # The heads of a token side by side, whichever layout PyTorch's form has: what follows was traced with this one.
    return attended.transpose(1, 2).clone(memory_format=torch.contiguous_format).transpose(1, 2)


_FORMS: dict[str, Callable[..., Any]] = {
    "attention_weights": _attention_weights,
    "linear": functional.linear,
    "linear_gelu": _linear_gelu,
    "mix_heads": _mix_heads,
    "permute_tokens": _permute_tokens,
    "scale_shift": _scale_shift,
    "softmax_attention": _softmax_attention,
    "token_convolution": _token_convolution,
}


def portable(program: ExportedProgram) -> ExportedProgram:
    """Replaces the operators of this package in an exported program by operators of PyTorch.

    The resulting program runs without this package, also in engines that read PyTorch programs, such as ONNX Runtime
    (torch.onnx.export) and OpenVINO (openvino.convert_model). The outputs of the resulting program equal those of the
    original program, except for rounding.

    Args:
        program: a program that torch.export.export made from a model in evaluation mode.

    Returns:
        The program with PyTorch's operators.

    Raises:
        ValueError: If the program has operators that cannot be replaced. The message names these operators.
    """
    forms = {getattr(_ops, name).default: form for name, form in _FORMS.items()}
    written: ExportedProgram = program.run_decompositions(forms)
    targets = {str(node.target) for node in written.graph.nodes if node.op == "call_function"}
    left = sorted(target.split(".")[1] for target in targets if target.startswith("cachet."))
    if left:
        raise ValueError(f"portable: these operators of Cachet have no form in PyTorch's operators: {', '.join(left)}")
    return written
