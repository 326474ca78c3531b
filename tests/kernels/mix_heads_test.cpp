#include "cachet/kernels/mix_heads.h"

#include "tests/kernels/kernel_sweep.h"
#include "tests/kernels/scalar/mix_heads.h"

namespace cachet {
namespace {

using test::expect_near;
using test::Guarded;
using test::sweep;

constexpr int64_t kMixTokens = 3, kMixHeads = 2;

TEST(MixHeadsKernelRobustness, EqualsItsDefinitionForwardAndBackward) {
  sweep([]<class T>(T*, int64_t d, int64_t offset, std::mt19937& random, const std::string& name) {
    for (const int64_t m : {int64_t{0}, d / 2, d}) {
      const std::string label = name + ", memory " + std::to_string(m);
      const kernels::MixHeadsShape shape{kMixTokens, kMixHeads, d, m};
      const int64_t rows = kMixTokens * kMixHeads;
      const Guarded<T> self(rows * d, offset, random), memory(rows * m, offset, random), g(rows * d, offset, random);
      Guarded<float> share(kMixHeads, offset);
      for (int64_t h = 0; h < kMixHeads; ++h) share.data()[h] = 0.25f + 0.5f * static_cast<float>(h);
      const auto s = [&](int64_t row) { return static_cast<double>(share[row % kMixHeads]); };
      const auto given = [&](int64_t row, int64_t c) { return c < m ? s(row) * memory[row * m + c] : 0.0; };
      for (const bool simd : {true, false}) {
        Guarded<T> out(rows * d, offset), d_self(rows * d, offset), d_memory(rows * m, offset);
        Guarded<float> d_share(kMixHeads, offset);
        if (simd) {
          kernels::mix_heads(self.data(), memory.data(), share.data(), out.data(), shape);
          kernels::mix_heads_backward(g.data(), self.data(), memory.data(), share.data(), d_self.data(),
                                      d_memory.data(), d_share.data(), shape);
        } else {
          kernels::scalar::mix_heads(self.data(), memory.data(), share.data(), out.data(), shape);
          kernels::scalar::mix_heads_backward(g.data(), self.data(), memory.data(), share.data(), d_self.data(),
                                              d_memory.data(), d_share.data(), shape);
        }
        const auto kept = [&](int64_t i) { return (1 - s(i / d)) * self[i]; };
        expect_near<T>(
            out, [&](int64_t i) { return kept(i) + given(i / d, i % d); },
            [&](int64_t i) { return std::abs(kept(i)) + std::abs(given(i / d, i % d)); }, 4, label);
        const auto self_grad = [&](int64_t i) { return (1 - s(i / d)) * g[i]; };
        expect_near<T>(
            d_self, self_grad, [&](int64_t i) { return std::abs(self_grad(i)); }, 2, label);
        const auto memory_grad = [&](int64_t i) { return s(i / m) * g[i / m * d + i % m]; };
        expect_near<T>(
            d_memory, memory_grad, [&](int64_t i) { return std::abs(memory_grad(i)); }, 2, label);
        const auto share_grad = [&](int64_t h, bool absolute) {
          double sum = 0;
          for (int64_t row = h; row < rows; row += kMixHeads)
            for (int64_t c = 0; c < d; ++c) {
              const double a = static_cast<double>(self[row * d + c]) * g[row * d + c];
              const double b = c < m ? static_cast<double>(memory[row * m + c]) * g[row * d + c] : 0.0;
              sum += absolute ? std::abs(a) + std::abs(b) : b - a;
            }
          return sum;
        };
        expect_near<float>(
            d_share, [&](int64_t h) { return share_grad(h, false); }, [&](int64_t h) { return share_grad(h, true); },
            static_cast<double>(2 * kMixTokens * d + 2), label);
      }
    }
  });
}

}  // namespace
}  // namespace cachet
