#include "cachet/kernels/block_softmax.h"

#include "tests/kernels/kernel_sweep.h"
#include "tests/kernels/scalar/block_softmax.h"

namespace cachet {
namespace {

using kernels::SeenKeys;
using test::expect_near;
using test::Guarded;

constexpr int64_t kBlockRows = 5, kRowGap = 3;  // numbers between rows
constexpr float kBlockScale = 0.37f;

/// Positions of a block: a row that sees nothing, ranges, padding, keys that all see, and queries' own.
struct Positions {
  Positions(int64_t width, bool own_last, std::mt19937& random) {
    for (int64_t i = 0; i < width; ++i) keys.push_back(static_cast<int32_t>(random() % 9) - 2);
    seen = {queries.data(), keys.data(), -4, 2, own_last};
  }
  bool visible(int64_t row, int64_t column) const {
    const int32_t key = keys[column], ahead = key - queries[row];
    return key == kernels::kAlwaysSeen || (key >= 0 && ahead >= seen.least && ahead <= seen.most);
  }
  std::vector<int32_t> queries{0, 3, -1000000, 7, 2}, keys;
  SeenKeys seen{};
};

double score_of(const Guarded<float>& scores, const Positions* positions, int64_t row, int64_t column, int64_t stride) {
  const double score = static_cast<double>(scores[row * stride + column]) * kBlockScale;
  if (!positions) return score;
  if (!positions->visible(row, column)) return -std::numeric_limits<double>::infinity();
  const bool own = positions->seen.own_last && positions->keys[column] == positions->queries[row];
  return own ? score - kernels::kOwnPenalty : score;
}

struct Softmax {
  std::vector<double> weights;
  double logsumexp;
};

Softmax block_softmax_of(const Guarded<float>& scores, const Positions* positions, int64_t row, int64_t width,
                         int64_t stride) {
  Softmax out{std::vector<double>(static_cast<size_t>(width), 0.0), kernels::kNoScore};
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t i = 0; i < width; ++i) most = std::max(most, score_of(scores, positions, row, i, stride));
  if (std::isinf(most)) return out;
  for (int64_t i = 0; i < width; ++i)
    sum += out.weights[i] = std::exp(score_of(scores, positions, row, i, stride) - most);
  for (double& weight : out.weights) weight /= sum;
  out.logsumexp = most + std::log(sum);
  return out;
}

// The kernels take float32 alone: the sweep's other type is left out.
template <class Body>
void sweep_floats(const Body& body) {
  test::sweep([&]<class T>(T*, int64_t width, int64_t offset, std::mt19937& random, const std::string& label) {
    if constexpr (std::is_same_v<T, float>) body(width, offset, random, label);
  });
}

TEST(BlockSoftmaxKernelRobustness, EqualsItsDefinitionForEveryRuleOfSight) {
  sweep_floats([](int64_t width, int64_t offset, std::mt19937& random, const std::string& label) {
    const int64_t stride = width + kRowGap;
    const Guarded<float> scores(kBlockRows * stride, offset, random, 4.0f);
    for (const int rule : {0, 1, 2})
      for (const bool simd : {true, false}) {
        const Positions positions(width, rule == 2, random);
        const Positions* used = rule > 0 ? &positions : nullptr;
        const SeenKeys* seen = used ? &positions.seen : nullptr;
        Guarded<float> out = scores, sums(kBlockRows, offset);
        (simd ? kernels::block_softmax : kernels::scalar::block_softmax)(out.data(), kBlockScale, seen, sums.data(),
                                                                         {kBlockRows, width, stride});
        std::vector<Softmax> rows;
        for (int64_t row = 0; row < kBlockRows; ++row)
          rows.push_back(block_softmax_of(scores, used, row, width, stride));
        const auto between = [&](int64_t i) { return i % stride >= width; };
        // A row whose one key is its own has a score of −1e5, which float32 resolves to 1/128: its weight stays exact
        // where it is alone, and several of them differ by as much.
        const auto coarse = [&](int64_t row) { return rows[row].logsumexp < -5e4 ? 1 / 64.0 : 0.0; };
        const auto weight = [&](int64_t i) { return between(i) ? scores[i] : rows[i / stride].weights[i % stride]; };
        const double roundings = 40.0 + static_cast<double>(width);
        expect_near<float>(
            out, weight, [&](int64_t i) { return std::abs(weight(i)) * (1 + coarse(i / stride) * 0x1p24 / roundings); },
            roundings, label);
        expect_near<float>(
            sums, [&](int64_t i) { return rows[i].logsumexp; },
            [&](int64_t i) { return 10 + std::abs(rows[i].logsumexp); }, roundings, label);

        Guarded<float> again = scores;
        (simd ? kernels::block_weights : kernels::scalar::block_weights)(again.data(), kBlockScale, seen, sums.data(),
                                                                         {kBlockRows, width, stride});
        expect_near<float>(
            again, weight,
            [&](int64_t i) { return std::abs(weight(i)) * (1 + coarse(i / stride) * 0x1p24 / roundings); }, roundings,
            label + " again");
      }
  });
}

TEST(BlockSoftmaxKernelRobustness, OddNumbersMakeTheirRowNaNUnlessTheyAreHidden) {
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    test::for_each_instruction_set([&](const std::string& set) {
      for (const int64_t width : {2, 7, 16, 37})
        for (int64_t place = 0; place < width; ++place)
          for (const bool hidden : {false, true})
            for (const bool simd : {true, false}) {
              std::vector<float> scores(2 * width, 0.5f), sums(2);
              scores[place] = odd;
              const std::vector<int32_t> queries{0, 0};
              std::vector<int32_t> keys(width, 1);
              if (hidden) keys[place] = -1;
              const SeenKeys seen{queries.data(), keys.data(), -9, 9, false};
              (simd ? kernels::block_softmax : kernels::scalar::block_softmax)(scores.data(), 1.0f, &seen, sums.data(),
                                                                               {2, width, width});
              for (int64_t i = 0; i < width; ++i) {
                ASSERT_EQ(std::isnan(scores[i]), !hidden) << set << ", width " << width << ", element " << i;
                ASSERT_FALSE(std::isnan(scores[width + i])) << set << ": the next row";
              }
            }
    });
}

TEST(BlockSoftmaxKernelRobustness, TheBackwardPassEqualsItsDefinition) {
  sweep_floats([](int64_t width, int64_t offset, std::mt19937& random, const std::string& label) {
    const int64_t stride = width + kRowGap;
    const Guarded<float> weights(kBlockRows * stride, offset, random), offsets(kBlockRows, offset, random);
    const Guarded<float> grad(kBlockRows * stride, offset, random);
    for (const bool simd : {true, false}) {
      Guarded<float> out = grad;
      (simd ? kernels::block_softmax_backward : kernels::scalar::block_softmax_backward)(
          weights.data(), offsets.data(), kBlockScale, out.data(), {kBlockRows, width, stride});
      const auto between = [&](int64_t i) { return i % stride >= width; };
      expect_near<float>(
          out,
          [&](int64_t i) {
            const double pulled = static_cast<double>(grad[i]) - offsets[i / stride];
            return between(i) ? grad[i] : static_cast<double>(kBlockScale) * weights[i] * pulled;
          },
          [&](int64_t i) { return std::abs(weights[i]) * (std::abs(grad[i]) + std::abs(offsets[i / stride])); }, 4,
          label);
    }
  });
}

}  // namespace
}  // namespace cachet
