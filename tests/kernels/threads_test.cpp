// Kernels are serial over a range, and operators give each thread a range of its own. These tests do the same with
// plain threads, so that the thread sanitizer sees a kernel that touches more than its range; without it they hold the
// parts to the whole, bit by bit. .ci/run asks for each kernel here.
#include <algorithm>
#include <functional>
#include <span>
#include <thread>

#include "cachet/kernels/attention_rows.h"
#include "cachet/kernels/bias_gelu.h"
#include "cachet/kernels/block_softmax.h"
#include "cachet/kernels/cross_entropy_rows.h"
#include "cachet/kernels/dropout.h"
#include "cachet/kernels/feature_units.h"
#include "cachet/kernels/grc_update.h"
#include "cachet/kernels/mix_heads.h"
#include "cachet/kernels/nms.h"
#include "cachet/kernels/relative_softmax_rows.h"
#include "cachet/kernels/roi_align.h"
#include "cachet/kernels/small_product.h"
#include "cachet/kernels/softmax_rows.h"
#include "cachet/kernels/token_convolution.h"
#include "cachet/kernels/token_passes.h"
#include "cachet/kernels/transpose.h"
#include "tests/kernels/kernel_sweep.h"

namespace cachet {
namespace {

using kernels::BFloat16;

constexpr int64_t kThreads = 4;

// Runs body(from, to) for the parts of [0, count), each a multiple of step long, on threads of their own.
void in_threads(int64_t count, int64_t step, const std::function<void(int64_t from, int64_t to)>& body) {
  const int64_t part = (count / step + kThreads - 1) / kThreads * step;
  std::vector<std::thread> threads;
  for (int64_t from = 0; from < count; from += part)
    threads.emplace_back([&body, from, to = std::min(count, from + part)] { body(from, to); });
  for (std::thread& thread : threads) thread.join();
}

template <class T>
std::vector<T> random_numbers(int64_t count, float spread = 1.0f) {
  static std::mt19937 random(5);
  std::normal_distribution<float> normal(0.0f, spread);
  std::vector<T> numbers(static_cast<size_t>(count));
  for (T& number : numbers) number = kernels::from_float<T>(normal(random));
  return numbers;
}

// What run(out, extra, from, to) writes of [0, count) is the same bits in one call and in several threads. `extra` has
// what a kernel also writes: sums, losses.
template <class T, class Run>
void expect_parts_make_the_whole(int64_t numbers, int64_t numbers_beside, int64_t count, int64_t step, const Run& run) {
  std::vector<T> whole(static_cast<size_t>(numbers)), parts(whole);
  std::vector<float> whole_beside(static_cast<size_t>(numbers_beside)), parts_beside(whole_beside);
  run(whole.data(), whole_beside.data(), 0, count);
  in_threads(count, step, [&](int64_t from, int64_t to) { run(parts.data(), parts_beside.data(), from, to); });
  const auto bytes = [](const auto& vector) { return std::as_bytes(std::span(vector)); };
  EXPECT_TRUE(std::ranges::equal(bytes(whole), bytes(parts)));
  EXPECT_TRUE(std::ranges::equal(bytes(whole_beside), bytes(parts_beside)));
}

template <class T, class Run>
void expect_parts_make_the_whole(int64_t numbers, int64_t count, int64_t step, const Run& run) {
  expect_parts_make_the_whole<T>(numbers, 0, count, step,
                                 [&](T* out, float*, int64_t from, int64_t to) { run(out, from, to); });
}

template <class T>
class KernelThreads : public ::testing::Test {};
using Types = ::testing::Types<float, BFloat16>;
struct TypeNames {
  template <class T>
  static std::string GetName(int) {
    return std::is_same_v<T, float> ? "float32" : "bfloat16";
  }
};
TYPED_TEST_SUITE(KernelThreads, Types, TypeNames);

constexpr int64_t kTokens = 37, kWidth = 21;

TYPED_TEST(KernelThreads, PassesOverTokens) {
  using T = TypeParam;
  const auto x = random_numbers<T>(kTokens * kWidth), memory = random_numbers<T>(kTokens * 7);
  const auto scale = random_numbers<float>(kWidth);
  expect_parts_make_the_whole<T>(kTokens * kWidth, kTokens, 1, [&](T* out, int64_t from, int64_t to) {
    kernels::scale_shift(x.data() + from * kWidth, scale.data(), scale.data(), out + from * kWidth,
                         {to - from, kWidth});
  });
  expect_parts_make_the_whole<T>(kTokens * kWidth, kTokens, 1, [&](T* out, int64_t from, int64_t to) {
    kernels::bias_gelu(x.data() + from * kWidth, scale.data(), out + from * kWidth, {to - from, kWidth});
  });
  const float share[7] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f};
  expect_parts_make_the_whole<T>(kTokens * kWidth, kTokens, 1, [&](T* out, int64_t from, int64_t to) {
    kernels::mix_heads(x.data() + from * kWidth, memory.data() + from * 7, share, out + from * kWidth,
                       {to - from, 7, 3, 1});
  });
}

// Sums over tokens are separate for each thread's range; here each token has its own.
TYPED_TEST(KernelThreads, PassesThatSumOverTokens) {
  using T = TypeParam;
  const auto x = random_numbers<T>(kTokens * kWidth), dy = random_numbers<T>(kTokens * kWidth);
  const auto memory = random_numbers<T>(kTokens * 7);
  const auto scale = random_numbers<float>(kWidth);
  const auto each = [&](int64_t width, int64_t sums, const auto& run) {
    expect_parts_make_the_whole<T>(
        kTokens * width, kTokens * sums, kTokens, 1, [&](T* out, float* beside, int64_t from, int64_t to) {
          for (int64_t i = from; i < to; ++i)
            run(i, x.data() + i * kWidth, dy.data() + i * kWidth, out + i * width, beside + i * sums);
        });
  };
  const bool* no_padding = nullptr;
  each(kWidth, kWidth, [&](int64_t, const T* row, const T* grad, T*, float* sums) {
    kernels::sum_of_squares(row, no_padding, sums, {1, kWidth});
    kernels::sum_of_squares(grad, no_padding, sums, {1, kWidth});
  });
  each(kWidth, 2 * kWidth, [&](int64_t, const T* row, const T* grad, T*, float* sums) {
    kernels::gradient_sums(grad, row, no_padding, sums, sums + kWidth, {1, kWidth});
  });
  each(kWidth, 0, [&](int64_t, const T* row, const T* grad, T* out, float*) {
    kernels::scale_subtract(grad, scale.data(), row, scale.data(), out, {1, kWidth});
  });
  each(kWidth, kWidth, [&](int64_t, const T* row, const T* grad, T* out, float* d_bias) {
    kernels::bias_gelu_backward(row, scale.data(), grad, out, d_bias, {1, kWidth});
  });
  const float share[7] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f};
  each(kWidth + 7, 7, [&](int64_t i, const T* row, const T* grad, T* out, float* d_share) {
    kernels::mix_heads_backward(grad, row, memory.data() + i * 7, share, out, out + kWidth, d_share, {1, 7, 3, 1});
  });
}

