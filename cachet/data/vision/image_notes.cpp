#include "cachet/data/vision/image_notes.h"

namespace cachet::data {

void ImageNotes::add(const std::string& message) {
  constexpr size_t kMaxNamed = 100;
  const std::lock_guard lock(mutex_);
  if (messages_.insert(message).second && first_.size() < kMaxNamed) first_.push_back(message);
}

int64_t ImageNotes::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(messages_.size());
}

std::vector<std::string> ImageNotes::lines() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (const std::string& message : first_) lines.push_back(one_ + ": " + message);
  if (messages_.size() > first_.size()) lines.push_back(many_ + ": " + std::to_string(messages_.size()) + " in all");
  return lines;
}

}  // namespace cachet::data
