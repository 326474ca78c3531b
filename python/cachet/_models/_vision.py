"""Classifiers of images: vision transformers, pyramid vision transformers and Swin."""
from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn

from cachet._models._blocks import DepthwiseFeedForward, FeedForward, TransformerBlock
from cachet._models._options import Options
from cachet._models._plug_ins import (
    heads_of,
    make_cache,
    make_function,
    make_norm,
    multi_head,
    normalized,
    self_attention,
    with_cache,
)
from cachet.nn import (
    Cache,
    CachedWindowAttention,
    ConcatenatedCache,
    Layout,
    Linear,
    MultiHeadAttention,
    SpatialReductionAttention,
    WindowAttention,
)
from cachet.nn._cached_attention import Branch
from cachet.nn._windows import WindowOrder

Grid = tuple[int, int]


def _map_of(tokens: Tensor, grid: Grid) -> Tensor:
    return tokens.transpose(1, 2).reshape(tokens.shape[0], -1, *grid)


def _resized(table: Tensor, class_tokens: int, old: Grid, new: Grid, mode: str) -> Tensor:
    """Returns a table of positions, resized to another grid."""
    if old == new:
        return table
    maps = _map_of(table[:, class_tokens:], old)
    maps = nn.functional.interpolate(maps, size=new, mode=mode, align_corners=False, antialias=mode == "bicubic")
    return torch.cat([table[:, :class_tokens], maps.flatten(2).transpose(1, 2)], 1)


