"""Replaces norms in models that were not made with Cachet."""
from __future__ import annotations

import fnmatch
from typing import Literal, NamedTuple

from torch import nn

from cachet import ops
from cachet.nn import MABN, PowerNorm, UnifiedNorm

NormKind = Literal["un", "mabn", "pn", "pn_star"]
_KINDS = ("un", "mabn", "pn", "pn_star")
Settings = ops.UnifiedNormSettings | ops.PowerNormSettings


class NormsReplaced(NamedTuple):
    """The result of replace_norms.

    Attributes:
        replaced: the names of the norms that were replaced.
        left: the names of the norms that were not replaced, each with the reason.
    """

    replaced: list[str]
    left: dict[str, str]


def replace_norms(
    model: nn.Module, kind: NormKind = "un", *, settings: Settings | None = None, only: str = "*"
) -> NormsReplaced:
    """Replaces the LayerNorms of a model, in place, by norms that need no statistics of their input at inference.

    The new norms get the weights and biases of the LayerNorms. The new norms have no statistics yet, so train the model
    before you evaluate it.

    Args:
        model: a model, such as a model of timm. Only LayerNorms over the last dimension of tokens (…, C) are replaced.
        kind: "un": unified normalization. "mabn": moving average batch normalization. "pn": power normalization with
            group scaling. "pn_star": power normalization without group scaling.
        settings: the options of the norms: UnifiedNormSettings for the kind "un", PowerNormSettings for "pn" and
            "pn_star". If `settings` is not given, the options of the papers are used.
        only: a pattern of names, such as "blocks.*". Only norms whose names match the pattern are replaced.

    Returns:
        The result lists the replaced norms, and the norms that were not replaced, each with the reason.

    Raises:
        ValueError: If the kind is not valid, the settings do not belong to the kind, or no norm was replaced.
    """
    _check(kind, settings)
    done: dict[int, nn.Module] = {}
    result = NormsReplaced([], {})
    for parent_name, parent in list(model.named_modules()):
        for child_name, child in list(parent.named_children()):
            name = f"{parent_name}.{child_name}" if parent_name else child_name
            if not _is_norm(child) or not fnmatch.fnmatchcase(name, only):
                continue
            reason = _why_left(parent, child)
            if reason is not None:
                result.left[name] = reason
                continue
            if id(child) not in done:
                done[id(child)] = _replacement(child, kind, settings)
            setattr(parent, child_name, done[id(child)])
            result.replaced.append(name)
    if not result.replaced:
        left = "; ".join(f"{name}: {reason}" for name, reason in result.left.items()) or "none found"
        raise ValueError(f'replace_norms: no LayerNorm whose name matches "{only}" can be replaced ({left})')
    return result


def _check(kind: str, settings: Settings | None) -> None:
    if kind not in _KINDS:
        words = ", ".join(f'"{each}"' for each in _KINDS)
        raise ValueError(f'replace_norms: kind: "{kind}" is not one of {words}')
    taken = {"un": ops.UnifiedNormSettings, "pn": ops.PowerNormSettings, "pn_star": ops.PowerNormSettings}.get(kind)
    if settings is not None and (taken is None or not isinstance(settings, taken)):
        wanted = "no settings" if taken is None else taken.__name__
        raise ValueError(f'replace_norms: "{kind}" takes {wanted}, got {type(settings).__name__}')


def _is_norm(module: nn.Module) -> bool:
    known = (nn.LayerNorm, nn.GroupNorm, nn.RMSNorm, nn.modules.batchnorm._BatchNorm)
    return isinstance(module, known) or (type(module).__name__.endswith("LayerNorm2d"))


def _why_left(parent: nn.Module, norm: nn.Module) -> str | None:
    """Returns the reason why a norm cannot be replaced, or None if it can be replaced."""
    if not isinstance(norm, nn.LayerNorm) or type(norm).__name__.endswith("2d"):
        return f"it is a {type(norm).__name__}, and only LayerNorms over the channels of tokens are replaced"
    if len(norm.normalized_shape) != 1:
        return f"it normalizes over {len(norm.normalized_shape)} dimensions, and not only over channels"
    if not norm.elementwise_affine:
        return "it has no weight, so the next layer determines the scale"
    if isinstance(parent, nn.TransformerEncoderLayer):
        return "in evaluation, torch's TransformerEncoderLayer reads its LayerNorms without calling them"
    return None


def _replacement(norm: nn.Module, kind: str, settings: Settings | None) -> nn.Module:
    assert isinstance(norm, nn.LayerNorm)
    channels = norm.normalized_shape[0]
    made: UnifiedNorm | MABN | PowerNorm
    if kind == "un":
        made = UnifiedNorm(channels, settings if isinstance(settings, ops.UnifiedNormSettings) else None)
    elif kind == "mabn":
        made = MABN(channels)
    else:
        own = settings if isinstance(settings, ops.PowerNormSettings) else None
        made = PowerNorm(channels, own, group_scaling=kind == "pn")
    made.to(norm.weight.device, norm.weight.dtype)
    made.weight.data.copy_(norm.weight.data)
    if norm.bias is not None:
        made.bias.data.copy_(norm.bias.data)
    made.weight.requires_grad_(norm.weight.requires_grad)
    made.bias.requires_grad_(norm.weight.requires_grad if norm.bias is None else norm.bias.requires_grad)
    return made.train(norm.training)
