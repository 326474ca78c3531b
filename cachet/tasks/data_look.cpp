#include "cachet/tasks/data_look.h"

namespace cachet::tasks {
namespace {

std::string text_of(const data::SplitOverlap& overlap) {
  const bool all = overlap.shared == overlap.samples && overlap.samples > 1;
  return (all ? "all " + std::to_string(overlap.samples)
              : std::to_string(overlap.shared) + " of " + std::to_string(overlap.samples)) +
         " " + overlap.split + " " + overlap.many + (overlap.shared == 1 ? " is" : " are") +
         " also in the training data (the first: " + overlap.evaluation + " = " + overlap.training + ")";
}

}  // namespace

std::optional<std::string> overlap_text(const DataLook& look) {
  if (!look.not_compared.empty()) return "not compared: " + look.not_compared;
  std::string text;
  for (const data::SplitOverlap& overlap : look.overlaps) {
    if (overlap.shared == 0) continue;
    text += (text.empty() ? "" : "; ") + text_of(overlap);
  }
  if (text.empty()) return std::nullopt;
  return text;
}

std::optional<std::string> passed_over_text(const DataLook& look) {
  std::optional<data::PassedOver> all;
  for (const data::PassedOver& of_split : look.passed_over) {
    if (all)
      all->add(of_split);
    else
      all = of_split;
  }
  return all ? all->note() : std::nullopt;
}

}  // namespace cachet::tasks
