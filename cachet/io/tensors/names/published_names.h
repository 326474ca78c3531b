#pragma once

#include "cachet/io/tensors/names/name_map.h"

namespace cachet::io {

/// Returns the map for layers of the published gated recurrent cache (annosubmission/GRC-Cache) with plain attentions,
/// at any position in a model: `attn_self_func.q` and `.kv` -> `self_attention.qkv` (joined), `attn_mem` ->
/// `memory_attention`, `pos_emb` -> `position`, `lam` -> `share`. `linear_reset/update/add`, `Norm1` and `gr_cache` get
/// new names inside the module `cache`.
NameMap published_grc();

/// Returns the name map for layers of the published cache in which self-attention and memory attention reduce their
/// context (PVT's spatial reduction). With spatial reduction, query and context differ, so `q` and `kv` stay separate.
NameMap published_grc_spatial_reduction();

/// Returns the map from the names of PVT v1 and v2 (whai362/PVT) to timm's names for v2, which Cachet also uses for v1:
/// `patch_embed2` -> `stages.1.downsample`, `block1.0` -> `stages.0.blocks.0`, `pos_embed1` -> `stages.0.pos_embed`,
/// `cls_token` -> `stages.3.cls_token`, `norm1` -> `stages.0.norm`, `dwconv.dwconv` -> `dwconv`.
NameMap published_pvt();

/// Returns the map from Swin's names (microsoft/Swin-Transformer) to timm's names. In timm's names, the `downsample` of
/// a stage belongs to the next stage, and `head` is `head.fc`. Constant tables are dropped, and swin_constants() makes
/// them again.
NameMap published_swin();

/// Returns the name map for T2T-ViT's token performers (yitu-opensource/T2T-ViT,
/// hikvision-research/Unified-Normalization). The tensors `kqv`, `proj` and the random map `w` become `attn.kqv`,
/// `attn.proj` and `attn.features`. `mlp.0` and `mlp.2` become `mlp.fc1` and `mlp.fc2`. Cachet uses T2T-ViT's own names
/// for all parts of T2T-ViT except token performers.
NameMap published_t2t_performer();

/// Returns the map from Transformer-XL (kimiyoung/transformer-xl, pytorch) to Cachet's names:
/// `word_emb.emb_layers.0.weight` -> `embedding.table_0`, `crit.out_layers.0` and `crit.out_projs.0` -> `output`,
/// `layers.0.dec_attn` -> `blocks.0.attn` and `norm1`, `layers.0.pos_ff` -> `blocks.0.mlp` and `norm2`. The biases
/// `r_w_bias` and `r_r_bias`, which all layers share, are `content_bias` and `position_bias` of the first layer.
/// `mem_tokens` (booydar/LM-RMT) is `memory_tokens`. Frequencies of positions are dropped.
NameMap published_transformer_xl();

/// Returns the map from fairseq's encoder-decoders (such as transformer_iwslt_de_en) to Cachet's names:
/// `encoder.embed_tokens` -> `source_embed`, `decoder.embed_tokens` -> `target_embed`, `decoder.output_projection` ->
/// `output`, `encoder.layers.0` -> `encoder_blocks.0`, its `self_attn` with `q_proj`, `k_proj` and `v_proj` joined ->
/// `attn.qkv`, `encoder_attn` -> `cross_attn` with `q` and `kv`, `self_attn_layer_norm`, `encoder_attn_layer_norm` and
/// `final_layer_norm` -> `norm1`, `cross_norm` and `norm2`. fairseq's tensors of version numbers and its tables of
/// positions are dropped.
NameMap published_fairseq_translation();

/// Returns two maps of tensor names, to be applied in this order. Together, the two maps of names convert the published
/// state of unified normalization (six tensors per layer) to the two tensors of ops::UnifiedNormState.
/// `<layer>.unrecorded` (2) must have two counters that the published code does not record: the number of steps that
/// used window statistics, and whether the last step was filtered.
std::vector<NameMap> published_unified_norm(int64_t forward_window, int64_t backward_window);
/// For each layer with a tensor `<layer>.iters`, adds a tensor `<layer>.unrecorded` of two zeros.
void add_unrecorded_counters(TensorMap& theirs);
inline constexpr std::string_view kUnrecordedCounters = ".unrecorded";

}  // namespace cachet::io
