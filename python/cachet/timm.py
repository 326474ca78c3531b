"""Models of timm with the caches, norms and attention functions of this package.

`import cachet.timm` registers a model `cachet_<name>` with timm for each name of BASES. For example, call
timm.create_model("cachet_vit_small_patch16_224", pretrained=True, cache_length=64, norm="un"). The weights have timm's
names, so you can load timm's weights. The parts of the cache have the same names as in the C++ library.
"""
from __future__ import annotations

from typing import Any, Literal, NamedTuple

from torch import Tensor, nn

from cachet._added import add_cache
from cachet._replace import NormKind, replace_norms
from cachet.nn import KernelAttention, KernelForm, Layout, MultiHeadAttention, SpatialReductionAttention

try:
    import timm
    from timm.models import register_model
except ImportError as error:
    raise ImportError(f"cachet.timm needs timm ({error}); run: pip install timm") from None

#: Models of timm that are registered with a cache, as cachet_<name>.
BASES = (
    "vit_tiny_patch16_224",
    "vit_small_patch16_224",
    "vit_base_patch16_224",
    "swin_tiny_patch4_window7_224",
    "swin_small_patch4_window7_224",
    "swin_base_patch4_window7_224",
    "pvt_v2_b0",
    "pvt_v2_b1",
    "pvt_v2_b2",
    "pvt_v2_b3",
    "pvt_v2_b4",
    "pvt_v2_b5",
)


class AttentionsReplaced(NamedTuple):
    """The result of replace_attention.

    Attributes:
        replaced: the names of the attention modules that were replaced.
        left: the names of the attention modules that were not replaced, each with the reason.
    """

    replaced: list[str]
    left: dict[str, str]


class _Plain(MultiHeadAttention):
    """MultiHeadAttention with the arguments of timm's attention."""

    def forward(self, x: Tensor, attn_mask: Tensor | None = None, is_causal: bool = False) -> Tensor:  # type: ignore[override]
        """(B, L, D) -> (B, L, D)."""
        if attn_mask is not None:
            raise ValueError("cachet.timm: kernel attention cannot use a mask for pairs of tokens")
        return super().forward(x, None, Layout(causal=is_causal))


class _Reduced(SpatialReductionAttention):
    """SpatialReductionAttention with the arguments of the attention in timm's PVT v2."""

    def forward(self, x: Tensor, feat_size: tuple[int, int]) -> Tensor:  # type: ignore[override]
        """(B, H·W, D) -> (B, H·W, D)."""
        return super().forward(x, None, Layout((feat_size[0], feat_size[1])))


def replace_attention(model: nn.Module, form: KernelForm = "glu", **options: Any) -> AttentionsReplaced:
    """Replaces the softmax attention of a ViT or PVT v2 of timm by kernel attention, in place.

    The projections keep their weights. The feature maps have new, untrained weights, so train the model before you
    evaluate it.

    Args:
        model: a model of timm.
        form: the form of the feature map, see cachet.nn.KernelAttention.
        options: options of cachet.nn.KernelAttention.

    Returns:
        The result lists the replaced attention modules, and the attention modules that were not replaced, each with the
        reason.

    Raises:
        ValueError: If an option is out of its range, or if no attention module was replaced.
    """
    result = AttentionsReplaced([], {})
    for name, module in list(model.named_modules()):
        if type(module).__name__ not in ("Attention", "WindowAttention", "AttentionRope"):
            continue
        made = _with_kernels(module, form, options)
        if isinstance(made, str):
            result.left[name] = made
            continue
        parent, _, child = name.rpartition(".")
        setattr(model.get_submodule(parent), child, made.train(module.training))
        result.replaced.append(name)
    if not result.replaced:
        left = "; ".join(f"{name}: {reason}" for name, reason in result.left.items()) or "none found"
        raise ValueError(f"replace_attention: no attention can be replaced ({left})")
    return result


def _with_kernels(module: Any, form: KernelForm, options: dict[str, Any]) -> nn.Module | str:
    """Returns kernel attention with the weights of the module, or the reason why this is not possible."""
    if type(module).__name__ != "Attention" or not hasattr(module, "proj"):
        return f"a {type(module).__name__} adds a bias or a rotation to pairs of tokens, which kernels cannot do"
    parts = [getattr(module, part, None) for part in ("q_norm", "k_norm", "gate")]
    if any(part is not None and not isinstance(part, nn.Identity) for part in parts):
        return "it normalizes queries or gates its output"
    if module.attn_drop.p > 0 or module.proj_drop.p > 0:
        return "it has dropout, which kernel attention does not support"
    dim, heads = module.proj.out_features, module.num_heads
    if dim != heads * module.head_dim:
        return "its number of channels is not num_heads · head_dim"
    function = KernelAttention(heads, dim // heads, form, **options)
    made: MultiHeadAttention
    if hasattr(module, "qkv"):
        made = _Plain(dim, heads, qkv_bias=module.qkv.bias is not None, function=function)
    else:
        pools = getattr(module, "pool", None) is not None
        ratio = module.sr.kernel_size[0] if module.sr is not None else 1
        made = _Reduced(
            dim, heads, ratio=ratio, form="pooling" if pools else "convolution",
            qkv_bias=module.q.bias is not None, function=function,
        )  # fmt: skip
        if made.reduces and isinstance(module.norm, nn.Module):
            made.norm = module.norm
    weights = module.state_dict()
    missing, unexpected = made.load_state_dict(weights, strict=False)
    if unexpected or any(not name.startswith("function.") for name in missing):
        return f"its weights have other names: {', '.join([*missing, *unexpected])}"
    return made.to(module.proj.weight.device, module.proj.weight.dtype)


def with_cache(
    model: nn.Module,
    *,
    cache_length: int = 64,
    cache_ratio: float = 0.5,
    cache: Literal["grc", "fifo"] = "grc",
    share_start: float = -4.0,
    norm: NormKind | None = None,
    attention: KernelForm | None = None,
) -> nn.Module:
    """Adds caches to a model of timm, in place, and returns the model.

    If `norm` is given, with_cache also replaces the norms. If `attention` is given, with_cache also replaces the
    attention.

    Args:
        model: a ViT, Swin or PVT v2 of timm.
        cache_length: the number of tokens of each cache.
        cache_ratio: the number of channels of the cache, divided by the number of channels of the layer.
        cache: "grc": a gated recurrent cache. "fifo": a first-in-first-out cache.
        share_start: the value of λ before training.
        norm: the kind of norm, see cachet.replace_norms. If `norm` is not given, the norms are not replaced.
        attention: the form of the feature map, see replace_attention. If `attention` is not given, the model keeps its
            softmax attention.

    Raises:
        ValueError: If an option is out of its range, or if the model has no module that with_cache can replace.
    """
    if attention is not None:
        replace_attention(model, attention)
    if norm is not None:
        replace_norms(model, norm)
    add_cache(model, cache_length, kind=cache, ratio=cache_ratio, share_start=share_start)
    return model


_OWN = ("cache_length", "cache_ratio", "cache", "share_start", "norm", "attention")


def _register(base: str) -> None:
    def make(pretrained: bool = False, **options: Any) -> nn.Module:
        own = {name: options.pop(name) for name in _OWN if name in options}
        return with_cache(timm.create_model(base, pretrained=pretrained, **options), **own)

    make.__name__ = make.__qualname__ = f"cachet_{base}"
    make.__doc__ = f"{base} of timm with a cache in each attention; see with_cache."
    globals()[make.__name__] = register_model(make)


__all__ = ["BASES", "AttentionsReplaced", "replace_attention", "with_cache"]
for _base in BASES:
    _register(_base)
