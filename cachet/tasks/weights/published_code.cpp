#include "cachet/tasks/weights/published_code.h"

#include <algorithm>
#include <array>

#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/attention/functions/softmax_attention.h"
#include "cachet/nn/cache/gated_recurrent_cache.h"
#include "cachet/nn/norm/layer_norm.h"
#include "cachet/nn/norm/unified_norm.h"

namespace cachet::tasks {
namespace {

/// What the code of a source computes in addition to softmax attention and LayerNorm.
struct PublishedCode {
  io::NameSource source;
  bool gated_recurrent_cache = false;  // read and updated by each sample, in evaluation too
  bool unified_norm = false;
};

constexpr std::array<PublishedCode, 8> kCodes{
    {{.source = io::NameSource::timm},
     {.source = io::NameSource::pvt},
     {.source = io::NameSource::swin, .unified_norm = true},
     {.source = io::NameSource::t2t, .unified_norm = true},
     {.source = io::NameSource::grc, .gated_recurrent_cache = true},
     {.source = io::NameSource::mmdetection, .gated_recurrent_cache = true, .unified_norm = true},
     {.source = io::NameSource::transformer_xl},
     {.source = io::NameSource::fairseq}}};

std::optional<std::string> problem_of(const PublishedCode& code, const torch::nn::Module& module) {
  if (dynamic_cast<const nn::AttentionFunction*>(&module) && !dynamic_cast<const nn::SoftmaxAttention*>(&module))
    return "an attention function other than softmax (model.attention.kind)";
  if (const auto* cache = dynamic_cast<const nn::Cache*>(&module)) {
    if (!code.gated_recurrent_cache) return "a cache (model.cache.kind)";
    if (!dynamic_cast<const nn::GatedRecurrentCache*>(cache))
      return "a cache other than the gated recurrent one (model.cache.kind)";
    if (!cache->why_memory_varies())
      return "a cache that is the same for all samples in evaluation (model.cache.inference)";
  }
  if (dynamic_cast<const nn::Norm*>(&module) && !dynamic_cast<const nn::LayerNorm*>(&module)) {
    if (!code.unified_norm) return "a norm other than LayerNorm (model.norm.kind)";
    if (!dynamic_cast<const nn::UnifiedNorm*>(&module))
      return "a norm other than LayerNorm and unified normalization (model.norm.kind)";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> not_computed_by(io::NameSource source, const models::Model& model) {
  const auto* code = std::ranges::find(kCodes, source, &PublishedCode::source);
  if (code == kCodes.end()) return std::nullopt;  // ours
  for (const auto& module : model.modules())
    if (auto problem = problem_of(*code, *module)) return problem;
  return std::nullopt;
}

}  // namespace cachet::tasks
