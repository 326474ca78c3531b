#include "cachet/data/vision/image_notes.h"

#include <utility>

namespace cachet::data {

void ImageNotes::add(const std::string& message) {
  constexpr size_t kMaxNamed = 100;
  const std::lock_guard lock(mutex_);
  if (!messages_.insert(message).second) return;
  if (first_.size() < kMaxNamed) first_.push_back(message);
  new_.push_back(message);
}

int64_t ImageNotes::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(messages_.size());
}

std::vector<std::string> ImageNotes::lines() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  if (messages_.size() > 1) lines.push_back(many_ + ": " + std::to_string(messages_.size()) + " in all");
  for (const std::string& message : first_) lines.push_back(one_ + ": " + message);
  return lines;
}

std::vector<std::string> ImageNotes::take_new() {
  const std::lock_guard lock(mutex_);
  return std::exchange(new_, {});
}

}  // namespace cachet::data
