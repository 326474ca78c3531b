#include "cachet/deploy/rewrite.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "cachet/config/counted.h"
#include "cachet/nn/attention/cached_attention.h"
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
      return "the normalisation, without its weights";
    case Outcome::scale_shift:
      return "one affine map";
    case Outcome::stays:
      return "all of it";
  }
  return "";
}

Footprint footprint_of(const models::Model& model, bool count_work) {
  Footprint footprint;
  std::set<const c10::TensorImpl*> counted;  // parts of a model may share a parameter
  for (const at::Tensor& parameter : model.parameters()) {
    if (!counted.insert(parameter.unsafeGetTensorImpl()).second) continue;
    footprint.parameters += parameter.numel();
    footprint.bytes += static_cast<int64_t>(parameter.nbytes());
  }
  for (const at::Tensor& buffer : model.buffers()) footprint.bytes += static_cast<int64_t>(buffer.nbytes());
  if (count_work) footprint.work = analysis::work_of(model);
  return footprint;
}

/// Rewrites position by position and notes what each took away.
class Rewriting {
 public:
  Rewriting(const models::Model& model, bool count_work) : model_(model), count_work_(count_work) {
    report_.before = footprint_of(model, count_work);
    work_ = report_.before.work;
  }

  void freeze_caches() {
    for (const auto& [path, block] : parts_of<nn::TransformerBlock>(model_))
      if (block->has_cache())
        take({Kind::cache, path_of(path, "attn.cache")}, "all of it", [&] { block->freeze_cache(); });
  }

  void fold_shares() {
    for (const auto& [path, attention] : parts_of<nn::FrozenCachedAttention>(model_))
      if (attention->has_mixing_logit())
        take({Kind::share, path_of(path, "share")}, "a product for each channel", [&] { attention->fold_share(); });
  }

  // A module before those in it: what a block gives its attention to absorb goes through the attention's own norm.
  void fold_norms() {
    for (const auto& [path, foldable] : parts_of<nn::Foldable>(model_))
      for (const nn::NormFold& norm : foldable->norm_folds()) {
        const std::set<std::string> before = buffer_names();
        const nn::FoldedNorm folded = norm.fold();
        RewrittenPart place{Kind::norm, path_of(path, norm.name), folded.outcome == Outcome::gone,
                            left_of(folded.outcome), folded.reason};
        if (const auto kept = kept_for(path, norm.name, before)) add_kept(place, *kept);
        note(std::move(place));
      }
  }

  RewriteReport finish() && {
    report_.after = footprint_of(model_, count_work_);
    return std::move(report_);
  }

 private:
  using Kind = RewrittenPart::Kind;

  std::set<std::string> buffer_names() const {
    std::set<std::string> names;
    for (const auto& item : model_.named_buffers()) names.insert(item.key());
    return names;
  }

  // A reader that took a norm in may keep numbers for it: windows fill positions beyond the map with them. The name of
  // these numbers in the module that had the norm.
  std::optional<std::string> kept_for(const std::string& module, const std::string& norm,
                                      const std::set<std::string>& before) const {
    const std::string start = path_of(module, "");
    for (const std::string& name : buffer_names())
      if (!before.contains(name) && !name.starts_with(path_of(module, norm) + "."))
        return name.starts_with(start) ? name.substr(start.size()) : name;
    return std::nullopt;
  }

  static void add_kept(RewrittenPart& place, const std::string& numbers) {
    place.gone = false;
    place.left += (place.left.empty() ? "" : ", and ") + std::string("a number for each channel");
    place.reason += (place.reason.empty() ? "" : "; ") + ("its reader needs " + numbers);
  }

  // `left`: where `rewrite` throws why it cannot.
  void take(RewrittenPart place, const char* left, const std::function<void()>& rewrite) {
    try {
      rewrite();
    } catch (const c10::Error& error) {
      place.gone = false;
      place.left = left;
      place.reason = error.what_without_backtrace();
    }
    note(std::move(place));
  }

  void note(RewrittenPart place) {
    if (count_work_) {
      const analysis::Work now = analysis::work_of(model_);
      place.removed = work_ - now;
      work_ = now;
    }
    report_.parts.push_back(std::move(place));
  }

  const models::Model& model_;
  const bool count_work_;
  RewriteReport report_;
  analysis::Work work_;
};

}  // namespace

const char* to_string(RewrittenPart::Kind kind) {
  switch (kind) {
    case RewrittenPart::Kind::norm:
      return "norm";
    case RewrittenPart::Kind::cache:
      return "cache";
    case RewrittenPart::Kind::share:
      return "mixing share";
  }
  return "";
}

RewriteReport rewrite(models::Model& model, const RewriteOptions& options) {
  TORCH_CHECK(!model.is_training(), "deploy: a model must be in evaluation mode to be rewritten; call eval() first");
  Rewriting rewriting(model, options.count_work);
  if (options.freeze) rewriting.freeze_caches();
  if (options.fold) {
    rewriting.fold_shares();
    rewriting.fold_norms();
  }
  return std::move(rewriting).finish();
}

std::vector<std::string> report_lines(const RewriteReport& report,
                                      const std::function<std::string(const analysis::Work&)>& saved_text) {
  // By kind, what is left and why; all positions of one line together.
  struct Alike {
    std::vector<std::string> paths;
    analysis::Work removed;
  };
  using What = std::tuple<RewrittenPart::Kind, bool, std::string, std::string>;
  std::map<What, Alike> alike;
  for (const RewrittenPart& place : report.parts) {
    Alike& line = alike[{place.kind, !place.gone, place.left, place.reason}];
    line.paths.push_back(place.path);
    line.removed.operations += place.removed.operations;
    line.removed.bytes += place.removed.bytes;
  }
  // What saves most comes first.
  std::vector<std::pair<What, Alike>> ordered(alike.begin(), alike.end());
  std::ranges::stable_sort(ordered, std::ranges::greater(), [](const auto& each) {
    return std::pair(each.second.removed.operations, each.second.removed.bytes);
  });
  std::vector<std::string> lines;
  for (const auto& [what, together] : ordered) {
    const auto& [kind, is_left, left, reason] = what;
    const auto& [paths, removed] = together;
    std::string line = config::counted(static_cast<int64_t>(paths.size()), to_string(kind));
    const char* each = paths.size() == 1 ? "; left of it: " : "; left of each: ";
    line += is_left ? each + left + " (" + reason + ")" : paths.size() == 1 ? " is gone" : " are gone";
    if (is_left) line += ": " + paths.front() + (paths.size() > 1 ? ", …" : "");
    if (saved_text && (removed.operations > 0 || removed.bytes > 0)) line += "; " + saved_text(removed);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace cachet::deploy
