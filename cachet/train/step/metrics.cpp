#include "cachet/train/step/metrics.h"

#include <algorithm>

namespace cachet::train {

Metrics::Metrics(std::initializer_list<std::pair<std::string, double>> values) {
  for (const auto& [name, value] : values) set(name, value);
}

void Metrics::set(std::string_view name, double value) {
  const auto found = std::ranges::find(values_, name, &std::pair<std::string, double>::first);
  if (found == values_.end()) {
    values_.emplace_back(name, value);
  } else {
    found->second = value;
  }
}

std::optional<double> Metrics::find(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &std::pair<std::string, double>::first);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

}  // namespace cachet::train