class PatchEmbedding(nn.Module):
    """Converts the patches of a map to tokens, with a convolution and an optional norm."""

    def __init__(self, channels: int, dim: int, stride: int, size: int | None = None, norm: nn.Module | None = None):
        super().__init__()
        side = size or stride
        self.proj = nn.Conv2d(channels, dim, side, stride, side // 2 if side > stride else 0)
        self.norm = norm

    def grid(self, size: Grid) -> Grid:
        """Returns the grid of the tokens of a map with this height and width."""
        height, width = (
            (side + 2 * int(self.proj.padding[0]) - self.proj.kernel_size[0]) // self.proj.stride[0] + 1
            for side in size
        )
        return height, width

    def forward(self, images: Tensor) -> tuple[Tensor, Grid]:
        """Images (B, C, H, W) -> the tokens (B, T, dim) and their grid."""
        patches = self.proj(images)
        tokens = patches.flatten(2).transpose(1, 2)
        grid = patches.shape[2], patches.shape[3]
        return (tokens if self.norm is None else normalized(self.norm, tokens)), grid


def _check_images(images: Tensor, channels: int, step: int) -> None:
    if images.dim() != 4 or images.shape[1] != channels or images.shape[2] % step or images.shape[3] % step:
        raise ValueError(
            f"images must be (B, {channels}, H, W) with H and W multiples of {step}, got {list(images.shape)}"
        )


class VisionTransformer(nn.Module):
    """The vision transformer. Its parameters have timm's names."""

    def __init__(self, o: Options) -> None:
        super().__init__()
        dim, self.channels, self.patch = o("embed_dim"), o("channels"), o("patch_size")
        height, width = o.grid()
        self.grid = height // self.patch, width // self.patch
        self.by_mean = o("pooling", "token") == "mean"
        names = [name for name, key in (("cls_token", "class_token"), ("dist_token", "distilled")) if o(key)]
        for name in names:
            setattr(self, name, nn.Parameter(torch.zeros(1, 1, dim)))
        self.class_tokens = len(names)
        tokens = self.class_tokens + self.grid[0] * self.grid[1]
        self.pos_embed = nn.Parameter(nn.init.trunc_normal_(torch.empty(1, tokens, dim), std=o("position_std", 0.02)))
        self.patch_embed = PatchEmbedding(self.channels, dim, self.patch)
        heads = heads_of(o, o("num_heads"))
        self.blocks = nn.ModuleList(
            TransformerBlock(
                make_norm(o, dim, 1e-6),
                self_attention(o, dim, heads, tokens, self.grid, self.class_tokens),
                make_norm(o, dim, 1e-6),
                FeedForward(dim, int(dim * o("mlp_ratio"))),
            )
            for _ in range(o("depth"))
        )
        setattr(self, "fc_norm" if self.by_mean else "norm", make_norm(o, dim, 1e-6))
        self.head = Linear(dim, o("classes"))
        self.distilled = "dist_token" in names
        if self.distilled:
            self.head_dist = Linear(dim, o("classes"))

    def forward(self, images: Tensor) -> Tensor:
        """Images (B, C, H, W), prepared as in training -> logits (B, classes)."""
        _check_images(images, self.channels, self.patch)
        patches, grid = self.patch_embed(images)
        first = [getattr(self, name) for name in ("cls_token", "dist_token") if hasattr(self, name)]
        x = torch.cat([*(each.expand(images.shape[0], -1, -1).to(patches.dtype) for each in first), patches], 1)
        x = x + _resized(self.pos_embed, self.class_tokens, self.grid, grid, "bicubic")
        layout = Layout(grid, self.class_tokens)
        for block in self.blocks:
            x = block(x, layout)
        if self.by_mean:
            return cast(Tensor, self.head(normalized(cast(nn.Module, self.fc_norm), x[:, self.class_tokens :].mean(1))))
        x = normalized(cast(nn.Module, self.norm), x)
        logits = self.head(x[:, 0])
        return cast(Tensor, (logits + self.head_dist(x[:, 1])) / 2 if self.distilled else logits)


class _PyramidStage(nn.Module):
    def __init__(self, o: Options, form: str, i: int, grid: Grid, downsample: PatchEmbedding | None) -> None:
        super().__init__()
        dims, heads = o("embed_dims"), heads_of(o, o("num_heads")[i])
        dim, last = dims[i], i + 1 == len(dims)
        self.grid, self.v1 = grid, form == "v1"
        if downsample is not None:
            self.downsample = downsample
        tokens = grid[0] * grid[1]
        self.class_tokens = 1 if self.v1 and last else 0
        if self.v1:
            self.pos_embed = nn.Parameter(torch.zeros(1, tokens + self.class_tokens, dim))
        if self.class_tokens:
            self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        ratio = 1 if form == "v2_linear" else o("spatial_reductions")[i]
        reduced = 49 if form == "v2_linear" else (grid[0] // ratio) * (grid[1] // ratio)
        pool = o("cache_pools", [1] * len(dims))[i]

        def reducing(width: int, cache: ConcatenatedCache | None = None) -> MultiHeadAttention:
            return SpatialReductionAttention(
                width,
                heads.number,
                ratio=ratio,
                form="pooling" if form == "v2_linear" else "convolution",
                norm=lambda channels: make_norm(o, channels, 1e-5),
                qkv_bias=heads.qkv_bias,
                projection_bias=heads.projection_bias,
                head_dim=heads.width,
                function=make_function(o, heads, width),
                cache=cache,
            )

        def branch(width: int, which: Branch) -> nn.Module:
            if which == "memory" and o("memory_reduction", "as_self") == "none":
                return multi_head(o, width, heads, separate=True)
            return reducing(width)

        def attention() -> nn.Module:
            cache = make_cache(o, dim, self.class_tokens + tokens, grid, self.class_tokens, pool)
            if cache is None:
                return reducing(dim)
            if isinstance(cache, ConcatenatedCache):
                return reducing(dim, ConcatenatedCache(dim, self.class_tokens + reduced))
            return with_cache(o, dim, heads, cache, branch)

        hidden = int(dim * o("mlp_ratios")[i])
        self.blocks = nn.ModuleList(
            TransformerBlock(
                make_norm(o, dim, 1e-6),
                attention(),
                make_norm(o, dim, 1e-6),
                FeedForward(dim, hidden) if self.v1 else DepthwiseFeedForward(dim, hidden, form == "v2_linear"),
            )
            for _ in range(o("depths")[i])
        )
        if not self.v1:
            self.norm = make_norm(o, dim, 1e-6)

    def forward(self, x: Tensor, grid: Grid) -> Tensor:
        if self.v1:
            table = _resized(self.pos_embed, self.class_tokens, self.grid, grid, "bilinear")
            if self.class_tokens:
                x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1).to(x.dtype), x], 1)
            x = x + table
        layout = Layout(grid, self.class_tokens)
        for block in self.blocks:
            x = block(x, layout)
        return x if self.v1 else normalized(self.norm, x)


class PyramidVisionTransformer(nn.Module):
    """PVT and PVT v2 as classifiers of images."""

    def __init__(self, o: Options, form: str) -> None:
        super().__init__()
        dims, self.channels = o("embed_dims"), o("channels")
        self.form = form
        self.step = o("patch_size") << (len(dims) - 1) if form == "v1" else 1

        def patches(channels: int, dim: int, stride: int) -> PatchEmbedding:
            size = stride if form == "v1" else 2 * stride - 1
            return PatchEmbedding(channels, dim, stride, size, make_norm(o, dim, 1e-5))

        self.patch_embed = patches(self.channels, dims[0], o("patch_size"))
        grid = self.patch_embed.grid(o.grid())
        stages = []
        for i, dim in enumerate(dims):
            downsample = patches(dims[i - 1], dim, 2) if i > 0 else None
            grid = grid if downsample is None else downsample.grid(grid)
            stages.append(_PyramidStage(o, form, i, grid, downsample))
        self.stages = nn.ModuleList(stages)
        if form == "v1":
            self.norm = make_norm(o, dims[-1], 1e-6)
        self.head = Linear(dims[-1], o("classes"))

    def forward(self, images: Tensor) -> Tensor:
        """Images (B, C, H, W), prepared as in training -> logits (B, classes)."""
        _check_images(images, self.channels, self.step)
        x, grid = self.patch_embed(images)
        for i, stage in enumerate(self.stages):
            if i > 0:
                x, grid = cast(Any, stage).downsample(_map_of(x, grid))
            x = stage(x, grid)
        return cast(Tensor, self.head(normalized(self.norm, x)[:, 0] if self.form == "v1" else x.mean(1)))


