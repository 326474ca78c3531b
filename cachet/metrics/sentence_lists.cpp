#include "cachet/metrics/sentence_lists.h"

#include <stdexcept>

namespace cachet::metrics {

void check_streams(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references) {
  if (hypotheses.empty()) throw std::invalid_argument("there are no sentences to score");
  if (references.empty()) throw std::invalid_argument("there are no references to score against");
  for (size_t i = 0; i < references.size(); ++i) {
    if (references[i].size() == hypotheses.size()) continue;
    throw std::invalid_argument("there are " + std::to_string(hypotheses.size()) + " sentences, but reference " +
                                std::to_string(i + 1) + " has " + std::to_string(references[i].size()) + " lines");
  }
}

}  // namespace cachet::metrics
