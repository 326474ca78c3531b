#include "cachet/kernels/softmax_rows.h"

#include "tests/kernels/kernel_sweep.h"
#include "tests/kernels/scalar/softmax_rows.h"

namespace cachet {
namespace {

using test::expect_near;
using test::Guarded;
using test::sweep;

constexpr int64_t kQueries = 4;
constexpr float kScale = 0.37f;

// A row in float64, as the definition has it.
template <class T>
std::vector<double> softmax_of(const Guarded<T>& scores, const Guarded<float>* bias, int64_t row, int64_t width) {
  std::vector<double> x(static_cast<size_t>(width));
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t i = 0; i < width; ++i) {
    x[i] = static_cast<double>(scores[row * width + i]) * kScale + (bias ? (*bias)[row * width + i] : 0.0f);
    most = std::max(most, x[i]);
  }
  if (std::isinf(most)) return std::vector<double>(static_cast<size_t>(width), 0.0);
  for (double& v : x) sum += v = std::exp(v - most);
  for (double& v : x) v /= sum;
  return x;
}

TEST(SoftmaxRowsKernelRobustness, EqualsItsDefinitionMaskedOrNot) {
  sweep([]<class T>(T*, int64_t width, int64_t offset, std::mt19937& random, const std::string& label) {
    Guarded<T> scores(kQueries * width, offset, random, 4.0f);
    // And one of scores whose exponentials no float32 holds.
    for (int64_t i = 0; i < width; ++i)
      scores.data()[2 * width + i] = kernels::from_float<T>(60 * scores[2 * width + i]);
    Guarded<float> bias(kQueries * width, offset, random);
    // One row without a single visible key, one with every second.
    for (int64_t i = 0; i < width; ++i) {
      bias.data()[i] = -std::numeric_limits<float>::infinity();
      if (i % 2) bias.data()[width + i] = -std::numeric_limits<float>::infinity();
    }
    for (const bool biased : {false, true})
      for (const bool simd : {true, false}) {
        Guarded<T> out(kQueries * width, offset);
        Guarded<float> scratch(width, offset);
        (simd ? kernels::softmax_rows<T>
              : kernels::scalar::softmax_rows<T>)(scores.data(), biased ? bias.data() : nullptr, kScale, out.data(),
                                                  scratch.data(), {kQueries, width});
        EXPECT_TRUE(scratch.untouched_around());
        std::vector<std::vector<double>> rows;
        for (int64_t row = 0; row < kQueries; ++row)
          rows.push_back(softmax_of(scores, biased ? &bias : nullptr, row, width));
        const auto want = [&](int64_t i) { return rows[i / width][i % width]; };
        // An exponential is off by about 20 units of 2^-24, and by a unit of its exponent, which is up to 400 in the
        // large row; then the sum's roundings.
        const auto off = [&](int64_t i) { return (i / width == 2 ? 20.0 : 1.0) * want(i); };
        expect_near<T>(out, want, off, 40.0 + static_cast<double>(width), label);
      }
  });
}

TEST(SoftmaxRowsKernelRobustness, NotANumberAndInfinityMakeTheirRowNaN) {
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    test::for_each_instruction_set([&](const std::string& set) {
      for (const int64_t width : {1, 7, 16, 37})
        for (int64_t place = 0; place < width; ++place)
          for (const bool simd : {true, false}) {
            std::vector<float> scores(2 * width, 0.5f), out(2 * width), scratch(width);
            scores[place] = odd;
            (simd ? kernels::softmax_rows<float> : kernels::scalar::softmax_rows<float>)(scores.data(), nullptr, 1.0f,
                                                                                         out.data(), scratch.data(),
                                                                                         {2, width});
            for (int64_t i = 0; i < width; ++i) {
              ASSERT_TRUE(std::isnan(out[i])) << set << ", width " << width << ", element " << i;
              ASSERT_FALSE(std::isnan(out[width + i])) << set << ": the next row";
            }
          }
    });
}

TEST(SoftmaxRowsKernelRobustness, TheBackwardPassEqualsItsDefinition) {
  sweep([]<class T>(T*, int64_t width, int64_t offset, std::mt19937& random, const std::string& label) {
    const Guarded<T> weights(kQueries * width, offset, random), grad(kQueries * width, offset, random);
    const Guarded<float> before(kQueries * width, offset, random);
    for (const bool biased : {false, true})
      for (const bool simd : {true, false}) {
        Guarded<T> d_scores(kQueries * width, offset);
        Guarded<float> d_bias = before;
        (simd ? kernels::softmax_rows_backward<T>
              : kernels::scalar::softmax_rows_backward<T>)(weights.data(), grad.data(), kScale, d_scores.data(),
                                                           biased ? d_bias.data() : nullptr, {kQueries, width});
        const auto pulled = [&](int64_t i, bool absolute) {
          double sum = 0, g = grad[i], p = weights[i];
          for (int64_t j = i / width * width; j < (i / width + 1) * width; ++j) {
            const double term = static_cast<double>(weights[j]) * grad[j];
            sum += absolute ? std::abs(term) : term;
          }
          return absolute ? std::abs(p) * (std::abs(g) + sum) : p * (g - sum);
        };
        const double roundings = static_cast<double>(width) + 8;
        expect_near<T>(
            d_scores, [&](int64_t i) { return static_cast<double>(kScale) * pulled(i, false); },
            [&](int64_t i) { return static_cast<double>(kScale) * pulled(i, true); }, roundings, label);
        expect_near<float>(
            d_bias, [&](int64_t i) { return before[i] + (biased ? pulled(i, false) : 0.0); },
            [&](int64_t i) { return std::abs(before[i]) + pulled(i, true); }, roundings, label);
      }
  });
}

}  // namespace
}  // namespace cachet
