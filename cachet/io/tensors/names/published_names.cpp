#include "cachet/io/tensors/names/published_names.h"

#include <ATen/ops/zeros.h>

namespace cachet::io {
namespace {

const std::vector<NameRule> kGrcCacheRules = {
    Rename{"**attn_mem.**", "**memory_attention.**"},
    Rename{"**linear_reset.**", "**cache.reset_gate.**"},
    Rename{"**linear_update.**", "**cache.update_gate.**"},
    Rename{"**linear_add.**", "**cache.candidate.**"},
    Rename{"**Norm1.*", "**cache.norm.*"},
    Rename{"**pos_emb.*", "**position.*"},
    Rename{"**lam", "**share"},
    Rename{"**gr_cache", "**cache.tokens"},
    Rename{"**attn_self_func.**", "**self_attention.**"},
};

}  // namespace

NameMap published_grc() {
  std::vector<NameRule> rules = {
      Join{{"**attn_self_func.q.*", "**attn_self_func.kv.*"}, "**self_attention.qkv.*", {1, 2}},
  };
  rules.insert(rules.end(), kGrcCacheRules.begin(), kGrcCacheRules.end());
  return NameMap(std::move(rules));
}

NameMap published_grc_spatial_reduction() { return NameMap(kGrcCacheRules); }

NameMap published_pvt() {
  return NameMap({
      Rename{"block#.#.mlp.dwconv.dwconv.*", "stages.#.blocks.#.mlp.dwconv.*", -1},
      Rename{"block#.#.**", "stages.#.blocks.#.**", -1},
      Rename{"patch_embed1.**", "patch_embed.**"},
      Rename{"patch_embed#.**", "stages.#.downsample.**", -1},
      Rename{"pos_embed#", "stages.#.pos_embed", -1},
      Rename{"cls_token", "stages.3.cls_token"},
      Rename{"norm#.*", "stages.#.norm.*", -1},
  });
}

NameMap published_swin() {
  return NameMap({
      Drop{"**relative_position_index"},
      Drop{"**attn_mask"},
      Rename{"layers.#.downsample.**", "layers.#.downsample.**", 1},
      Rename{"head.*", "head.fc.*"},
  });
}

NameMap published_t2t_performer() {
  return NameMap({
      Rename{"tokens_to_token.attention#.w", "tokens_to_token.attention#.attn.features"},
      Rename{"tokens_to_token.attention#.kqv.*", "tokens_to_token.attention#.attn.kqv.*"},
      Rename{"tokens_to_token.attention#.proj.*", "tokens_to_token.attention#.attn.proj.*"},
      Rename{"tokens_to_token.attention#.mlp.0.*", "tokens_to_token.attention#.mlp.fc1.*"},
      Rename{"tokens_to_token.attention#.mlp.2.*", "tokens_to_token.attention#.mlp.fc2.*"},
  });
}

NameMap published_transformer_xl() {
  return NameMap({
      Drop{"pos_emb.inv_freq"},
      Permute{"mem_tokens", "memory_tokens", {1, 0, 2}},
      Rename{"word_emb.emb_layers.#.weight", "embedding.table_#"},
      Rename{"word_emb.emb_projs.#", "embedding.projection_#"},
      Rename{"crit.out_layers.#.weight", "output.table_#"},
      Rename{"crit.out_layers.#.bias", "output.bias_#"},
      Rename{"crit.out_projs.#", "output.projection_#"},
      Rename{"crit.cluster_*", "output.cluster_*"},
      Rename{"r_w_bias", "blocks.0.attn.content_bias"},
      Rename{"r_r_bias", "blocks.0.attn.position_bias"},
      Rename{"layers.#.dec_attn.layer_norm.*", "blocks.#.norm1.*"},
      Rename{"layers.#.dec_attn.qkv_net.*", "blocks.#.attn.qkv.*"},
      Rename{"layers.#.dec_attn.o_net.*", "blocks.#.attn.proj.*"},
      Rename{"layers.#.dec_attn.r_net.*", "blocks.#.attn.position.*"},
      Rename{"layers.#.pos_ff.layer_norm.*", "blocks.#.norm2.*"},
      Rename{"layers.#.pos_ff.CoreNet.0.*", "blocks.#.mlp.fc1.*"},
      Rename{"layers.#.pos_ff.CoreNet.3.*", "blocks.#.mlp.fc2.*"},
  });
}

NameMap published_fairseq_translation() {
  std::vector<NameRule> rules = {
      Drop{"*.version"},
      Drop{"*.embed_positions.**"},
      Rename{"encoder.embed_tokens.weight", "source_embed.weight"},
      Rename{"decoder.embed_tokens.weight", "target_embed.weight"},
      Rename{"decoder.output_projection.weight", "output.weight"},
      Join{{"decoder.layers.#.encoder_attn.k_proj.*", "decoder.layers.#.encoder_attn.v_proj.*"},
           "decoder_blocks.#.cross_attn.kv.*",
           {1, 1}},
      Rename{"decoder.layers.#.encoder_attn.q_proj.*", "decoder_blocks.#.cross_attn.q.*"},
      Rename{"decoder.layers.#.encoder_attn.out_proj.*", "decoder_blocks.#.cross_attn.proj.*"},
      Rename{"decoder.layers.#.encoder_attn_layer_norm.*", "decoder_blocks.#.cross_norm.*"},
  };
  for (const std::string half : {"encoder", "decoder"}) {
    const std::string theirs = half + ".layers.#.", ours = half + "_blocks.#.";
    rules.insert(rules.end(),
                 {Join{{theirs + "self_attn.q_proj.*", theirs + "self_attn.k_proj.*", theirs + "self_attn.v_proj.*"},
                       ours + "attn.qkv.*",
                       {1, 1, 1}},
                  Rename{theirs + "self_attn.out_proj.*", ours + "attn.proj.*"},
                  Rename{theirs + "self_attn_layer_norm.*", ours + "norm1.*"},
                  Rename{theirs + "final_layer_norm.*", ours + "norm2.*"}, Rename{theirs + "fc#.*", ours + "mlp.fc#.*"},
                  Rename{half + ".layer_norm.*", half + "_norm.*"}});
  }
  return NameMap(std::move(rules));
}

std::vector<NameMap> published_unified_norm(int64_t forward_window, int64_t backward_window) {
  return {NameMap({
              Reshape{"**.running_var", "**.running_var_row", {1, -1}, {-1}},
              Reshape{"**.ema_gz", "**.ema_gz_row", {1, -1}, {-1}},
          }),
          NameMap({
              Join{{"**.running_var_row", "**.ema_gz_row", "**.buffer_x2", "**.buffer_gz"},
                   "**.statistics",
                   {1, 1, forward_window, backward_window}},
              Join{{"**.iters", "**.skip_counter", "**.unrecorded"}, "**.counters", {1, 1, 2}},
          })};
}

void add_unrecorded_counters(TensorMap& theirs) {
  constexpr std::string_view kSteps = ".iters";
  std::vector<std::string> layers;
  for (const auto& [name, tensor] : theirs)
    if (name.ends_with(kSteps)) layers.push_back(name.substr(0, name.size() - kSteps.size()));
  for (const std::string& layer : layers)
    theirs.emplace(layer + std::string(kUnrecordedCounters), at::zeros({2}, at::kLong));
}

}  // namespace cachet::io
