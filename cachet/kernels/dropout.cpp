#include "cachet/kernels/dropout.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/dropout.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include "cachet/kernels/dispatch.h"
#include "cachet/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE void WordsOfGroup(uint64_t seed, int64_t group, uint32_t* words) {
  for (int64_t i = 0; i < kDropoutCounters; ++i) {
    const Philox::Words four = Philox::words(static_cast<uint64_t>(group * kDropoutCounters + i), seed);
    for (int64_t word = 0; word < 4; ++word) words[word * kDropoutCounters + i] = four[word];
  }
}

#else

using Counters = hn::CappedTag<uint32_t, kDropoutCounters>;
using CounterVector = hn::Vec<Counters>;

struct HighLow {
  CounterVector high, low;
};

/// Upper and lower halves of the products of 32 bits.
HWY_INLINE HighLow MultiplyWide(Counters d, CounterVector x, CounterVector factor) {
  const hn::RepartitionToWide<Counters> wide;
  const auto odd_x = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, x)));
  const auto even = hn::MulEven(x, factor), odd = hn::MulEven(odd_x, factor);
  return {hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even))),
          hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even))};
}

/// The random words of a group's elements.
HWY_INLINE void WordsOfGroup(uint64_t seed, int64_t group, uint32_t* words) {
  const Counters d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto first_factor = hn::Set(d, Philox::kFirstMultiplier), second_factor = hn::Set(d, Philox::kSecondMultiplier);
  for (int64_t part = 0; part < kDropoutCounters; part += lanes) {
    const auto counter = static_cast<uint64_t>(group * kDropoutCounters + part);
    // No carry into the upper word: a group is aligned.
    auto c0 = hn::Iota(d, static_cast<uint32_t>(counter));
    auto c1 = hn::Set(d, static_cast<uint32_t>(counter >> 32)), c2 = hn::Zero(d), c3 = hn::Zero(d);
    auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < Philox::kRounds; ++round) {
      const HighLow a = MultiplyWide(d, c0, first_factor), b = MultiplyWide(d, c2, second_factor);
      c0 = hn::Xor(hn::Xor(b.high, c1), hn::Set(d, key0));
      c1 = b.low;
      c2 = hn::Xor(hn::Xor(a.high, c3), hn::Set(d, key1));
      c3 = a.low;
      key0 += Philox::kFirstKeyStep;
      key1 += Philox::kSecondKeyStep;
    }
    hn::StoreU(c0, d, words + part);
    hn::StoreU(c1, d, words + kDropoutCounters + part);
    hn::StoreU(c2, d, words + 2 * kDropoutCounters + part);
    hn::StoreU(c3, d, words + 3 * kDropoutCounters + part);
  }
}

#endif

template <class T>
void Dropout(const T* x, T* out, DropoutMask mask, float scale, int64_t first, int64_t count) {
  HWY_ALIGN uint32_t words[kDropoutGroup];
  for (int64_t begin = 0; begin < count; begin += kDropoutGroup) {
    WordsOfGroup(mask.seed, (first + begin) / kDropoutGroup, words);
    ForEachVector(std::min(kDropoutGroup, count - begin), [&](auto d, int64_t i) {
      const hn::RebindToUnsigned<decltype(d)> bits;
      const auto word = hn::LoadU(bits, words + i);
      const auto kept = hn::Eq(hn::Min(word, hn::Set(bits, mask.last)), word);
      const auto scaled = hn::Mul(LoadFloat(d, x + begin + i), hn::Set(d, scale));
      StoreFloat(hn::IfThenElseZero(hn::RebindMask(d, kept), scaled), d, out + begin + i);
    });
  }
}

CACHET_KERNEL(Dropout);

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

CACHET_EXPORT(Dropout);

template <class T>
void dropout(const T* x, T* out, DropoutMask mask, float scale, int64_t first, int64_t count) {
  CACHET_DISPATCH(Dropout, T)(x, out, mask, scale, first, count);
}

void kept_by_dropout(DropoutMask mask, int64_t first, int64_t count, bool* kept) {
  for (int64_t i = 0; i < count; ++i) kept[i] = is_kept(mask, first + i);
}

#define CACHET_FORMS(T) template void dropout(const T*, T*, DropoutMask, float, int64_t, int64_t);
CACHET_INSTANTIATE(CACHET_FORMS)
#undef CACHET_FORMS

}  // namespace cachet::kernels
#endif
