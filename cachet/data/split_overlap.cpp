#include "cachet/data/split_overlap.h"

#include <algorithm>
#include <utility>

namespace cachet::data {

void OverlapSearch::add_evaluation(const std::vector<std::string>& keys, std::string name) {
  Sample& sample = samples_.emplace_back(Sample{{}, std::move(name)});
  for (const std::string& key : keys) {
    if (key.empty()) continue;
    const auto [place, is_new] = places_.emplace(key, training_.size());
    if (is_new) training_.emplace_back();
    sample.keys.push_back(place->second);
  }
}

void OverlapSearch::add_training(std::string_view key, const std::function<std::string()>& name) {
  const auto place = places_.find(key);
  if (place == places_.end()) return;
  std::optional<std::string>& first = training_[place->second];
  if (!first) first = name();
}

SplitOverlap OverlapSearch::found(std::string split, std::string many) const {
  SplitOverlap overlap{.split = std::move(split), .many = std::move(many), .samples = std::ssize(samples_)};
  for (const Sample& sample : samples_) {
    const auto key = std::ranges::find_if(sample.keys, [&](size_t place) { return training_[place].has_value(); });
    if (key == sample.keys.end()) continue;
    if (overlap.shared++ > 0) continue;
    overlap.evaluation = sample.name;
    overlap.training = *training_[*key];
  }
  return overlap;
}

}  // namespace cachet::data
