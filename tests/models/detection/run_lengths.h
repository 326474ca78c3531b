#pragma once

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cachet::testing {

/// A mask {"size": [h, w], "counts": "…"} in COCO's compressed run lengths, down the columns -> (h, w) bool.
inline at::Tensor decoded_mask(const nlohmann::json& rle) {
  const auto text = rle.at("counts").get<std::string>();
  const int64_t height = rle.at("size").at(0), width = rle.at("size").at(1);
  std::vector<int64_t> runs;
  for (size_t i = 0; i < text.size();) {
    int64_t value = 0, bits = 0, piece = 0;
    do {
      piece = text.at(i++) - 48;
      value |= (piece & 31) << bits;
      bits += 5;
    } while ((piece & 32) != 0);
    if ((piece & 16) != 0) value -= int64_t{1} << bits;
    runs.push_back(runs.size() > 2 ? value + runs[runs.size() - 2] : value);
  }
  const at::Tensor down = at::zeros({width * height}, at::kBool);
  int64_t from = 0;
  for (size_t i = 0; i < runs.size(); from += runs[i++])
    if (i % 2 == 1) down.narrow(0, from, runs[i]).fill_(true);
  return down.view({width, height}).t().contiguous();
}

}  // namespace cachet::testing