TYPED_TEST(KernelThreads, RowsOfAttention) {
  using T = TypeParam;
  const auto scores = random_numbers<T>(kTokens * kWidth, 3.0f);
  const auto bias = random_numbers<float>(kTokens * kWidth);
  expect_parts_make_the_whole<T>(kTokens * kWidth, kTokens, 1, [&](T* out, int64_t from, int64_t to) {
    std::vector<float> scratch(kWidth);
    kernels::softmax_rows(scores.data() + from * kWidth, bias.data() + from * kWidth, 0.5f, out + from * kWidth,
                          scratch.data(), {to - from, kWidth});
  });
  const auto grad = random_numbers<T>(kTokens * kWidth);
  expect_parts_make_the_whole<T>(
      kTokens * kWidth, kTokens * kWidth, kTokens, 1, [&](T* out, float* d_bias, int64_t from, int64_t to) {
        kernels::softmax_rows_backward(scores.data() + from * kWidth, grad.data() + from * kWidth, 0.5f,
                                       out + from * kWidth, d_bias + from * kWidth, {to - from, kWidth});
      });
}

TYPED_TEST(KernelThreads, RowsOfTheCache) {
  using T = TypeParam;
  constexpr int64_t kBatch = 3;
  const auto tokens = random_numbers<T>(kBatch * kTokens * 3 * kWidth),
             products = random_numbers<T>(kTokens * 2 * kWidth);
  const auto reset = random_numbers<T>(kBatch * kTokens * kWidth);
  const auto cache = random_numbers<float>(kTokens * kWidth), norm = random_numbers<float>(kWidth);
  const kernels::GrcInputs<T> in{tokens.data(), products.data(), reset.data(), cache.data(),
                                 norm.data(),   norm.data(),     norm.data(),  1e-5f};
  const kernels::GrcShape shape{kBatch, kTokens, kWidth, true};
  expect_parts_make_the_whole<T>(kBatch * kTokens * kWidth, kTokens, 8, [&](T* out, int64_t from, int64_t to) {
    kernels::grc_reset(in, out, shape, {from, to});
  });
  expect_parts_make_the_whole<T>(kBatch * kTokens * kWidth, kTokens * kWidth, kTokens, 8,
                                 [&](T* out, float* mean, int64_t from, int64_t to) {
                                   std::vector<float> scratch(kWidth);
                                   kernels::grc_blend(in, out, mean, scratch.data(), shape, {from, to});
                                 });
  // The gradients of the norm's weights are a thread's own, and added up after.
  const auto grad = random_numbers<T>(kBatch * kTokens * kWidth),
             to_mean = random_numbers<T>(kBatch * kTokens * kWidth);
  const int64_t of_gates = kTokens * 2 * kWidth;
  const auto backward = [&](T* out, float* beside, int64_t from, int64_t to) {
    std::vector<float> scratch(2 * kWidth), of_norm(2 * kWidth);
    const kernels::GrcGradients<T> gradients{out, beside, beside + of_gates, of_norm.data(), of_norm.data() + kWidth};
    std::vector<T> product(kBatch * kTokens * kWidth);
    kernels::grc_blend_backward(in, grad.data(), nullptr, gradients, scratch.data(), shape, {from, to});
    kernels::grc_reset_backward(in, to_mean.data(), product.data(), gradients, shape, {from, to});
  };
  expect_parts_make_the_whole<T>(kBatch * kTokens * 3 * kWidth, of_gates + kTokens * kWidth, kTokens, 8, backward);
}

