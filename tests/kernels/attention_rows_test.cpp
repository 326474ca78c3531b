#include "cachet/kernels/attention_rows.h"

#include "tests/kernels/kernel_sweep.h"
#include "tests/kernels/scalar/attention_rows.h"

namespace cachet {
namespace {

using test::expect_near;
using test::Guarded;
using test::sweep;

constexpr int64_t kRowsOfValues = 5;

TEST(AttentionRowsKernelRobustness, AppendOnesEqualsItsDefinition) {
  sweep([]<class T>(T*, int64_t width, int64_t offset, std::mt19937& random, const std::string& label) {
    const int64_t stride = width + 2;
    Guarded<T> values(kRowsOfValues * stride, offset, random);
    const bool padding[kRowsOfValues] = {false, true, false, false, true};
    for (int64_t i = 0; i < width; ++i)
      values.data()[stride + i] = kernels::from_float<T>(std::numeric_limits<float>::quiet_NaN());
    Guarded<float> with_ones(kRowsOfValues * (width + 1), offset);
    kernels::append_ones(values.data(), padding, with_ones.data(), {kRowsOfValues, width, stride});
    expect_near<float>(
        with_ones,
        [&](int64_t i) {
          const int64_t row = i / (width + 1), c = i % (width + 1);
          return padding[row] ? 0.0 : c == width ? 1.0 : static_cast<double>(values[row * stride + c]);
        },
        [](int64_t) { return 0.0; }, 0, label);
  });
}

TEST(AttentionRowsKernelRobustness, DotRowsEqualsItsDefinition) {
  sweep([]<class T>(T*, int64_t width, int64_t offset, std::mt19937& random, const std::string& label) {
    if (!std::is_same_v<T, float>) return;
    const int64_t stride = width + 2;
    const Guarded<float> matrix(kRowsOfValues * stride, offset, random), vector(width, offset, random);
    const kernels::ValueRows shape{kRowsOfValues, width, stride};
    for (const bool add : {true, false})
      for (const float* factors : {vector.data(), static_cast<const float*>(nullptr)}) {
        Guarded<float> sums(kRowsOfValues, offset);
        for (int64_t row = 0; row < kRowsOfValues; ++row) sums.data()[row] = static_cast<float>(row);
        kernels::dot_rows(matrix.data(), factors, add, sums.data(), shape);
        const auto sum = [&](int64_t row, bool absolute) {
          double all = add ? static_cast<double>(row) : 0.0;
          for (int64_t i = 0; i < width; ++i) {
            const double term = static_cast<double>(matrix[row * stride + i]) * (factors ? vector[i] : 1.0f);
            all += absolute ? std::abs(term) : term;
          }
          return all;
        };
        expect_near<float>(
            sums, [&](int64_t row) { return sum(row, false); }, [&](int64_t row) { return sum(row, true); },
            static_cast<double>(width + 2), label);
      }
  });
}

TEST(AttentionRowsKernelRobustness, DivisionEqualsItsDefinitionForwardAndBackward) {
  sweep([]<class T>(T*, int64_t width, int64_t offset, std::mt19937& random, const std::string& label) {
    const int64_t stride = width + 1, grad_stride = width + 3;
    const Guarded<float> numerators(kRowsOfValues * width, offset, random);
    Guarded<float> denominators(kRowsOfValues, offset);
    for (int64_t row = 0; row < kRowsOfValues; ++row)
      denominators.data()[row] = row == 2 ? 0.0f : 0.5f + static_cast<float>(row);
    const Guarded<T> grad(kRowsOfValues * grad_stride, offset, random), out_of(kRowsOfValues * stride, offset, random);
    const kernels::ValueRows shape{kRowsOfValues, width, stride};
    const float eps = 0.0f;
    for (const bool simd : {true, false}) {
      Guarded<T> out(kRowsOfValues * stride, offset);
      Guarded<float> divisors(kRowsOfValues, offset), d_totals(kRowsOfValues * (width + 1), offset);
      if (simd) {
        kernels::divide_totals(numerators.data(), denominators.data(), eps, out.data(), divisors.data(), shape);
        kernels::divide_totals_backward(out_of.data(), divisors.data(), grad.data(), grad_stride, d_totals.data(),
                                        shape);
      } else {
        kernels::scalar::divide_totals(numerators.data(), denominators.data(), eps, out.data(), divisors.data(), shape);
        kernels::scalar::divide_totals_backward(out_of.data(), divisors.data(), grad.data(), grad_stride,
                                                d_totals.data(), shape);
      }
      const auto divisor = [&](int64_t row) { return static_cast<double>(denominators[row]); };
      const auto quotient = [&](int64_t i) {
        const int64_t row = i / stride, c = i % stride;
        return c == width || divisor(row) == 0 ? 0.0 : numerators[row * width + c] / divisor(row);
      };
      expect_near<T>(
          out, quotient, [&](int64_t i) { return std::abs(quotient(i)); }, 4, label);
      expect_near<float>(divisors, divisor, divisor, 2, label);
      const auto pulled = [&](int64_t i, bool absolute) {
        const int64_t row = i / (width + 1), c = i % (width + 1);
        if (divisor(row) == 0) return 0.0;
        if (c < width)
          return grad[row * grad_stride + c] / divisor(row) * (absolute && grad[row * grad_stride + c] < 0 ? -1 : 1);
        double sum = 0;
        for (int64_t j = 0; j < width; ++j) {
          const double term = grad[row * grad_stride + j] / divisor(row) * out_of[row * stride + j];
          sum += absolute ? std::abs(term) : -term;
        }
        return sum;
      };
      expect_near<float>(
          d_totals, [&](int64_t i) { return pulled(i, false); }, [&](int64_t i) { return pulled(i, true); },
          static_cast<double>(width + 6), label);
    }
  });
}

}  // namespace
}  // namespace cachet
