"""Folds norms that are affine maps in evaluation into the layers that read them."""
from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.fx import Node

from cachet.nn import MABN, PowerNorm, UnifiedNorm

_Foldable = UnifiedNorm | MABN | PowerNorm
# What moves, copies or averages tokens, channel by channel.
_MOVES = {
    "adaptive_avg_pool1d", "alias", "clone", "contiguous", "detach", "dropout", "expand", "expand_as", "flatten",
    "flip", "getitem", "index_select", "lift_fresh", "mean", "pad", "constant_pad_nd", "permute", "permute_tokens",
    "reshape", "roll", "select", "slice", "squeeze", "t", "transpose", "unflatten", "unsqueeze", "view", "_to_copy",
    "to", "_unsafe_view", "unbind", "chunk", "split",
}  # fmt: skip


class NormsFolded(NamedTuple):
    """The result of fold.

    Attributes:
        folded: the names of the folded norms, each with the names of the linear layers into which it was folded.
        left: the names of the norms that were not folded, each with the reason.
    """

    folded: dict[str, list[str]]
    left: dict[str, str]


class Folded(nn.Module):
    """The identity, in place of a norm that was folded into the next layers."""

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        """Returns x."""
        return x


class _Reader(NamedTuple):
    """A linear layer that reads the output of a norm: its name, and the channel of the norm for each input."""

    name: str
    channels: tuple[int, ...]


def fold(model: nn.Module, example: Any) -> NormsFolded:
    """Folds norms into the linear layers that read them, in place: arXiv 2208.01313, Algorithm 1.

    torch.export traces the model with the example as input. The traced program shows which layers read the output of a
    norm. A norm is folded only if all layers that read its output are linear. Therefore folding does not change the
    outputs of the model, except for rounding. The folded model can be used only in evaluation.

    Args:
        model: a model in evaluation mode, with norms such as UnifiedNorm.
        example: an input of the model: a tensor, or a tuple of several tensors.

    Returns:
        The result lists the folded norms, each with the names of the linear layers into which it was folded. The result
        also lists the norms that were not folded, each with the reason.

    Raises:
        ValueError: If the model is in training mode, or if no norm was folded.
    """
    if model.training:
        raise ValueError("fold: norms can be folded only in evaluation; call eval() first")
    norms = {name: module for name, module in model.named_modules() if isinstance(module, _Foldable)}
    result = NormsFolded({}, {})
    readers = _readers(model, example, norms) if norms else {}
    for name, norm in norms.items():
        found = readers.get(name, "the forward pass of the example does not use the norm")
        affine = norm.inference_affine()
        if affine is None:
            found = "with group scaling, the norm computes statistics of its input"
        if isinstance(found, str) or affine is None:
            result.left[name] = str(found)
            continue
        scale, shift = (part.detach().double() for part in affine)
        for reader in found:
            _take_in(model.get_submodule(reader.name), scale[list(reader.channels)], shift[list(reader.channels)])
        parent, _, child = name.rpartition(".")
        setattr(model.get_submodule(parent), child, Folded().eval())
        result.folded[name] = sorted({reader.name for reader in found})
    if not result.folded:
        left = "; ".join(f"{name}: {reason}" for name, reason in result.left.items()) or "none found"
        raise ValueError(f"fold: no norm can be folded ({left})")
    return result


def _take_in(linear: nn.Module, scale: Tensor, shift: Tensor) -> None:
    """Changes W and b. The new W·x + b equals the earlier W·(s·x + t) + b, with the scale s and the shift t."""
    assert isinstance(linear, nn.Linear)
    with torch.no_grad():
        weight = linear.weight.double()
        moved = weight @ shift
        if linear.bias is None and bool(moved.any()):
            linear.bias = nn.Parameter(torch.zeros_like(linear.weight[:, 0]), requires_grad=linear.weight.requires_grad)
        if linear.bias is not None:
            linear.bias.copy_(linear.bias.double() + moved)
        linear.weight.copy_(weight * scale)