TYPED_TEST(KernelThreads, RowsOfAGridAndChannelsOfItsWeights) {
  using T = TypeParam;
  const kernels::ConvolutionShape shape{9, 5, 256, 2};
  const int64_t numbers = shape.height * shape.width * shape.channels;
  const auto x = random_numbers<T>(numbers), grad = random_numbers<T>(numbers);
  const auto packed = random_numbers<float>(9 * shape.group * shape.channels), bias = random_numbers<float>(256);
  expect_parts_make_the_whole<T>(numbers, shape.height, 1, [&](T* out, int64_t from, int64_t to) {
    kernels::convolve_tokens(x.data(), packed.data(), bias.data(), static_cast<const T*>(nullptr), out, shape,
                             kernels::ConvolutionEnd::gelu, from, to);
  });
  expect_parts_make_the_whole<float>(
      9 * shape.group * shape.channels, shape.channels, 64, [&](float* out, int64_t from, int64_t to) {
        kernels::convolve_tokens_weight_gradient(grad.data(), x.data(), out, shape, from, to);
      });
}

TYPED_TEST(KernelThreads, RowsOfKernelAttention) {
  using T = TypeParam;
  const auto values = random_numbers<T>(kTokens * kWidth);
  const auto numerators = random_numbers<float>(kTokens * kWidth), denominators = random_numbers<float>(kTokens);
  expect_parts_make_the_whole<float>(kTokens * (kWidth + 1), kTokens, 1, [&](float* out, int64_t from, int64_t to) {
    kernels::append_ones(values.data() + from * kWidth, static_cast<const bool*>(nullptr), out + from * (kWidth + 1),
                         {to - from, kWidth, kWidth});
  });
  expect_parts_make_the_whole<float>(kTokens, kTokens, 1, [&](float* out, int64_t from, int64_t to) {
    kernels::dot_rows(numerators.data() + from * kWidth, denominators.data(), false, out + from,
                      {to - from, kWidth, kWidth});
  });
  expect_parts_make_the_whole<T>(
      kTokens * kWidth, kTokens, kTokens, 1, [&](T* out, float* divisors, int64_t from, int64_t to) {
        kernels::divide_totals(numerators.data() + from * kWidth, denominators.data() + from, 1e-3f,
                               out + from * kWidth, divisors + from, {to - from, kWidth, kWidth});
      });
  expect_parts_make_the_whole<float>(kTokens * (kWidth + 1), kTokens, 1, [&](float* out, int64_t from, int64_t to) {
    kernels::divide_totals_backward(values.data() + from * kWidth, denominators.data() + from,
                                    values.data() + from * kWidth, kWidth, out + from * (kWidth + 1),
                                    {to - from, kWidth, kWidth});
  });
}

