#include "cachet/models/map_convolution.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/autocast.h"

namespace cachet::models {
namespace {

struct MapGradients {
  at::Tensor map, weight;
};

MapGradients map_gradients_of(const at::Tensor& map, const at::Tensor& weight, const at::Tensor& bias, int64_t stride) {
  const at::Tensor own_map = map.detach().clone().requires_grad_(), own = weight.detach().clone().requires_grad_();
  convolve_map(own_map, own, bias, stride, weight.size(2) / 2).to(at::kFloat).square().sum().backward();
  return {own_map.grad(), own.grad()};
}

// Memory that holds no numbers, as what an operator leaves unwritten may be.
void leave_nan_behind() { at::empty({1 << 18}).fill_(std::nan("")); }

void expect_near_in_bfloat16(const at::Tensor& actual, const at::Tensor& expected, const std::string& what) {
  const double largest = expected.abs().max().item<double>();
  // Roundings of bfloat16, 2^-9 each, of maps, weights, products and their gradients.
  EXPECT_LT((actual - expected).abs().max().item<double>(), 0.05 * largest) << what;
}

TEST(MapConvolution, HasTheGradientsOfFloat32UnderAutocastHoweverNarrowTheMap) {
  for (const int64_t side : {3, 7})
    for (const int64_t stride : {1, 2, 4})
      for (const int64_t height : {1, 3, 5})
        for (const int64_t width : {1, 2, 3, 5}) {
          const std::string what = std::to_string(side) + " wide, stride " + std::to_string(stride) + ", a map of " +
                                   std::to_string(height) + " x " + std::to_string(width);
          const at::Tensor map = at::randn({4, 16, height, width}), weight = at::randn({32, 16, side, side}),
                           bias = at::randn({32});
          const MapGradients expected = map_gradients_of(map, weight, bias, stride);
          leave_nan_behind();
          const test::BFloat16Autocast autocast;
          const MapGradients actual = map_gradients_of(map, weight, bias, stride);
          expect_near_in_bfloat16(actual.weight, expected.weight, "weight, " + what);
          expect_near_in_bfloat16(actual.map, expected.map, "map, " + what);
        }
}

TEST(MapConvolution, IsBfloat16UnderAutocast) {
  const at::Tensor weight = at::randn({8, 4, 3, 3}).requires_grad_(), bias = at::randn({8});
  const test::BFloat16Autocast autocast;
  for (const int64_t width : {1, 8})
    EXPECT_EQ(convolve_map(at::randn({2, 4, width, width}), weight, bias, 2, 1).scalar_type(), at::kBFloat16);
}

}  // namespace
}  // namespace cachet::models
