#include "cachet/kernels/token_passes.h"

#include "tests/kernels/kernel_sweep.h"
#include "tests/kernels/scalar/token_passes.h"

namespace cachet {
namespace {

using test::expect_near;
using test::Guarded;
using test::sweep;

constexpr int64_t kPassTokens = 7;  // one group of four rows and a rest

// Which tokens are padding; what stands there is NaN and must not matter.
struct Mask {
  bool padding[kPassTokens] = {false, true, false, false, true, false, false};
};

template <class T>
void spoil_padding(Guarded<T>& x, int64_t channels, const Mask& mask) {
  for (int64_t t = 0; t < kPassTokens; ++t)
    for (int64_t c = 0; mask.padding[t] && c < channels; ++c)
      x.data()[t * channels + c] = kernels::from_float<T>(std::numeric_limits<float>::quiet_NaN());
}

TEST(TokenPassesKernelRobustness, SumOfSquaresEqualsItsDefinition) {
  sweep([]<class T>(T*, int64_t channels, int64_t offset, std::mt19937& random, const std::string& label) {
    for (const bool masked : {false, true}) {
      const Mask mask;
      Guarded<T> x(kPassTokens * channels, offset, random);
      if (masked) spoil_padding(x, channels, mask);
      Guarded<float> fused(channels, offset);
      kernels::sum_of_squares(x.data(), masked ? mask.padding : nullptr, fused.data(), {kPassTokens, channels});
      const auto expected = [&](int64_t c) {
        double sum = 0;
        for (int64_t t = 0; t < kPassTokens; ++t)
          if (!masked || !mask.padding[t]) sum += static_cast<double>(x[t * channels + c]) * x[t * channels + c];
        return sum;
      };
      expect_near<float>(fused, expected, expected, kPassTokens + 1, label);
    }
  });
}

TEST(TokenPassesKernelRobustness, GradientSumsEqualTheirDefinition) {
  sweep([]<class T>(T*, int64_t channels, int64_t offset, std::mt19937& random, const std::string& label) {
    for (const bool masked : {false, true}) {
      const Mask mask;
      Guarded<T> x(kPassTokens * channels, offset, random), dy(kPassTokens * channels, offset, random);
      if (masked) spoil_padding(x, channels, mask), spoil_padding(dy, channels, mask);
      const bool* padding = masked ? mask.padding : nullptr;
      const auto sum = [&](int64_t c, bool product, bool absolute) {
        double total = 0;
        for (int64_t t = 0; t < kPassTokens; ++t) {
          if (masked && mask.padding[t]) continue;
          const int64_t i = t * channels + c;
          const double term = static_cast<double>(dy[i]) * (product ? x[i] : 1.0f);
          total += absolute ? std::abs(term) : term;
        }
        return total;
      };
      Guarded<float> products(channels, offset), totals(channels, offset);
      kernels::gradient_sums(dy.data(), x.data(), padding, products.data(), totals.data(), {kPassTokens, channels});
      for (const bool product : {true, false})
        expect_near<float>(
            product ? products : totals, [&](int64_t c) { return sum(c, product, false); },
            [&](int64_t c) { return sum(c, product, true); }, kPassTokens + 1, label);
    }
  });
}

TEST(TokenPassesKernelRobustness, ScaleShiftAndScaleSubtractEqualTheirDefinition) {
  sweep([]<class T>(T*, int64_t channels, int64_t offset, std::mt19937& random, const std::string& label) {
    const Guarded<T> x(kPassTokens * channels, offset, random), dy(kPassTokens * channels, offset, random);
    const Guarded<float> a(channels, offset, random), b(channels, offset, random);
    const kernels::Tokens shape{kPassTokens, channels};
    for (const bool simd : {true, false})
      for (const bool shifted : {false, true}) {
        Guarded<T> y(kPassTokens * channels, offset), out(kPassTokens * channels, offset);
        const float* shift = shifted ? b.data() : nullptr;
        if (simd) {
          kernels::scale_shift(x.data(), a.data(), shift, y.data(), shape);
          kernels::scale_subtract(dy.data(), a.data(), x.data(), b.data(), out.data(), shape);
        } else {
          kernels::scalar::scale_shift(x.data(), a.data(), shift, y.data(), shape);
          kernels::scalar::scale_subtract(dy.data(), a.data(), x.data(), b.data(), out.data(), shape);
        }
        const auto product = [&](int64_t i) { return static_cast<double>(x[i]) * a[i % channels]; };
        const auto added = [&](int64_t i) { return shifted ? static_cast<double>(b[i % channels]) : 0.0; };
        expect_near<T>(
            y, [&](int64_t i) { return product(i) + added(i); },
            [&](int64_t i) { return std::abs(product(i)) + std::abs(added(i)); }, 3, label);
        const auto pushed = [&](int64_t i) { return static_cast<double>(dy[i]) * a[i % channels]; };
        const auto pulled = [&](int64_t i) { return static_cast<double>(x[i]) * b[i % channels]; };
        expect_near<T>(
            out, [&](int64_t i) { return pushed(i) - pulled(i); },
            [&](int64_t i) { return std::abs(pushed(i)) + std::abs(pulled(i)); }, 3, label);
      }
  });
}

}  // namespace
}  // namespace cachet