TYPED_TEST(KernelThreads, RowsOfRelativeAttention) {
  using T = TypeParam;
  // Queries of one head each: heads are what threads share out.
  constexpr int64_t kHeads = 6, kRows = 5, kPairs = kRows * kWidth;
  const auto content = random_numbers<T>(kHeads * kPairs), position = random_numbers<T>(kHeads * kPairs);
  expect_parts_make_the_whole<T>(kHeads * kPairs, kHeads, 1, [&](T* out, int64_t from, int64_t to) {
    std::vector<float> scratch(kWidth);
    for (int64_t head = from; head < to; ++head)
      kernels::relative_softmax_rows(content.data() + head * kPairs, position.data() + head * kPairs,
                                     static_cast<const uint8_t*>(nullptr), 0.5f, out + head * kPairs, scratch.data(),
                                     {kRows, kWidth});
  });
  expect_parts_make_the_whole<T>(2 * kHeads * kPairs, kHeads, 1, [&](T* out, int64_t from, int64_t to) {
    for (int64_t head = from; head < to; ++head)
      kernels::relative_softmax_rows_backward(content.data() + head * kPairs, position.data() + head * kPairs, 0.5f,
                                              out + 2 * head * kPairs, out + (2 * head + 1) * kPairs, {kRows, kWidth});
  });
}

TYPED_TEST(KernelThreads, RowsOfScoresOfClasses) {
  using T = TypeParam;
  const auto scores = random_numbers<T>(kTokens * kWidth, 3.0f);
  const std::vector<int64_t> classes(kTokens, 2);
  const auto run = [&](T* residual, float* losses, int64_t from, int64_t to) {
    std::vector<float> scratch(kWidth);
    kernels::cross_entropy_rows(scores.data() + from * kWidth, static_cast<const float*>(nullptr),
                                {classes.data() + from, 0.1f, 0.005f}, losses + from, losses + kTokens + from,
                                residual + from * kWidth, scratch.data(), {to - from, kWidth});
  };
  expect_parts_make_the_whole<T>(kTokens * kWidth, 2 * kTokens, kTokens, 1, run);
}

TYPED_TEST(KernelThreads, PiecesOfWhatDropoutLeaves) {
  using T = TypeParam;
  const auto x = random_numbers<T>(kTokens * kWidth);
  expect_parts_make_the_whole<T>(kTokens * kWidth, kTokens * kWidth, kernels::kDropoutGroup,
                                 [&](T* out, int64_t from, int64_t to) {
                                   kernels::dropout(x.data() + from, out + from, {7, 1u << 31}, 2.0f, from, to - from);
                                 });
  const auto kept = [](uint8_t* out, int64_t from, int64_t to) {
    bool flags[kernels::kDropoutGroup];
    for (int64_t i = from; i < to; i += kernels::kDropoutGroup) {
      const int64_t count = std::min(kernels::kDropoutGroup, to - i);
      kernels::kept_by_dropout({7, 1u << 31}, i, count, flags);
      std::copy_n(flags, count, out + i);
    }
  };
  expect_parts_make_the_whole<uint8_t>(kTokens * kWidth, kTokens * kWidth, kernels::kDropoutGroup, kept);
}

TYPED_TEST(KernelThreads, BoxesOverOneMap) {
  using T = TypeParam;
  constexpr int64_t kBoxes = 9, kSide = 3, kChannels = 21, kBins = kSide * kSide * kChannels;
  const auto map = random_numbers<T>(8 * 8 * kChannels), bins = random_numbers<T>(kBoxes * kBins);
  const std::vector<int64_t> first{0, 2, 4}, offset{0, 2, 4, 6};
  const auto weights = random_numbers<float>(6);
  const kernels::RoiAxis axis{kSide, first.data(), offset.data(), weights.data()};
  expect_parts_make_the_whole<T>(kBoxes * kBins, kBoxes, 1, [&](T* out, int64_t from, int64_t to) {
    std::vector<float> sums(kBins);
    for (int64_t box = from; box < to; ++box)
      kernels::roi_align(map.data(), {8, kChannels, kChannels}, axis, axis, out + box * kBins, kChannels, sums.data());
  });
  // Backward each thread has channels of its own.
  expect_parts_make_the_whole<float>(8 * 8 * kChannels, kChannels, 1, [&](float* d_map, int64_t from, int64_t to) {
    for (int64_t box = 0; box < kBoxes; ++box)
      kernels::roi_align_backward(bins.data() + box * kBins + from, kChannels, axis, axis, d_map + from,
                                  {8, kChannels, to - from});
  });
}

