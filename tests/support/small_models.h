#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/models/model.h"
#include "cachet/models/registry.h"

namespace cachet::test {

using Settings = std::vector<std::string>;

/// A registered model, made small: milliseconds a pass.
struct SmallModel {
  std::string name;
  Settings settings;  // keys of [model]
  bool has_grid = true;
};

inline std::ostream& operator<<(std::ostream& out, const SmallModel& model) { return out << model.name; }

inline std::shared_ptr<models::Model> built(const SmallModel& model, const Settings& plug_ins) {
  config::Document document;
  for (const Settings& settings : {model.settings, plug_ins})
    for (const std::string& setting : settings) document.set("model." + setting);
  const models::ModelPlan plan = models::read_model(model.name, document.root().table("model"));
  document.finish();
  return plan.build();
}

/// One of every family and form.
inline const std::vector<SmallModel>& small_models() {
  const Settings pvt{"image_size=64", "embed_dims=[8, 16, 16, 32]", "depths=[1, 1, 1, 1]", "num_heads=[1, 2, 2, 4]",
                     "mlp_ratios=[1, 1, 1, 1]"};
  const auto swin = [](int64_t image) {
    return Settings{"image_size=" + std::to_string(image),
                    "embed_dim=8",
                    "depths=[2, 2, 1, 1]",
                    "num_heads=[1, 2, 2, 4]",
                    "window_size=4",
                    "mlp_ratio=1"};
  };
  const Settings vit{"image_size=32", "patch_size=8", "embed_dim=16", "depth=2", "num_heads=2", "mlp_ratio=1"};
  const Settings t2t{"image_size=32", "embed_dim=16", "depth=2", "num_heads=2", "mlp_ratio=1", "token_dim=8"};
  const Settings lra{"embed_dim=16",  "depth=2",       "num_heads=2", "mlp_dim=16",
                     "max_length=24", "vocabulary=30", "classes=3"};
  const auto with = [](Settings settings, const std::string& more) {
    settings.push_back(more);
    return settings;
  };
  static const std::vector<SmallModel> models{
      {"vit_tiny_patch16_224", vit},
      {"vit_tiny_patch16_224", with(with(vit, "class_token=false"), "pooling=mean")},
      {"deit_tiny_distilled_patch16_224", vit},
      {"pvt_tiny", pvt},
      {"pvt_v2_b0", pvt},
      {"pvt_v2_b2_li", pvt},
      {"swin_tiny_patch4_window7_224", swin(32)},
      {"swin_tiny_patch4_window7_224", swin(36)},  // windows and merged patches reach beyond the map
      {"t2t_vit_14", t2t},
      {"t2t_vit_t_14", t2t},
      {"lra_text", lra, /*has_grid=*/false},
      {"lra_matching", lra, false},
  };
  return models;
}

/// One of every form of the models that write text: of twenty tokens, in segments or sentences of a few. Where
/// something else remembers, there is no cache.
inline const std::vector<SmallModel>& small_text_models() {
  const Settings language{"embed_dim=16", "depth=2",         "num_heads=2",  "mlp_dim=16",
                          "dropout=0",    "target_length=5", "vocabulary=20"};
  const auto with = [&](Settings more) {
    more.insert(more.begin(), language.begin(), language.end());
    return more;
  };
  const Settings translation{"embed_dim=16",         "encoder_depth=2",    "decoder_depth=1",    "encoder_heads=2",
                             "decoder_heads=2",      "encoder_mlp_dim=16", "decoder_mlp_dim=24", "source_vocabulary=20",
                             "target_vocabulary=20", "source_length=8",    "target_length=7",    "dropout=0"};
  static const std::vector<SmallModel> models{
      {"transformer_xl_small", with({"memory_length=0", "norm_place=before"}), false},
      {"transformer_xl_wt103_base", with({"cutoffs=[5, 12]", "attention.head_dim=6", "memory_length=0"}), false},
      {"transformer_xl_wt103_large", with({"cutoffs=[5, 12]", "division=2", "attention.head_dim=0", "memory_length=0"}),
       false},
      {"causal_transformer_small", with({}), false},
      {"causal_transformer_small", with({"norm_place=after"}), false},
      {"transformer_translation_small", translation, false},
  };
  return models;
}

inline const std::vector<std::string>& norm_kinds() {
  static const std::vector<std::string> kinds{"layer", "rms", "batch", "un", "mabn", "pn", "none"};
  return kinds;
}

inline std::vector<Settings> cache_settings(bool has_grid) {
  std::vector<Settings> all{{}, {"cache.kind=grc"}, {"cache.kind=fifo", "cache.positional_convolution=false"}};
  if (has_grid) {
    all.push_back({"cache.kind=grc", "cache.positional_convolution=true", "cache.ratio=0.5"});
    all.push_back({"cache.kind=concatenated"});
  }
  return all;
}

inline std::string text_of(const Settings& settings) {
  std::string text;
  for (const std::string& setting : settings) text += setting + " ";
  return text;
}

}  // namespace cachet::test
