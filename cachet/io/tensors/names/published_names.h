#pragma once

#include "cachet/io/tensors/names/name_map.h"

namespace cachet::io {

/// The layer of the published gated recurrent cache (annosubmission/GRC-Cache) with plain attention on each side,
/// wherever in a model it stands: `attn_self_func.q` and `.kv` joined into `self_attention.qkv`, `attn_mem` as
/// `memory_attention`, `linear_reset/update/add`, `Norm1` and `gr_cache` as the parts of `cache`, `pos_emb` as
/// `position`, `lam` as `share`.
NameMap published_grc();

/// The same for a layer in which both attentions reduce their context (PVT's spatial reduction). Query and context
/// differ there, so that `q` and `kv` stay separate.
NameMap published_grc_spatial_reduction();

/// The checkpoints of PVT's repository (whai362/PVT), v1 and v2, to timm's names for v2, which ours for v1 follow:
/// `patch_embed2` -> `stages.1.downsample`, `block1.0` -> `stages.0.blocks.0`, `pos_embed1` -> `stages.0.pos_embed`,
/// `cls_token` -> `stages.3.cls_token`, `norm1` -> `stages.0.norm`, `dwconv.dwconv` -> `dwconv`.
NameMap published_pvt();

/// Swin's (microsoft/Swin-Transformer) to timm's names: a downsample belongs to the next stage, `head` is `head.fc`,
/// the constant tables are dropped (published_constants makes them again).
NameMap published_swin();

/// T2T-ViT's token performers (yitu-opensource/T2T-ViT, also as hikvision-research/Unified-Normalization has it) to
/// ours: `kqv`, `proj` and the random map `w` are `attn.kqv`, `attn.proj` and `attn.features`, `mlp.0` and `mlp.2` are
/// `mlp.fc1` and `mlp.fc2`. All else of T2T-ViT, token transformers too, has the same names.
NameMap published_t2t_performer();

/// Transformer-XL's (kimiyoung/transformer-xl, pytorch) to ours: `word_emb.emb_layers.0.weight` -> `embedding.table_0`,
/// `crit.out_layers.0` and `crit.out_projs.0` -> `output`, `layers.0.dec_attn` -> `blocks.0.attn` and `norm1`,
/// `layers.0.pos_ff` -> `blocks.0.mlp` and `norm2`; `r_w_bias` and `r_r_bias`, which all layers share, are the first
/// layer's `content_bias` and `position_bias`; `mem_tokens` (booydar/LM-RMT) is `memory_tokens`. Frequencies of
/// positions are dropped.
NameMap published_transformer_xl();

/// fairseq's encoder-decoder (transformer_iwslt_de_en and its kind) to ours: `encoder.embed_tokens` -> `source_embed`,
/// `decoder.embed_tokens` -> `target_embed`, `decoder.output_projection` -> `output`, `encoder.layers.0` ->
/// `encoder_blocks.0`, its `self_attn` with `q_proj`, `k_proj` and `v_proj` joined -> `attn.qkv`, `encoder_attn` ->
/// `cross_attn` with `q` and `kv`, `self_attn_layer_norm`, `encoder_attn_layer_norm` and `final_layer_norm` -> `norm1`,
/// `cross_norm` and `norm2`. Versions and tables of positions are dropped.
NameMap published_fairseq_translation();

/// The state of unified normalization as published, six tensors a layer, to the two of ops::UnifiedNormState: first the
/// one map, then the other. What the published code does not record, two counters a layer (steps on the window, whether
/// the last was filtered), must be there as `<layer>.unrecorded` (2).
std::vector<NameMap> published_unified_norm(int64_t forward_window, int64_t backward_window);
/// Adds these counters, as zeros, to each layer that has `<layer>.iters`.
void add_unrecorded_counters(TensorMap& theirs);
inline constexpr std::string_view kUnrecordedCounters = ".unrecorded";

}  // namespace cachet::io
