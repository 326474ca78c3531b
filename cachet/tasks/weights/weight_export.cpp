#include "cachet/tasks/weights/weight_export.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cachet/analysis/cost/meta_model.h"
#include "cachet/io/error.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/language/language_model.h"
#include "cachet/models/language/translation_model.h"
#include "cachet/models/vision/image_model.h"
#include "cachet/models/vision/tokens_to_token.h"
#include "cachet/nn/layers/positions.h"
#include "cachet/nn/norm/norm.h"
#include "cachet/tasks/weights/published_code.h"

namespace cachet::tasks {
namespace {

constexpr const char *kLanguageMark = "embedding.table_0", *kTranslationMark = "source_embed.weight";

// A tensor that only the models of a source have.
bool has_mark(const io::TensorMap& weights, io::NameSource source) {
  const auto any_has = [&weights](std::string_view part) {
    return std::ranges::any_of(weights,
                               [part](const auto& item) { return item.first.find(part) != std::string::npos; });
  };
  const bool detector = std::ranges::any_of(weights, [](const auto& item) { return item.first.starts_with("neck."); });
  if (detector && source != io::NameSource::cachet) return source == io::NameSource::mmdetection;
  const bool text = weights.contains(kLanguageMark) || weights.contains(kTranslationMark);
  switch (source) {
    case io::NameSource::cachet:
      return true;
    case io::NameSource::mmdetection:
      return false;
    case io::NameSource::timm:
      return !text;
    case io::NameSource::pvt:
      return weights.contains("stages.0.blocks.0.norm1.weight");
    case io::NameSource::swin:
      return any_has("relative_position_bias_table");
    case io::NameSource::t2t:
      return weights.contains("tokens_to_token.project.weight");
    case io::NameSource::grc:
      return any_has(".cache.candidate.") && !text;
    case io::NameSource::transformer_xl:
      return weights.contains(kLanguageMark) && any_has(".position.weight");
    case io::NameSource::fairseq:
      return weights.contains(kTranslationMark);
  }
  return false;
}

/// What the exported form needs of the model and the weights do not have.
struct ModelFacts {
  io::ExportFacts names;
  at::Tensor positions;                                       // of T2T-ViT, which computes them
  std::vector<std::pair<std::string, std::string>> shared{};  // another name of a tensor, and the one it is saved by
};

ModelFacts facts_of(const models::Model& model, const io::TensorMap& weights) {
  ModelFacts facts;
  for (auto* list : {io::distinct_parameters, io::distinct_buffers})
    for (const io::NamedTensor& named : list(model))
      for (auto other = named.names.begin() + 1; other != named.names.end(); ++other)
        facts.shared.emplace_back(*other, named.name());
  const auto* images = dynamic_cast<const models::ImageModel*>(&model);
  if (images == nullptr) return facts;
  const models::ImageShape image = images->image_shape();
  facts.names.image_height = image.height;
  facts.names.image_width = image.width;
  for (const auto& module : model.modules()) {
    const auto* norm = dynamic_cast<const nn::Norm*>(module.get());
    if (const auto window = norm ? norm->window() : std::nullopt)
      facts.names.unified_norm_windows = {window->forward, window->backward};
    if (const auto* split = dynamic_cast<const models::TokensToToken*>(module.get())) {
      const int64_t tokens = 1 + split->grid_of({image.height, image.width}).tokens();
      facts.positions = nn::sinusoidal_positions(tokens, weights.at("cls_token").size(2));
    }
  }
  return facts;
}

// Their code saves what modules share under each name, where it has one, and knows no plug-ins: a part without a name
// there would be read by nobody.
io::TensorMap text_weights(const SavedModel& saved, io::NameSource source, const ModelFacts& facts) {
  const auto refuse = [&](const std::string& part) {
    throw io::Error(saved.plan.name + " has a part that " + std::string(io::to_string(source)) +
                    "'s code does not know, " + part + "; use `--names cachet` to write Cachet's names");
  };
  io::TensorMap all = saved.weights;
  for (const auto& [name, first] : facts.shared)
    if (const auto found = all.find(first); found != all.end()) all.emplace(name, found->second);
  for (const auto& [name, tensor] : all)
    if (name.ends_with(".statistics") || name.ends_with(".counters") || name.find(".running_") != std::string::npos)
      refuse(name);
  io::TensorMap tensors = io::to_their_names(source, all, facts.names);
  for (const auto& [name, tensor] : saved.weights)
    if (tensors.contains(name)) refuse(name);
  for (const auto& [name, first] : facts.shared) tensors.erase(name);
  return tensors;
}

}  // namespace

io::TensorMap export_weights(const SavedModel& saved, io::NameSource source) {
  if (!has_mark(saved.weights, source))
    throw io::Error(saved.plan.name + " has no names in " + std::string(io::to_string(source)) +
                    "'s code; use `--names cachet` to write Cachet's names");
  const auto model = analysis::build_on_meta(saved.plan);
  const ModelFacts facts = facts_of(*model, saved.weights);
  const bool of_text = source == io::NameSource::transformer_xl || source == io::NameSource::fairseq;
  io::TensorMap tensors =
      of_text ? text_weights(saved, source, facts) : io::to_their_names(source, saved.weights, facts.names);
  if (source == io::NameSource::t2t) tensors.emplace("pos_embed", facts.positions);
  if (const auto part = not_computed_by(source, *model))
    throw io::Error(saved.plan.name + " has " + *part + ", which " + std::string(io::to_string(source)) +
                    "'s code does not compute; to write Cachet's names, use `--names cachet`");
  return tensors;
}

std::optional<std::string> note_on_names(const SavedModel& saved, io::NameSource source, const io::TensorMap& written) {
  const io::NameSource recognized = io::recognize_names(written);
  if (source != io::NameSource::cachet || recognized == source) return std::nullopt;
  const std::string other(io::to_string(recognized));
  std::string note = "Cachet's names of this model are also the names of " + other +
                     ", so `cachet import` reads the file as " + other + "'s unless you set --from cachet";
  if (const auto part = not_computed_by(recognized, *analysis::build_on_meta(saved.plan)))
    note += ", and " + other + "'s code may load the file but does not compute " + *part;
  return note;
}

io::NameSource usual_names(const models::ModelPlan& plan) {
  const bool looks_at_images = plan.input.kind == models::input_of(models::ImageShape()).kind;
  if (!looks_at_images || not_computed_by(io::NameSource::timm, *analysis::build_on_meta(plan)))
    return io::NameSource::cachet;
  return io::NameSource::timm;
}

}  // namespace cachet::tasks
