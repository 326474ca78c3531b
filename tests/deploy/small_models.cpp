#include "tests/deploy/small_models.h"

#include <ATen/ATen.h>

#include "cachet/config/document.h"
#include "cachet/models/registry.h"

namespace cachet::deploy {

std::string text_of(const Settings& settings) {
  std::string text;
  for (const std::string& setting : settings) text += setting + " ";
  return text;
}

std::shared_ptr<models::Model> built(const SmallModel& model, const Settings& plug_ins) {
  config::Document document;
  for (const Settings& settings : {model.settings, plug_ins})
    for (const std::string& setting : settings) document.set("model." + setting);
  const models::ModelPlan plan = models::read_model(model.name, document.root().table("model"));
  document.finish();
  return plan.build();
}

std::shared_ptr<models::Model> trained(const SmallModel& model, const Settings& plug_ins, at::ScalarType dtype) {
  const auto built_model = built(model, plug_ins);
  built_model->to(dtype);
  built_model->train();
  const at::NoGradGuard no_grad;
  for (int64_t step = 0; step < 3; ++step) built_model->trial(3, dtype).forward();
  for (at::Tensor& parameter : built_model->parameters()) parameter.add_(at::randn_like(parameter) / 8);
  built_model->eval();
  return built_model;
}

const std::vector<SmallModel>& small_models() {
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

}  // namespace cachet::deploy
