#include "cachet/kernels/token_convolution.h"

#include "tests/kernels/kernel_sweep.h"
#include "tests/kernels/scalar/token_convolution.h"

namespace cachet {
namespace {

using test::expect_near;
using test::Guarded;
using test::sweep;

// A convolution written out, from the weight (C, group, 3, 3) as PyTorch lays it out.
struct Reference {
  kernels::ConvolutionShape s;
  std::vector<float> weight;

  // Calls visit(input index, weight index) for each product of output (position, c).
  template <class Visit>
  void products(int64_t i, const Visit& visit) const {
    const int64_t place = i / s.channels, c = i % s.channels, row = place / s.width, column = place % s.width;
    for (int64_t dy = -1; dy <= 1; ++dy)
      for (int64_t dx = -1; dx <= 1; ++dx)
        for (int64_t j = 0; j < s.group; ++j) {
          if (row + dy < 0 || row + dy >= s.height || column + dx < 0 || column + dx >= s.width) continue;
          const int64_t input = ((row + dy) * s.width + column + dx) * s.channels + c / s.group * s.group + j;
          visit(input, (c * s.group + j) * 9 + (dy + 1) * 3 + dx + 1);
        }
  }
};

double gelu_of(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

TEST(TokenConvolutionKernelRobustness, EqualsItsDefinitionForwardAndBackward) {
  for (const int64_t group : {1, 2, 4, 8})
    sweep(
        [group]<class T>(T*, int64_t channels, int64_t offset, std::mt19937& random, const std::string& name) {
          // Grids of one position, one line, and of lines with and without four inner positions.
          for (const auto& [height, width] : {std::pair<int64_t, int64_t>{1, 1}, {1, 7}, {3, 2}, {2, 6}, {3, 11}}) {
            const std::string label = name + ", group " + std::to_string(group) + ", " + std::to_string(height) +
                                      " x " + std::to_string(width);
            const kernels::ConvolutionShape shape{height, width, channels, group};
            const int64_t count = height * width * channels, weights = channels * group * 9;
            const Guarded<T> x(count, offset, random), g(count, offset, random), addend(count, offset, random);
            const Guarded<float> weight(weights, offset, random), bias(channels, offset, random);
            Guarded<float> packed(weights, offset), transposed(weights, offset), unpacked(weights, offset);
            kernels::pack_convolution(weight.data(), packed.data(), shape, false);
            kernels::pack_convolution(weight.data(), transposed.data(), shape, true);
            kernels::unpack_convolution(packed.data(), unpacked.data(), shape);
            for (int64_t i = 0; i < weights; ++i) ASSERT_EQ(unpacked[i], weight[i]) << label;

            const Reference reference{shape, {}};
            std::vector<double> d_x(static_cast<size_t>(count)), d_weight(static_cast<size_t>(weights));
            std::vector<double> size_x(d_x), size_weight(d_weight);
            for (int64_t i = 0; i < count; ++i)
              reference.products(i, [&](int64_t in, int64_t w) {
                const double to_x = static_cast<double>(g[i]) * weight[w],
                             to_weight = static_cast<double>(g[i]) * x[in];
                d_x[static_cast<size_t>(in)] += to_x, size_x[static_cast<size_t>(in)] += std::abs(to_x);
                d_weight[static_cast<size_t>(w)] += to_weight,
                    size_weight[static_cast<size_t>(w)] += std::abs(to_weight);
              });
            const auto forward = [&](int64_t i, bool absolute) {
              double sum =
                  absolute ? std::abs(bias[i % channels]) + std::abs(addend[i]) : bias[i % channels] + addend[i];
              reference.products(i, [&](int64_t in, int64_t w) {
                const double term = static_cast<double>(x[in]) * weight[w];
                sum += absolute ? std::abs(term) : term;
              });
              return sum;
            };
            constexpr auto kLinear = kernels::ConvolutionEnd::linear, kGelu = kernels::ConvolutionEnd::gelu;
            constexpr const T* kNoAddend = nullptr;
            for (const bool simd : {true, false}) {
              Guarded<T> out(count, offset), with_gelu(count, offset), to_x(count, offset);
              Guarded<float> to_packed(weights, offset), to_weight(weights, offset);
              const auto convolve = simd ? kernels::convolve_tokens<T> : kernels::scalar::convolve_tokens<T>;
              const auto gradient = simd ? kernels::convolve_tokens_weight_gradient<T>
                                         : kernels::scalar::convolve_tokens_weight_gradient<T>;
              convolve(x.data(), packed.data(), bias.data(), addend.data(), out.data(), shape, kLinear, 0, height);
              convolve(x.data(), packed.data(), bias.data(), addend.data(), with_gelu.data(), shape, kGelu, 0, height);
              convolve(g.data(), transposed.data(), nullptr, kNoAddend, to_x.data(), shape, kLinear, 0, height);
              gradient(g.data(), x.data(), to_packed.data(), shape, 0, channels);
              const double terms = static_cast<double>(9 * group + 3);
              expect_near<T>(
                  out, [&](int64_t i) { return forward(i, false); }, [&](int64_t i) { return forward(i, true); }, terms,
                  label);
              // Of what was written: the sum is rounded to T before.
              expect_near<T>(
                  with_gelu, [&](int64_t i) { return gelu_of(static_cast<double>(out[i])); },
                  [&](int64_t i) { return std::abs(static_cast<double>(out[i])); }, 16, label + " gelu");
              expect_near<T>(
                  to_x, [&](int64_t i) { return d_x[static_cast<size_t>(i)]; },
                  [&](int64_t i) { return size_x[static_cast<size_t>(i)]; }, terms, label + " dx");
              kernels::unpack_convolution(to_packed.data(), to_weight.data(), shape);
              expect_near<float>(
                  to_weight, [&](int64_t i) { return d_weight[static_cast<size_t>(i)]; },
                  [&](int64_t i) { return size_weight[static_cast<size_t>(i)]; },
                  static_cast<double>(height * width + 2), label + " dw");
            }
          }
        },
        // Whole groups only.
        /*widest=*/56, /*step=*/group);
}

}  // namespace
}  // namespace cachet
