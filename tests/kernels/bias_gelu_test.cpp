#include "cachet/kernels/bias_gelu.h"

#include "tests/kernels/kernel_sweep.h"
#include "tests/kernels/scalar/bias_gelu.h"

namespace cachet {
namespace {

using test::expect_near;
using test::Guarded;
using test::sweep;

TEST(BiasGeluKernelRobustness, EqualsItsDefinitionForwardAndBackward) {
  sweep([]<class T>(T*, int64_t width, int64_t offset, std::mt19937& random, const std::string& label) {
    constexpr int64_t kRows = 3;
    const Guarded<T> x(kRows * width, offset, random, 3.0f), g(kRows * width, offset, random);
    const Guarded<float> bias(width, offset, random);
    const auto at = [&](int64_t i) { return static_cast<double>(x[i]) + bias[i % width]; };
    const auto phi = [&](int64_t i) { return 0.5 * std::erfc(-at(i) / std::sqrt(2.0)); };
    const auto slope = [&](int64_t i) { return phi(i) + at(i) * std::exp(-at(i) * at(i) / 2) / std::sqrt(2 * M_PI); };
    for (const bool simd : {true, false}) {
      Guarded<T> out(kRows * width, offset), d_x(kRows * width, offset);
      Guarded<float> d_bias(width, offset);
      if (simd) {
        kernels::bias_gelu(x.data(), bias.data(), out.data(), {kRows, width});
        kernels::bias_gelu_backward(x.data(), bias.data(), g.data(), d_x.data(), d_bias.data(), {kRows, width});
      } else {
        kernels::scalar::bias_gelu(x.data(), bias.data(), out.data(), {kRows, width});
        kernels::scalar::bias_gelu_backward(x.data(), bias.data(), g.data(), d_x.data(), d_bias.data(), {kRows, width});
      }
      // The error function is good to 4e-7, 7 ε; x + bias was rounded once.
      expect_near<T>(
          out, [&](int64_t i) { return at(i) * phi(i); }, [&](int64_t i) { return 1 + std::abs(at(i)); }, 16, label);
      expect_near<T>(
          d_x, [&](int64_t i) { return g[i] * slope(i); },
          [&](int64_t i) { return (1 + std::abs(at(i))) * std::abs(g[i]); }, 32, label + " backward");
      expect_near<float>(
          d_bias,
          [&](int64_t c) {
            double sum = 0;
            for (int64_t row = 0; row < kRows; ++row) sum += g[row * width + c] * slope(row * width + c);
            return sum;
          },
          [&](int64_t c) {
            double sum = 0;
            for (int64_t row = 0; row < kRows; ++row)
              sum += std::abs(g[row * width + c]) * (1 + std::abs(at(row * width + c)));
            return sum;
          },
          40, label + " bias");
    }
  });
}

}  // namespace
}  // namespace cachet
