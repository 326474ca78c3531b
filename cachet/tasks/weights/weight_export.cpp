#include "cachet/tasks/weights/weight_export.h"

#include <algorithm>

#include "cachet/io/error.h"
#include "cachet/models/vision/image_model.h"
#include "cachet/models/vision/tokens_to_token.h"
#include "cachet/nn/norm/unified_norm.h"
#include "cachet/nn/positions.h"

namespace cachet::tasks {
namespace {

// A tensor that only the models of a source have.
bool has_mark(const io::TensorMap& weights, io::NameSource source) {
  const auto any_has = [&weights](std::string_view part) {
    return std::ranges::any_of(weights,
                               [part](const auto& item) { return item.first.find(part) != std::string::npos; });
  };
  const bool detector = std::ranges::any_of(weights, [](const auto& item) { return item.first.starts_with("neck."); });
  if (detector && source != io::NameSource::cachet) return source == io::NameSource::mmdetection;
  switch (source) {
    case io::NameSource::mmdetection:
      return false;
    case io::NameSource::cachet:
    case io::NameSource::timm:
      return true;
    case io::NameSource::pvt:
      return weights.contains("stages.0.blocks.0.norm1.weight");
    case io::NameSource::swin:
      return any_has("relative_position_bias_table");
    case io::NameSource::t2t:
      return weights.contains("tokens_to_token.project.weight");
    case io::NameSource::grc:
      return any_has(".cache.candidate.");
  }
  return false;
}

/// What the exported form needs of the model and the weights do not tell.
struct ModelFacts {
  io::ExportFacts names;
  at::Tensor positions;  // of T2T-ViT, which computes them
};

ModelFacts facts_of(const models::ModelPlan& plan, const io::TensorMap& weights) {
  ModelFacts facts;
  const auto model = plan.build();
  const auto* images = dynamic_cast<const models::ImageModel*>(model.get());
  if (images == nullptr) return facts;
  const models::ImageShape image = images->image_shape();
  facts.names.image_height = image.height;
  facts.names.image_width = image.width;
  for (const auto& module : model->modules()) {
    if (const auto* norm = dynamic_cast<const nn::UnifiedNorm*>(module.get()))
      facts.names.unified_norm_windows = {norm->settings().forward_window, norm->settings().backward_window};
    if (const auto* split = dynamic_cast<const models::TokensToToken*>(module.get())) {
      const int64_t tokens = 1 + split->grid_of({image.height, image.width}).tokens();
      facts.positions = nn::sinusoidal_positions(tokens, weights.at("cls_token").size(2));
    }
  }
  return facts;
}

}  // namespace

io::TensorMap export_weights(const SavedModel& saved, io::NameSource source) {
  if (!has_mark(saved.weights, source))
    throw io::Error(saved.plan.name + " has no names in " + std::string(io::word(source)) +
                    "'s code; `--names cachet` writes our own");
  const ModelFacts facts = facts_of(saved.plan, saved.weights);
  io::TensorMap tensors = io::to_their_names(source, saved.weights, facts.names);
  if (source == io::NameSource::t2t) tensors.emplace("pos_embed", facts.positions);
  return tensors;
}

}  // namespace cachet::tasks
