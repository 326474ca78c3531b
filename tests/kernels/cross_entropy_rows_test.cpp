#include "cachet/kernels/cross_entropy_rows.h"

#include <algorithm>

#include "tests/kernels/kernel_sweep.h"
#include "tests/kernels/scalar/cross_entropy_rows.h"

namespace cachet {
namespace {

using test::expect_near;
using test::Guarded;
using test::sweep;

constexpr int64_t kRows = 4;

// A row in float64, as the definition has it.
struct Row {
  std::vector<double> residual;
  double loss = 0, likelihood = 0;
};

template <class T>
Row row_of(const Guarded<T>& scores, const Guarded<float>* bias, int64_t row, int64_t width, int64_t target,
           double smoothing, double other) {
  Row made{std::vector<double>(static_cast<size_t>(width), 0.0)};
  if (target < 0) return made;
  std::vector<double> z(static_cast<size_t>(width));
  for (int64_t i = 0; i < width; ++i) z[i] = static_cast<double>(scores[row * width + i]) + (bias ? (*bias)[i] : 0.0f);
  const double most = *std::max_element(z.begin(), z.end());
  double sum = 0;
  for (const double v : z) sum += std::exp(v - most);
  for (int64_t i = 0; i < width; ++i) {
    const double log_p = z[i] - most - std::log(sum), wanted = other + (i == target ? 1 - smoothing - other : 0);
    made.loss -= wanted * log_p;
    made.residual[i] = std::exp(log_p) - wanted;
    if (i == target) made.likelihood = -log_p;
  }
  return made;
}

TEST(CrossEntropyRowsKernelRobustness, EqualsItsDefinition) {
  sweep([]<class T>(T*, int64_t width, int64_t offset, std::mt19937& random, const std::string& label) {
    if (width == 0) return;  // no class, no row
    Guarded<T> scores(kRows * width, offset, random, 4.0f);
    // One row of scores whose exponentials no float32 holds.
    for (int64_t i = 0; i < width; ++i)
      scores.data()[2 * width + i] = kernels::from_float<T>(60 * scores[2 * width + i]);
    const Guarded<float> bias(width, offset, random);
    const int64_t classes[kRows] = {0, -1, width / 2, width - 1};
    for (const double smoothing : {0.0, 0.1}) {
      if (smoothing > 0 && width == 1) continue;
      const double other = smoothing == 0 ? 0 : smoothing / static_cast<double>(width - 1);
      for (const bool biased : {false, true})
        for (const bool simd : {true, false}) {
          Guarded<T> residual(kRows * width, offset);
          Guarded<float> losses(kRows, offset), likelihoods(kRows, offset), scratch(width, offset);
          (simd ? kernels::cross_entropy_rows<T>
                : kernels::scalar::cross_entropy_rows<T>)(scores.data(), biased ? bias.data() : nullptr,
                                                          {classes, static_cast<float>(smoothing),
                                                           static_cast<float>(other)},
                                                          losses.data(), likelihoods.data(), residual.data(),
                                                          scratch.data(), {kRows, width});
          EXPECT_TRUE(scratch.untouched_around());
          std::vector<Row> rows;
          for (int64_t row = 0; row < kRows; ++row)
            rows.push_back(row_of(scores, biased ? &bias : nullptr, row, width, classes[row], smoothing, other));
          // Exponentials as in softmax_rows; entropies are differences of scores, which reach 1,000 in the large row.
          const auto size = [](int64_t row) { return row == 2 ? 20.0 : 1.0; };
          const double roundings = 40.0 + static_cast<double>(width);
          expect_near<T>(
              residual, [&](int64_t i) { return rows[i / width].residual[i % width]; },
              [&](int64_t i) { return size(i / width); }, roundings, label);
          expect_near<float>(
              losses, [&](int64_t i) { return rows[i].loss; }, [&](int64_t i) { return 20 * size(i); }, roundings,
              label + ", losses");
          expect_near<float>(
              likelihoods, [&](int64_t i) { return rows[i].likelihood; }, [&](int64_t i) { return 20 * size(i); },
              roundings, label + ", likelihoods");
        }
    }
  });
}

TEST(CrossEntropyRowsKernelRobustness, TheResidualMayLieWhereTheScoresDo) {
  sweep([]<class T>(T*, int64_t width, int64_t offset, std::mt19937& random, const std::string& label) {
    if (width == 0) return;
    Guarded<T> scores(kRows * width, offset, random), apart(kRows * width, offset);
    Guarded<float> scratch(width, 0), losses(kRows, 0), likelihoods(kRows, 0), alone(kRows, 0);
    const int64_t classes[kRows] = {width - 1, 0, -1, width / 2};
    const auto run = [&](Guarded<float>& into, T* residual) {
      kernels::cross_entropy_rows<T>(scores.data(), nullptr, {classes}, into.data(), likelihoods.data(), residual,
                                     scratch.data(), {kRows, width});
    };
    run(losses, apart.data());
    run(alone, nullptr);
    run(losses, scores.data());
    EXPECT_TRUE(scores.untouched_around()) << label;
    for (int64_t i = 0; i < kRows * width; ++i) ASSERT_EQ(scores[i], apart[i]) << label << ", element " << i;
    for (int64_t row = 0; row < kRows; ++row) ASSERT_EQ(alone[row], losses[row]) << label << ": without a residual";
  });
}

TEST(CrossEntropyRowsKernelRobustness, NotANumberMakesItsRowNaNAndNoOther) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), infinity})
    test::for_each_instruction_set([&](const std::string& set) {
      for (const int64_t width : {1, 7, 16, 37})
        for (int64_t place = 0; place < width; ++place)
          for (const bool simd : {true, false}) {
            std::vector<float> scores(3 * width, 0.5f), residual(3 * width), scratch(width), losses(3), likelihoods(3);
            scores[place] = scores[2 * width + place] = odd;
            const int64_t classes[] = {0, 0, -1};
            (simd ? kernels::cross_entropy_rows<float>
                  : kernels::scalar::cross_entropy_rows<float>)(scores.data(), nullptr, {classes}, losses.data(),
                                                                likelihoods.data(), residual.data(), scratch.data(),
                                                                {3, width});
            ASSERT_TRUE(std::isnan(losses[0]) && std::isnan(likelihoods[0])) << set;
            ASSERT_FALSE(std::isnan(losses[1])) << set << ": the next row";
            ASSERT_EQ(losses[2], 0.0f) << set << ": a row without a class";
            for (int64_t i = 0; i < width; ++i) {
              ASSERT_TRUE(std::isnan(residual[i])) << set << ", width " << width << ", element " << i;
              ASSERT_EQ(residual[2 * width + i], 0.0f) << set;
            }
          }
    });
}

TEST(CrossEntropyRowsKernelRobustness, AScoreOfMinusInfinityIsNoClass) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const bool simd : {true, false}) {
    std::vector<float> scores{-infinity, 1.0f, 1.0f}, residual(3), scratch(3), loss(1), likelihood(1);
    const int64_t classes[] = {1};
    (simd ? kernels::cross_entropy_rows<float>
          : kernels::scalar::cross_entropy_rows<float>)(scores.data(), nullptr, {classes}, loss.data(),
                                                        likelihood.data(), residual.data(), scratch.data(), {1, 3});
    EXPECT_NEAR(loss[0], std::log(2.0f), 1e-6);
    EXPECT_EQ(residual[0], 0.0f);
  }
}

}  // namespace
}  // namespace cachet