def _readers(model: nn.Module, example: Any, norms: dict[str, Any]) -> dict[str, list[_Reader] | str]:
    """Returns the layers that read each norm, or the reason why the norm cannot be folded."""
    inputs = example if isinstance(example, tuple) else (example,)
    with torch.no_grad():
        program = torch.export.export(model, inputs, strict=False)
    parameters = program.graph_signature.inputs_to_parameters
    found: dict[str, list[_Reader] | str] = {}
    used = [parameters.get(str(node.args[1])) for node in program.graph.nodes if _is_linear(node)]
    for node in program.graph.nodes:
        if node.op != "call_function" or "scale_shift" not in str(node.target):
            continue
        name = _module_of(node, norms)
        if name is None:
            continue
        channels = torch.arange(1, norms[name].channels + 1, dtype=torch.float64)
        traced = _follow(node, channels.expand(node.meta["val"].shape), parameters)
        earlier = found.get(name, [])
        if isinstance(traced, str) or isinstance(earlier, str):
            found[name] = traced if isinstance(traced, str) else earlier
            continue
        found[name] = list(dict.fromkeys(earlier + traced))
    for name, all_readers in found.items():
        if isinstance(all_readers, str):
            continue
        names = [reader.name for reader in all_readers]
        calls = sum(used.count(f"{each}.weight") for each in set(names))
        if len(names) != len(set(names)) or calls != len(names):
            found[name] = f"these layers also read other tokens: {', '.join(sorted(set(names)))}"
    return found


def _is_linear(node: Node) -> bool:
    return node.op == "call_function" and str(node.target) in ("aten.linear.default", "cachet.linear.default")


def _module_of(node: Node, norms: dict[str, Any]) -> str | None:
    """Returns the name of the norm to which a node of the program belongs, or None."""
    paths = [path for path, _ in node.meta.get("nn_module_stack", {}).values()]
    return next((path for path in reversed(paths) if path in norms), None)


def _follow(node: Node, marked: Tensor, parameters: dict[str, str]) -> list[_Reader] | str:
    """Returns the linear layers that read a node, or the reason why the norm cannot be folded.

    The values of channel c are c + 1 in the tensor marked, so that the channel can be found after other operations.
    """
    readers: list[_Reader] = []
    for user in node.users:
        word = str(user.target).split(".")[1] if "." in str(user.target) else getattr(user.target, "__name__", "")
        if _is_linear(user) and user.args[0] is node and user.args[1] is not node:
            rows = marked.reshape(-1, marked.shape[-1])
            weight = parameters.get(str(user.args[1]), "")
            bias = user.args[2] if len(user.args) > 2 else None
            if not weight.endswith(".weight") or (bias is not None and str(bias) not in parameters):
                return "a linear layer reads the norm, but has a weight or bias that is not a parameter"
            if len(rows) == 0 or not bool((rows == rows[0]).all()) or bool((rows[0] < 0.5).any()):
                return "zeros are added to its output, or its channels are mixed"
            readers.append(_Reader(weight.removesuffix(".weight"), tuple(int(c) - 1 for c in rows[0].tolist())))
            continue
        if user.op != "call_function" or word not in _MOVES:
            return f"the operation {word or user.op} also reads the norm"
        moved = _moved(user, node, marked)
        if isinstance(moved, str):
            return moved
        beyond = _follow_all(user, moved, parameters)
        if isinstance(beyond, str):
            return beyond
        readers += beyond
    return readers or "no layer reads the norm"


def _follow_all(node: Node, moved: Any, parameters: dict[str, str]) -> list[_Reader] | str:
    if isinstance(moved, Tensor):
        return _follow(node, moved, parameters)
    readers: list[_Reader] = []
    for user in node.users:  # parts of a list
        if user.target is not operator.getitem:
            return "an operation reads all parts of the norm output as one list"
        part = _follow(user, moved[user.args[1]], parameters)
        if isinstance(part, str):
            return part
        readers += part
    return readers


def _moved(user: Node, node: Node, marked: Tensor) -> Any:
    """Returns the marked tensor after the operation of a node, or the reason why the norm cannot be folded."""
    given = [marked if each is node else each for each in user.args]
    constants = [each for each in given if isinstance(each, Node)]
    named = {key: value for key, value in user.kwargs.items() if key not in ("dtype", "device", "layout")}
    if constants or any(isinstance(value, Node) for value in named.values()):
        values = {each: each.meta.get("val") for each in constants}
        if "permute_tokens" in str(user.target):
            return "cachet.nn cuts the norm output into windows and fills the borders with zeros"
        return f"the operation {user.target} reads the norm and also {', '.join(map(str, values))}"
    if "_to_copy" in str(user.target) or str(user.target).startswith("aten.to."):
        return marked
    target: Callable[..., Any] = user.target  # type: ignore[assignment]
    return target(*given, **named)