class _PatchMerging(nn.Module):
    def __init__(self, o: Options, dim: int) -> None:
        super().__init__()
        self.norm = make_norm(o, 4 * dim, 1e-5)
        self.reduction = Linear(4 * dim, 2 * dim, bias=False)

    def forward(self, x: Tensor, grid: Grid) -> tuple[Tensor, Grid]:
        maps = x.view(x.shape[0], *grid, -1)
        maps = nn.functional.pad(maps, (0, 0, 0, grid[1] % 2, 0, grid[0] % 2))
        # Above, below, then the same of the column to the right.
        parts = [maps[:, below::2, right::2] for right in (0, 1) for below in (0, 1)]
        merged = torch.cat(parts, 3)
        tokens = self.reduction(normalized(self.norm, merged.flatten(1, 2)))
        return tokens, (merged.shape[1], merged.shape[2])


class _SwinStage(nn.Module):
    def __init__(self, o: Options, i: int, grid: Grid) -> None:
        super().__init__()
        dim, number = o("embed_dim") << i, o("num_heads")[i]
        if i > 0:
            self.downsample = _PatchMerging(o, dim // 2)
        pool = o("cache_pools", [1] * len(o("depths")))[i]
        self.blocks = nn.ModuleList(
            TransformerBlock(
                make_norm(o, dim, 1e-5),
                self._attention(o, dim, number, pool, grid, shifted=block % 2 == 1),
                make_norm(o, dim, 1e-5),
                FeedForward(dim, int(dim * o("mlp_ratio"))),
            )
            for block in range(o("depths")[i])
        )

    @staticmethod
    def _attention(o: Options, dim: int, number: int, pool: int, grid: Grid, *, shifted: bool) -> nn.Module:
        heads, side = heads_of(o, number), o("window_size")
        if heads.width is not None or not heads.projection_bias:
            raise o.refuse("windows with attention.head_dim or without attention.projection_bias")
        order: WindowOrder = "pad_then_shift" if o("window_fit", "shrink") == "pad" else "shift_then_pad"
        shift = side // 2 if shifted else 0
        window, moved = (side, side), (shift, shift)
        if order == "shift_then_pad":
            window = min(grid[0], side), min(grid[1], side)
            moved = 0 if grid[0] <= side else shift, 0 if grid[1] <= side else shift
        cache = make_cache(o, dim, window[0] * window[1], window, 0, pool)
        if not isinstance(cache, Cache):
            return WindowAttention(dim, number, window, shift=moved, order=order, qkv_bias=heads.qkv_bias, cache=cache)
        return CachedWindowAttention(
            dim,
            number,
            cache,
            window,
            shift=moved,
            order=order,
            share_start=o("cache.share_start", None),
            positional_convolution=o("cache.positional_convolution", None),
            qkv_bias=heads.qkv_bias,
        )

    def forward(self, x: Tensor, grid: Grid) -> tuple[Tensor, Grid]:
        if hasattr(self, "downsample"):
            x, grid = self.downsample(x, grid)
        for block in self.blocks:
            x = block(x, Layout(grid))
        return x, grid


class _ClassifierHead(nn.Module):
    def __init__(self, dim: int, classes: int) -> None:
        super().__init__()
        self.fc = Linear(dim, classes)


class SwinTransformer(nn.Module):
    """Swin as a classifier of images."""

    def __init__(self, o: Options) -> None:
        super().__init__()
        if o("attention.kind", "softmax") != "softmax":
            raise o.refuse("attention in windows without softmax")
        self.channels, self.patch = o("channels"), o("patch_size")
        self.patch_embed = PatchEmbedding(self.channels, o("embed_dim"), self.patch, None,
                                          make_norm(o, o("embed_dim"), 1e-5))
        height, width = (-(-side // self.patch) for side in o.grid())
        stages = []
        for i in range(len(o("depths"))):
            if i > 0:
                height, width = (height + 1) // 2, (width + 1) // 2
            stages.append(_SwinStage(o, i, (height, width)))
        self.layers = nn.ModuleList(stages)
        dim = o("embed_dim") << (len(stages) - 1)
        self.norm = make_norm(o, dim, 1e-5)
        self.head = _ClassifierHead(dim, o("classes"))

    def forward(self, images: Tensor) -> Tensor:
        """Images (B, C, H, W), prepared as in training -> logits (B, classes)."""
        _check_images(images, self.channels, 1)
        below, right = (-images.shape[2] % self.patch, -images.shape[3] % self.patch)
        x, grid = self.patch_embed(nn.functional.pad(images, (0, right, 0, below)))
        for stage in self.layers:
            x, grid = stage(x, grid)
        return cast(Tensor, self.head.fc(normalized(self.norm, x).mean(1)))
