#include "cachet/kernels/dropout.h"

#include "cachet/kernels/philox.h"
#include "tests/kernels/kernel_sweep.h"
#include "tests/kernels/scalar/dropout.h"

namespace cachet {
namespace {

using test::expect_near;
using test::Guarded;
using test::sweep;

constexpr uint64_t kSeed = 0x0123456789ABCDEF;
constexpr uint32_t kHalf = 0x7FFFFFFF;

TEST(Philox, GivesThePublishedWords) {
  // The known answers that come with its authors' implementation.
  using Words = kernels::Philox::Words;
  EXPECT_EQ(kernels::Philox::words({}, {}), (Words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  constexpr uint32_t kAll = 0xFFFFFFFF;
  EXPECT_EQ(kernels::Philox::words({kAll, kAll, kAll, kAll}, {kAll, kAll}),
            (Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
  EXPECT_EQ(kernels::Philox::words({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}, {0xA4093822, 0x299F31D0}),
            (Words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

TEST(DropoutKernelRobustness, EqualsItsDefinitionFromAnyGroupOn) {
  sweep(
      []<class T>(T*, int64_t count, int64_t offset, std::mt19937& random, const std::string& label) {
        const Guarded<T> x(count, offset, random);
        // The last is after the 2³² counters of the lower word.
        for (const int64_t first : {int64_t{0}, 3 * kernels::kDropoutGroup, int64_t{1} << 36}) {
          const auto kept = std::make_unique<bool[]>(static_cast<size_t>(count) + 1);
          kernels::kept_by_dropout({kSeed, kHalf}, first, count, kept.get());
          for (const bool simd : {true, false}) {
            Guarded<T> out(count, offset);
            (simd ? kernels::dropout<T> : kernels::scalar::dropout<T>)(x.data(), out.data(), {kSeed, kHalf}, 2.0f,
                                                                       first, count);
            expect_near<T>(
                out, [&](int64_t i) { return kept[static_cast<size_t>(i)] ? 2.0 * x[i] : 0.0; },
                [](int64_t) { return 0.0; }, 0, label);
          }
        }
      },
      3 * kernels::kDropoutGroup + 1, 7);
}

TEST(DropoutKernel, KeepsEachElementByItselfWithItsProbability) {
  constexpr int64_t kCount = 1 << 20;
  const auto kept = std::make_unique<bool[]>(kCount), other = std::make_unique<bool[]>(kCount);
  for (const double p : {0.1, 0.5, 0.9}) {
    const auto last = static_cast<uint32_t>(p * 0x1p32);
    kernels::kept_by_dropout({kSeed, last}, 0, kCount, kept.get());
    kernels::kept_by_dropout({kSeed + 1, last}, 0, kCount, other.get());
    const double deviation = std::sqrt(p * (1 - p) / kCount);
    const auto share = [&](const auto& holds, int64_t count) {
      int64_t held = 0;
      for (int64_t i = 0; i < count; ++i) held += holds(i);
      return static_cast<double>(held) / static_cast<double>(count);
    };
    EXPECT_NEAR(share([&](int64_t i) { return kept[i]; }, kCount), p, 4 * deviation);
    // Whether an element is retained does not depend on its neighbours, of the words of one counter (16 apart), or of
    // another seed.
    for (const int64_t apart : {1, 16, 64})
      EXPECT_NEAR(share([&](int64_t i) { return kept[i] == kept[i + apart]; }, kCount - apart),
                  p * p + (1 - p) * (1 - p), 0.003)
          << apart;
    EXPECT_NEAR(share([&](int64_t i) { return kept[i] == other[i]; }, kCount), p * p + (1 - p) * (1 - p), 0.003);
  }
}

TEST(DropoutKernel, WhatIsDroppedIsNothingEvenOfNaN) {
  const std::vector<float> x(1000, std::numeric_limits<float>::quiet_NaN());
  std::vector<float> out(x.size());
  const auto kept = std::make_unique<bool[]>(x.size());
  kernels::kept_by_dropout({kSeed, kHalf}, 0, static_cast<int64_t>(x.size()), kept.get());
  kernels::dropout(x.data(), out.data(), {kSeed, kHalf}, 2.0f, 0, static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(std::isnan(out[i]), kept[i]) << i;
}

}  // namespace
}  // namespace cachet
