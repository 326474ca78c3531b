#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "tests/support/base64.h"
#include "tests/support/test_data.h"

namespace cachet::test {

/// tests/data/pillow_images.json, which tools/make_image_fixtures.py wrote.
inline const nlohmann::json& pillow_images() {
  static const nlohmann::json fixtures = [] {
    std::ifstream file(test::test_data() + "/pillow_images.json");
    return nlohmann::json::parse(file);
  }();
  return fixtures;
}

inline at::Tensor pixels_of(const std::string& base64, at::IntArrayRef shape) {
  const auto bytes = decode_base64(base64);
  at::Tensor pixels = at::empty(shape, at::kByte);
  if (static_cast<size_t>(pixels.numel()) != bytes.size()) throw std::runtime_error("a fixture of another size");
  std::ranges::copy(bytes, reinterpret_cast<std::byte*>(pixels.mutable_data_ptr<uint8_t>()));
  return pixels;
}

/// (H, W, C) uint8 of {"height", "width", "channels", "values"}.
inline at::Tensor pixels_of(const nlohmann::json& image) {
  return pixels_of(
      image.at("values").get<std::string>(),
      {image.at("height").get<int64_t>(), image.at("width").get<int64_t>(), image.at("channels").get<int64_t>()});
}

/// The largest difference of two images.
inline int64_t levels_apart(const at::Tensor& left, const at::Tensor& right) {
  return left.to(at::kLong).sub(right.to(at::kLong)).abs().max().item<int64_t>();
}

}  // namespace cachet::test
