#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/text/token_file.h"
#include "cachet/train/metrics.h"

namespace cachet::tasks {

/// A passage of a text, and what a model wrote on behind it; both are UTF-8 that can be shown.
struct WrittenSample {
  std::string given, written;
  bool operator==(const WrittenSample&) const = default;
};

/// What an evaluation found of a text.
struct LanguageEvaluation {
  int64_t tokens = 0;                         // that were foretold
  double loss = 0;                            // their mean −log p, in nats
  std::vector<double> loss_by_position = {};  // the mean over the tokens at each place of a segment
  int64_t text_bytes = 0, text_characters = 0;
  double baseline = 0;  // the perplexity of a Kneser–Ney 5-gram of the training text; 0 where none was made
  std::vector<WrittenSample> samples = {};
  bool operator==(const LanguageEvaluation&) const = default;

  /// Loss, perplexity and, where they are known, bits per byte and per character, and the baseline's perplexity.
  train::Metrics metrics() const;
};

/// Sums up losses, segment after segment.
class LanguageTally {
 public:
  /// losses and targets (lanes, L); target −1 does not count.
  void add(const at::Tensor& losses, const at::Tensor& targets);
  LanguageEvaluation finish(const data::TokenFileFacts& text) const;

 private:
  std::vector<double> sums_;
  std::vector<int64_t> counts_;
};

/// For the run's folder. evaluation_from_language_json gives nothing for what is no such JSON.
std::string to_json(const LanguageEvaluation& evaluation);
std::optional<LanguageEvaluation> language_evaluation_from_json(const std::string& text);

}  // namespace cachet::tasks
