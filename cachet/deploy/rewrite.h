#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cachet/analysis/cost/work.h"
#include "cachet/models/model.h"

/// Changes of a trained model that make its inference faster.
namespace cachet::deploy {

struct RewriteOptions {
  bool freeze = true;       // caches that are constant in evaluation become constant keys and values, without gates
  bool fold = true;         // fold norms, and λ of frozen caches, into the adjacent linear maps and convolutions
  bool count_work = false;  // count the work that each rewrite removes, by a forward pass without values
};

/// The result of the rewrite for one part: a norm, a cache, or the λ that mixes a frozen cache with self-attention.
struct RewrittenPart {
  enum class Kind { norm, cache, share };
  Kind kind = Kind::norm;
  std::string path;          // path in the model: "blocks.3.norm1"
  bool gone = true;          // whether the whole part was removed
  std::string left{};        // remaining part: "the normalisation, without its weights", "one affine map", "all of it"
  std::string reason{};      // reason why this part remains
  analysis::Work removed{};  // removed work, if counted; below 0 if the rest does more work
};

using RewrittenPlace [[deprecated("RewrittenPart")]] = RewrittenPart;
const char* to_string(RewrittenPart::Kind kind);  // "norm", "cache", "mixing share"
[[deprecated("to_string")]] inline const char* word(RewrittenPart::Kind kind) { return to_string(kind); }

/// The size of a model, and its computational work for one sample.
struct Footprint {
  int64_t parameters = 0;  // number of values in parameters; a parameter that modules share counts once
  int64_t bytes = 0;       // number of bytes of parameters and buffers
  analysis::Work work{};   // computational work, if counted
};

struct RewriteReport {
  std::vector<RewrittenPart> parts;  // caches first, then λ, then norms, in the model's order
  Footprint before, after;
};

/// Rewrites a model in place. The results of the rewritten model differ from the original results only by rounding,
/// which equality.h measures. Throws c10::Error unless the model is in evaluation mode.
RewriteReport rewrite(models::Model& model, const RewriteOptions& options = {});

/// Returns lines for users. Each line reports all parts of one kind that were removed, or that remain (partly or
/// wholly) for one reason. If count_work was set, the lines are in descending order of saved work. Each line whose
/// parts save work then ends with the saved work of these parts, formatted by `saved_text`.
std::vector<std::string> report_lines(const RewriteReport& report,
                                      const std::function<std::string(const analysis::Work&)>& saved_text = {});

}  // namespace cachet::deploy
