#include "cachet/io/tensors/names/published_constants.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "cachet/io/tensors/names/name_pattern.h"

namespace cachet::io {
namespace {

// (rows of windows · windows in a row, side²): what a map that is cut in windows holds at each position of each window.
at::Tensor in_windows(const at::Tensor& map, int64_t side) {
  const int64_t rows = map.size(0) / side, columns = map.size(1) / side;
  return map.reshape({rows, side, columns, side}).permute({0, 2, 1, 3}).reshape({rows * columns, side * side});
}

// Positions of a window's tokens in the table of (2w-1)² offsets: row offset · (2w-1) + column offset, both from 0.
at::Tensor relative_position_index(int64_t side) {
  const int64_t tokens = side * side;
  at::Tensor index = at::empty({tokens, tokens}, at::kLong);
  auto* values = index.mutable_data_ptr<int64_t>();
  for (int64_t query = 0; query < tokens; ++query)
    for (int64_t key = 0; key < tokens; ++key) {
      const int64_t rows = query / side - key / side + side - 1, columns = query % side - key % side + side - 1;
      *values++ = rows * (2 * side - 1) + columns;
    }
  return index;
}

// After the shift, tokens that come from different edges of the map share a window and must not see each other.
at::Tensor shifted_window_mask(int64_t height, int64_t width, int64_t side) {
  const int64_t shift = side / 2;
  const auto band = [&](int64_t at, int64_t size) { return at < size - side ? 0 : at < size - shift ? 1 : 2; };
  at::Tensor regions = at::empty({height, width}, at::kFloat);
  auto* values = regions.mutable_data_ptr<float>();
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) *values++ = static_cast<float>(3 * band(y, height) + band(x, width));
  const at::Tensor windows = in_windows(regions, side);
  const at::Tensor same = windows.unsqueeze(1) == windows.unsqueeze(2);
  return at::where(same, at::zeros({}, at::kFloat), at::zeros({}, at::kFloat).fill_(-100.0));
}

}  // namespace

TensorMap swin_constants(const TensorMap& theirs, int64_t image_height, int64_t image_width) {
  const auto embedding = theirs.find("patch_embed.proj.weight");
  const int64_t patch = embedding == theirs.end() ? 4 : embedding->second.size(2);
  const NamePattern table("layers.#.blocks.#.attn.relative_position_bias_table");
  TensorMap constants;
  for (const auto& [name, tensor] : theirs) {
    const auto numbers = table.match(name);
    if (!numbers) continue;
    const int64_t layer = std::stoll((*numbers)[0]), block = std::stoll((*numbers)[1]);
    const auto side = static_cast<int64_t>((std::llround(std::sqrt(static_cast<double>(tensor.size(0)))) + 1) / 2);
    const int64_t height = image_height / patch >> layer, width = image_width / patch >> layer;
    const std::string place = "layers." + (*numbers)[0] + ".blocks." + (*numbers)[1] + ".";
    constants.emplace(place + "attn.relative_position_index", relative_position_index(side));
    if (block % 2 == 1 && std::min(height, width) > side && height % side == 0 && width % side == 0)
      constants.emplace(place + "attn_mask", shifted_window_mask(height, width, side));
  }
  return constants;
}

TensorMap transformer_xl_constants(const TensorMap& theirs) {
  constexpr double kLongestPeriod = 10000.0;
  const auto reader = theirs.find("layers.0.dec_attn.qkv_net.weight");
  if (reader == theirs.end() || reader->second.dim() != 2) return {};
  const int64_t channels = reader->second.size(1);
  const at::ScalarType type = reader->second.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor exponents = at::arange(0, channels, 2, type) / channels;
  return {{"pos_emb.inv_freq", at::pow(kLongestPeriod, exponents).reciprocal()}};
}

TensorMap fairseq_constants() {
  constexpr double kVersion = 3;
  TensorMap constants;
  for (const std::string half : {"encoder", "decoder"}) {
    constants.emplace(half + ".version", at::full({1}, kVersion));
    constants.emplace(half + ".embed_positions._float_tensor", at::zeros({1}));
  }
  return constants;
}

}  // namespace cachet::io
