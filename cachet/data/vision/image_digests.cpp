#include "cachet/data/vision/image_digests.h"

#include <utility>

namespace cachet::data {

void ImageDigests::add(int64_t image, std::string digest) {
  const std::lock_guard lock(mutex_);
  digests_[image] = std::move(digest);
}

std::optional<std::string> ImageDigests::find(int64_t image) const {
  const std::lock_guard lock(mutex_);
  const auto found = digests_.find(image);
  return found == digests_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<int64_t> ImageDigests::images() const {
  const std::lock_guard lock(mutex_);
  std::vector<int64_t> images;
  for (const auto& [image, digest] : digests_) images.push_back(image);
  return images;
}

}  // namespace cachet::data
