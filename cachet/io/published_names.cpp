#include "cachet/io/published_names.h"

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

NameMap published_pvt_v2() {
  return NameMap({
      Rename{"block#.#.mlp.dwconv.dwconv.*", "stages.#.blocks.#.mlp.dwconv.*", -1},
      Rename{"block#.#.**", "stages.#.blocks.#.**", -1},
      Rename{"patch_embed1.**", "patch_embed.**"},
      Rename{"patch_embed#.**", "stages.#.downsample.**", -1},
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

}  // namespace cachet::io
