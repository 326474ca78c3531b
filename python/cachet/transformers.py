"""Models of Transformers with the attention functions and caches of this package.

`import cachet.transformers` registers two implementations of attention. "cachet_elu" is linear attention without
weights (arXiv 2006.16236), for `from_pretrained(…, attn_implementation="cachet_elu")`. "cachet" is attention with
trained feature maps, which `use_kernels` adds to a model. `save_pretrained` saves a model with caches or feature maps,
and `from_pretrained` of this module opens the saved model.
"""
from __future__ import annotations

import pathlib
from typing import Any

import torch
from torch import Tensor, nn

from cachet._added import CachesAdded
from cachet._added import add_cache as _add_cache
from cachet.nn import KernelAttention, KernelForm

try:
    import transformers
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import flash_attention_mask
except ImportError as error:
    raise ImportError(
        f"cachet.transformers needs transformers ({error}); run: pip install transformers"
    ) from None

_ELU: dict[tuple[int, int], KernelAttention] = {}


def _attend(
    kernels: KernelAttention,
    module: nn.Module,
    heads: tuple[Tensor, Tensor, Tensor],
    attention_mask: Tensor | None,
    options: dict[str, Any],
) -> tuple[Tensor, None]:
    query, key, value = heads
    if options.get("dropout"):
        raise ValueError(
            "cachet.transformers: kernel attention has no dropout; set attention_probs_dropout_prob or "
            "attention_dropout of the model's configuration to 0"
        )
    groups = query.shape[1] // key.shape[1]
    if groups > 1:  # heads that share keys and values
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    causal = options.get("is_causal")
    causal = bool(getattr(module, "is_causal", False)) if causal is None else bool(causal)
    padding = None
    if attention_mask is not None:
        if attention_mask.dim() != 2:
            raise ValueError("cachet.transformers: kernel attention needs a mask of tokens, not of pairs of tokens")
        padding = ~attention_mask.bool()
    attended = kernels(query, key, value, padding=padding, causal=causal and query.shape[2] > 1)
    return attended.transpose(1, 2).contiguous(), None


def attend_elu(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **options: Any
) -> tuple[Tensor, None]:
    """Computes linear attention with the features elu(x) + 1.

    Like the attention functions of Transformers, this function takes heads (B, H, L, d), and returns a tensor (B, L, H,
    d) and None.
    """
    size = query.shape[1], query.shape[3]
    kernels = _ELU.setdefault(size, KernelAttention(*size, "elu"))
    return _attend(kernels, module, (query, key, value), attention_mask, options)


def attend(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **options: Any
) -> tuple[Tensor, None]:
    """Computes kernel attention with the trained feature maps that use_kernels has added to `module`.

    Like the attention functions of Transformers, this function takes heads (B, H, L, d), and returns a tensor (B, L, H,
    d) and None.
    """
    kernels = getattr(module, "cachet_kernels", None)
    if not isinstance(kernels, KernelAttention):
        raise ValueError(
            f'cachet.transformers: a {type(module).__name__} has no kernels for attn_implementation="cachet"; call '
            "cachet.transformers.use_kernels(model)"
        )
    return _attend(kernels, module, (query, key, value), attention_mask, options)


def use_kernels(model: Any, form: KernelForm = "glu", **options: Any) -> list[str]:
    """Replaces the softmax of each attention module by a trained feature map, in place: cachet.nn.KernelAttention.

    The projections keep their weights. The feature maps have new, untrained weights, so train the model before you
    evaluate it. The configuration stores the form and the options, so `from_pretrained` of this module can make the
    model again.

    Args:
        model: a PreTrainedModel whose attention modules call the attention interface of Transformers, such as a ViT or
            BERT.
        form: the form of the feature map, see cachet.nn.KernelAttention.
        options: options of cachet.nn.KernelAttention.

    Returns:
        A list with the names of the attention modules that got feature maps.

    Raises:
        ValueError: If an option is out of its range, or if the model has no attention module that supports feature
            maps.
    """
    named = []
    for name, module in model.named_modules():
        heads = getattr(module, "num_attention_heads", None) or getattr(
            getattr(module, "config", None), "num_attention_heads", None
        )
        width = getattr(module, "head_dim", getattr(module, "attention_head_size", None))
        if not hasattr(module, "scaling") or not isinstance(heads, int) or not isinstance(width, int):
            continue
        weight = next(module.parameters())
        module.cachet_kernels = KernelAttention(heads, width, form, **options).to(weight.device, weight.dtype)
        named.append(name)
    if not named:
        raise ValueError("use_kernels: no module of the model calls the attention interface of Transformers")
    model.set_attn_implementation("cachet")
    model.config.cachet_kernels = {"form": form, **options}
    return named


def add_cache(model: Any, length: int, **options: Any) -> CachesAdded:
    """Calls cachet.add_cache for a model of Transformers. The model's configuration stores the options.

    Args:
        model: a PreTrainedModel, such as a ViT.
        length: the number of tokens of each cache.
        options: options of cachet.add_cache, except cache.

    Returns:
        The result of cachet.add_cache.

    Raises:
        ValueError: If an option is out of its range, or if no attention module got a cache.
    """
    if "cache" in options:
        raise ValueError("add_cache: a configuration cannot store a function; use cachet.add_cache for your own cache")
    result = _add_cache(model, length, **options)
    kept = {name: value for name, value in options.items() if name != "example"}
    model.config.cachet_cache = {"length": length, **kept}
    return result


def from_pretrained(kind: Any, folder: str | pathlib.Path) -> Any:
    """Opens a model with feature maps or caches from a local folder that save_pretrained wrote.

    Args:
        kind: the class of the model, or an auto class such as transformers.AutoModelForImageClassification.
        folder: a folder with config.json and weights in safetensors files.

    Returns:
        The model, in evaluation mode.

    Raises:
        FileNotFoundError: If the folder has no configuration or no weights.
        RuntimeError: If the weights do not belong to the model.
    """
    folder = pathlib.Path(folder)
    if not (folder / "config.json").is_file() or not list(folder.glob("*.safetensors")):
        raise FileNotFoundError(f"{folder} has no model: there must be config.json and model.safetensors")
    config = transformers.AutoConfig.from_pretrained(folder)
    base = kind._model_mapping[type(config)] if hasattr(kind, "_model_mapping") else kind

    def make(self: Any, config: Any, *arguments: Any, **named: Any) -> None:
        base.__init__(self, config, *arguments, **named)
        if getattr(config, "cachet_kernels", None):
            use_kernels(self, **config.cachet_kernels)
        if getattr(config, "cachet_cache", None):
            add_cache(self, **config.cachet_cache)

    # Transformers loads what the class makes.
    made: Any = type(base.__name__, (base,), {"__init__": make, "__module__": base.__module__})
    model, loaded = made.from_pretrained(folder, config=config, output_loading_info=True)
    wrong = sorted({*loaded["missing_keys"], *loaded["unexpected_keys"]})
    if wrong:
        raise RuntimeError(f"{folder}: these weights are missing or unexpected: {', '.join(map(str, wrong))}")
    model.__class__ = base
    return model.eval()


def _mask_of_tokens(*arguments: Any, **named: Any) -> Tensor | None:
    mask = flash_attention_mask(*arguments, **named)
    return mask if mask is None or isinstance(mask, torch.Tensor) else None


for _name, _function in (("cachet", attend), ("cachet_elu", attend_elu)):
    AttentionInterface.register(_name, _function)
    AttentionMaskInterface.register(_name, _mask_of_tokens)

__all__ = ["add_cache", "attend", "attend_elu", "from_pretrained", "use_kernels"]
