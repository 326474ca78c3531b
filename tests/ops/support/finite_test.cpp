#include "cachet/ops/support/finite.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <limits>

namespace cachet::ops {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

at::Tensor with(double value, at::ScalarType type, int64_t row = 1, int64_t place = 37) {
  at::Tensor values = at::ones({3, 100}, type);
  values[row][place] = value;
  return values;
}

TEST(Finite, EveryPlaceCounts) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
    EXPECT_TRUE(all_finite(at::ones({3, 100}, type)));
    EXPECT_TRUE(all_finite(at::empty({0, 5}, type)));
    for (const double value : {kNaN, kInfinity, -kInfinity})
      for (const auto& [row, place] : {std::pair{0, 0}, {2, 99}, {1, 50}}) {
        const at::Tensor values = with(value, type, row, place);
        EXPECT_FALSE(all_finite(values)) << type << " " << value;
        EXPECT_FALSE(all_finite(values.t())) << type << " " << value;
        EXPECT_THROW(require_finite_scores(values), NotFinite);
      }
  }
  EXPECT_NO_THROW(require_finite_scores(with(-3e38, at::kFloat)));
}

TEST(Finite, TokensMayBeImpossible) {
  at::Tensor scores = with(-kInfinity, at::kFloat);
  EXPECT_NO_THROW(require_log_probabilities(scores));
  scores[2].fill_(-kInfinity);
  EXPECT_THROW(require_log_probabilities(scores), NotFinite) << "a row without a possible token";
  EXPECT_THROW(require_log_probabilities(with(kNaN, at::kFloat)), NotFinite);
  EXPECT_THROW(require_log_probabilities(with(kInfinity, at::kFloat)), NotFinite);
  EXPECT_NO_THROW(require_log_probabilities(at::empty({0, 5})));
}

}  // namespace
}  // namespace cachet::ops
