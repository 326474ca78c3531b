#include "cachet/models/detection/heads/level_strides.h"

#include <c10/util/Exception.h>

namespace cachet::models {

std::vector<int64_t> level_strides(const std::vector<int64_t>& backbone, const FpnOptions& neck) {
  const auto first = static_cast<size_t>(neck.start_level), count = static_cast<size_t>(neck.outputs);
  std::vector<int64_t> strides;
  for (size_t i = first; i < backbone.size(); ++i) strides.push_back(backbone[i]);
  while (!strides.empty() && strides.size() < count) strides.push_back(2 * strides.back());
  return strides;
}

std::string strides_text(const std::vector<int64_t>& strides) {
  std::string text;
  for (const int64_t stride : strides) text += (text.empty() ? "" : ", ") + std::to_string(stride);
  return text;
}

void check_level_strides(const std::vector<int64_t>& backbone, const FpnOptions& neck,
                         const std::vector<int64_t>& anchors) {
  const std::vector<int64_t> levels = level_strides(backbone, neck);
  TORCH_CHECK(anchors == levels, "detector: the anchors must have the strides of the neck's levels (",
              strides_text(levels), "), got (", strides_text(anchors), ")");
}

}  // namespace cachet::models