TEST(KernelThreads, BlocksOfSoftmax) {
  const auto scores = random_numbers<float>(kTokens * kWidth, 3.0f), weights = random_numbers<float>(kTokens * kWidth);
  const auto sums = random_numbers<float>(kTokens);
  const auto of = [&](const auto& run) {
    expect_parts_make_the_whole<float>(
        kTokens * kWidth, kTokens, kTokens, 1, [&](float* out, float* beside, int64_t from, int64_t to) {
          std::memcpy(out + from * kWidth, scores.data() + from * kWidth,
                      static_cast<size_t>((to - from) * kWidth) * sizeof(float));
          run(out + from * kWidth, beside + from, from, kernels::ScoreRows{to - from, kWidth, kWidth});
        });
  };
  of([&](float* rows, float* logsumexp, int64_t, kernels::ScoreRows shape) {
    kernels::block_softmax(rows, 0.5f, nullptr, logsumexp, shape);
  });
  of([&](float* rows, float*, int64_t from, kernels::ScoreRows shape) {
    kernels::block_weights(rows, 0.5f, nullptr, sums.data() + from, shape);
  });
  of([&](float* rows, float*, int64_t from, kernels::ScoreRows shape) {
    kernels::block_softmax_backward(weights.data() + from * kWidth, sums.data() + from, 0.5f, rows, shape);
  });
}

TEST(KernelThreads, SquaresOfHeads) {
  constexpr int64_t kHeads = 9, kSquare = kWidth * kWidth;
  expect_parts_make_the_whole<float>(kHeads * kSquare, kHeads, 1, [&](float* out, int64_t from, int64_t to) {
    for (int64_t head = from; head < to; ++head) {
      std::fill_n(out + head * kSquare, kSquare, 1.0f);
      kernels::clear_above_diagonal(out + head * kSquare, kWidth);
    }
  });
}

TEST(KernelThreads, FeaturesOfRows) {
  using kernels::FeatureUnit;
  for (const FeatureUnit unit : {FeatureUnit::softplus, FeatureUnit::glu}) {
    const int64_t width = unit == FeatureUnit::glu ? 2 * kWidth : kWidth;
    const auto products = random_numbers<float>(kTokens * width), d_features = random_numbers<float>(kTokens * kWidth);
    expect_parts_make_the_whole<float>(kTokens * kWidth, kTokens, 1, [&](float* out, int64_t from, int64_t to) {
      kernels::feature_unit(unit, products.data() + from * width, out + from * kWidth, {to - from, kWidth, width});
    });
    expect_parts_make_the_whole<float>(kTokens * width, kTokens, 1, [&](float* out, int64_t from, int64_t to) {
      kernels::feature_unit_backward(unit, products.data() + from * width, d_features.data() + from * kWidth,
                                     out + from * width, {to - from, kWidth, width});
    });
  }
}

TEST(KernelThreads, PartsOfAProductAndOfATranspose) {
  const auto left = random_numbers<float>(kTokens * kWidth), right = random_numbers<float>(kWidth * 8);
  expect_parts_make_the_whole<float>(kTokens * 8, kTokens, 1, [&](float* out, int64_t from, int64_t to) {
    kernels::small_gemm({left.data() + from * kWidth, kWidth, 1}, {right.data(), 8}, {out + from * 8, 8}, false,
                        {to - from, 8, kWidth});
  });
  expect_parts_make_the_whole<float>(kTokens * kWidth, kTokens, 1, [&](float* out, int64_t from, int64_t to) {
    kernels::transpose(left.data() + from * kWidth, kWidth, out + from, kTokens, to - from, kWidth);
  });
}

TEST(KernelThreads, ImagesWhoseBoxesAreSuppressed) {
  constexpr int64_t kImages = 5, kBoxes = 40;
  auto corners = random_numbers<float>(kImages * 4 * kBoxes, 10.0f);
  for (int64_t image = 0; image < kImages; ++image)  // x1 and y1 lie beyond x0 and y0
    for (int64_t i = 0; i < 2 * kBoxes; ++i)
      corners[static_cast<size_t>((image * 4 + 2) * kBoxes + i)] =
          corners[static_cast<size_t>(image * 4 * kBoxes + i)] + 20.0f;
  expect_parts_make_the_whole<uint8_t>(kImages * kBoxes, kImages, 1, [&](uint8_t* kept, int64_t from, int64_t to) {
    std::vector<float> space(static_cast<size_t>(kernels::nms_space(kBoxes)));
    for (int64_t image = from; image < to; ++image) {
      const float* x0 = corners.data() + image * 4 * kBoxes;
      kernels::nms({x0, x0 + kBoxes, x0 + 2 * kBoxes, x0 + 3 * kBoxes, kBoxes}, 0.5f, kept + image * kBoxes,
                   space.data());
    }
  });
}

}  // namespace
}  // namespace cachet
