#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cachet/analysis/cost/work.h"
#include "cachet/models/model.h"

/// What turns a trained model into the fastest form of itself.
namespace cachet::deploy {

struct RewriteOptions {
  bool freeze = true;       // caches that rest in evaluation become constant keys and values, their gates go
  bool fold = true;         // fold norms, and λ of frozen caches, into the adjacent linear maps and convolutions
  bool count_work = false;  // and count what each took away, by a forward pass without numbers
};

/// What became of one norm, of one cache, or of the λ by which a frozen cache and self-attention are mixed.
struct RewrittenPart {
  enum class Kind { norm, cache, share };
  Kind kind = Kind::norm;
  std::string path;          // in the model: "blocks.3.norm1"
  bool gone = true;          // whether nothing of it is left to compute
  std::string left{};        // what is: "the normalisation, without its weights", "one affine map", "all of it"
  std::string reason{};      // why
  analysis::Work removed{};  // where it was counted; below 0 where the rest does more instead
};

using RewrittenPlace [[deprecated("RewrittenPart")]] = RewrittenPart;
const char* to_string(RewrittenPart::Kind kind);  // "norm", "cache", "mixing share"
[[deprecated("to_string")]] inline const char* word(RewrittenPart::Kind kind) { return to_string(kind); }

/// What a model holds, and does for one sample.
struct Footprint {
  int64_t parameters = 0;  // numbers in parameters; one that parts share counts once
  int64_t bytes = 0;       // of parameters and buffers
  analysis::Work work{};   // where it was counted
};

struct RewriteReport {
  std::vector<RewrittenPart> parts;  // caches first, then λ, then norms, in the model's order
  Footprint before, after;
};

/// Rewrites a model in place. It computes the same except for roundings; equality.h measures them. Throws
/// c10::Error unless the model is in evaluation mode.
RewriteReport rewrite(models::Model& model, const RewriteOptions& options = {});

/// Lines for people: what went, by kind and outcome, and what stayed and why. If the work was counted, what saves most
/// comes first, and `saved_text` writes at the end of its line what the parts of a line saved together.
std::vector<std::string> report_lines(const RewriteReport& report,
                                      const std::function<std::string(const analysis::Work&)>& saved_text = {});

}  // namespace cachet::deploy
