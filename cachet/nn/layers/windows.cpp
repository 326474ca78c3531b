#include "cachet/nn/layers/windows.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <utility>
#include <vector>

namespace cachet::nn {
namespace {

int64_t rounded_up(int64_t size, int64_t step) { return (size + step - 1) / step * step; }

// Where along one side of the map the position of a padded, shifted side comes from; −1 = beyond the map.
int64_t source_of(int64_t place, int64_t size, int64_t padded, int64_t shift, WindowOrder order) {
  if (order == WindowOrder::shift_then_pad) return place < size ? (place + shift) % size : -1;
  const int64_t source = (place + shift) % padded;
  return source < size ? source : -1;
}

// Along one side of the padded map: 0 before the last window, and in it 1 before what the shift brought, 2 after.
int64_t region_of(int64_t place, int64_t padded, int64_t window, int64_t shift) {
  if (place < padded - window) return 0;
  return place < padded - shift ? 1 : 2;
}

}  // namespace

void check_windows(const Grid& window, const Grid& shift) {
  TORCH_CHECK(window.height >= 1 && window.width >= 1, "windows: window must be at least 1 x 1, got ", window.height,
              " x ", window.width);
  TORCH_CHECK(shift.height >= 0 && shift.width >= 0 && shift.height < window.height && shift.width < window.width,
              "windows: shift must be at least 0 and less than the window of ", window.height, " x ", window.width,
              ", got ", shift.height, " x ", shift.width);
}

Windows::Windows(const Grid& map, const Grid& window, const Grid& shift, WindowOrder order, const at::Device& device)
    : map_(map), window_(window) {
  check_windows(window, shift);
  const Grid padded{rounded_up(map.height, window.height), rounded_up(map.width, window.width)};
  count_ = padded.tokens() / window.tokens();
  const bool shifted = shift.height > 0 || shift.width > 0;
  std::vector<int64_t> sources, regions;
  sources.reserve(static_cast<size_t>(padded.tokens()));
  for (int64_t top = 0; top < padded.height; top += window.height)
    for (int64_t left = 0; left < padded.width; left += window.width)
      for (int64_t y = top; y < top + window.height; ++y)
        for (int64_t x = left; x < left + window.width; ++x) {
          const int64_t row = source_of(y, map.height, padded.height, shift.height, order);
          const int64_t column = source_of(x, map.width, padded.width, shift.width, order);
          sources.push_back(row < 0 || column < 0 ? -1 : row * map.width + column);
          regions.push_back(3 * region_of(y, padded.height, window.height, shift.height) +
                            region_of(x, padded.width, window.width, shift.width));
        }
  if (padded.tokens() > map.tokens())
    outside_ = at::from_blob(sources.data(), {static_cast<int64_t>(sources.size()), 1}, at::kLong)
                   .lt(0)
                   .to(at::kFloat)
                   .to(device);
  order_ = TokenPermutation(std::move(sources), map.tokens(), device);
  if (!shifted) return;
  const at::Tensor region = at::from_blob(regions.data(), {count_, 1, window.tokens()}, at::kLong);
  const at::Tensor apart = region.unsqueeze(2).ne(region.unsqueeze(3));
  mask_ = at::zeros(apart.sizes(), at::kFloat).masked_fill_(apart, -std::numeric_limits<float>::infinity()).to(device);
}

at::Tensor Windows::partition(const at::Tensor& tokens, const at::Tensor& beyond) const {
  at::Tensor slots = order_.apply(tokens);  // zeros beyond the map
  if (beyond.defined() && outside_.defined()) slots = slots + (outside_ * beyond).to(slots.scalar_type());
  return slots.view({tokens.size(0) * count_, window_.tokens(), tokens.size(2)});
}

at::Tensor Windows::merge(const at::Tensor& windows) const {
  return order_.inverse(windows.reshape({windows.size(0) / count_, count_ * window_.tokens(), windows.size(2)}));
}

}  // namespace cachet::nn
