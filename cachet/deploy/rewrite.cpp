#include "cachet/deploy/rewrite.h"

#include <map>

#include "cachet/nn/norm/folding.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::deploy {
namespace {

using Outcome = nn::FoldedNorm::Outcome;

/// The modules of a model that are a Part, with their paths: collected before any of them changes.
template <class Part>
std::vector<std::pair<std::string, Part*>> parts_of(const models::Model& model) {
  std::vector<std::pair<std::string, Part*>> parts;
  for (const auto& item : model.named_modules())
    if (auto* part = dynamic_cast<Part*>(item.value().get())) parts.emplace_back(item.key(), part);
  return parts;
}

std::string path_of(const std::string& module, const std::string& part) {
  return module.empty() ? part : module + "." + part;
}

const char* left_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::gone:
      return "";
    case Outcome::core:
      return "its statistics, without weights";
    case Outcome::scale_shift:
      return "one affine map";
    case Outcome::stays:
      return "all of it";
  }
  return "";
}

void freeze_caches(const models::Model& model, std::vector<RewrittenPlace>& places) {
  for (const auto& [path, block] : parts_of<nn::TransformerBlock>(model)) {
    if (!block->has_cache()) continue;
    RewrittenPlace place{RewrittenPlace::Kind::cache, path_of(path, "attn.cache"), true, ""};
    try {
      block->freeze_cache();
    } catch (const c10::Error& error) {
      place.gone = false;
      place.left = "all of it";
      place.reason = error.what_without_backtrace();
    }
    places.push_back(std::move(place));
  }
}

// A module before those in it: what a block gives its attention to absorb goes through the attention's own norm.
void fold_norms(const models::Model& model, std::vector<RewrittenPlace>& places) {
  for (const auto& [path, foldable] : parts_of<nn::Foldable>(model))
    for (const nn::FoldedNorm& norm : foldable->fold_norms())
      places.push_back({RewrittenPlace::Kind::norm, path_of(path, norm.name), norm.outcome == Outcome::gone,
                        left_of(norm.outcome), norm.reason});
}

Footprint footprint_of(const models::Model& model) {
  Footprint footprint;
  for (const at::Tensor& parameter : model.parameters()) {
    footprint.parameters += parameter.numel();
    footprint.bytes += static_cast<int64_t>(parameter.nbytes());
  }
  for (const at::Tensor& buffer : model.buffers()) footprint.bytes += static_cast<int64_t>(buffer.nbytes());
  return footprint;
}

const char* word_for(RewrittenPlace::Kind kind) { return kind == RewrittenPlace::Kind::norm ? "norm" : "cache"; }

std::string counted(int64_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

}  // namespace

RewriteReport rewrite(models::Model& model, const RewriteOptions& options) {
  TORCH_CHECK(!model.is_training(), "deploy: a model is rewritten in evaluation: call eval() first");
  RewriteReport report;
  report.before = footprint_of(model);
  if (options.freeze) freeze_caches(model, report.places);
  if (options.fold) fold_norms(model, report.places);
  report.after = footprint_of(model);
  return report;
}

std::vector<std::string> report_lines(const RewriteReport& report) {
  // By kind, what is left and why; all places of one line together.
  std::map<std::tuple<RewrittenPlace::Kind, bool, std::string, std::string>, std::vector<std::string>> alike;
  for (const RewrittenPlace& place : report.places)
    alike[{place.kind, !place.gone, place.left, place.reason}].push_back(place.path);
  std::vector<std::string> lines;
  for (const auto& [what, paths] : alike) {
    const auto& [kind, is_left, left, reason] = what;
    std::string line = counted(static_cast<int64_t>(paths.size()), word_for(kind));
    line += is_left ? ": " + left + " stays (" + reason + ")" : paths.size() == 1 ? " is gone" : " are gone";
    if (is_left) line += ": " + paths.front() + (paths.size() > 1 ? ", …" : "");
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace cachet::deploy
