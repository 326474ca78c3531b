#pragma once

#include "cachet/io/name_map.h"

namespace cachet::io {

/// The layer of the published gated recurrent cache (annosubmission/GRC-Cache) with plain attention on each side,
/// wherever in a model it stands: `attn_self_func.q` and `.kv` joined into `self_attention.qkv`, `attn_mem` as
/// `memory_attention`, `linear_reset/update/add`, `Norm1` and `gr_cache` as the parts of `cache`, `pos_emb` as
/// `position`, `lam` as `share`.
NameMap published_grc();

/// The same where both attentions reduce their context (PVT's spatial reduction): query and context differ, so that `q`
/// and `kv` stay apart.
NameMap published_grc_spatial_reduction();

/// The authors' pvt_v2 checkpoints to timm's names: `patch_embed2` -> `stages.1.downsample`, `block1.0` ->
/// `stages.0.blocks.0`, `norm1` -> `stages.0.norm`, `dwconv.dwconv` -> `dwconv`.
NameMap published_pvt_v2();

/// The authors' Swin checkpoints to timm's names: a downsample belongs to the next stage, `head` is `head.fc`, the
/// constant tables are dropped.
NameMap published_swin();

}  // namespace cachet::io
