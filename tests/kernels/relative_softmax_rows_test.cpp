#include "cachet/kernels/relative_softmax_rows.h"

#include "tests/kernels/kernel_sweep.h"
#include "tests/kernels/scalar/relative_softmax_rows.h"

namespace cachet {
namespace {

using test::expect_near;
using test::Guarded;
using test::sweep;

constexpr float kRelativeScale = 0.37f;

// Where the shift takes the score of query i and key j from, as the paper's figure has it; −1 for a zero.
int64_t shift_source(int64_t i, int64_t j, int64_t rows, int64_t columns) {
  const int64_t seen = columns - rows + 1 + i;
  if (j < seen) return i * columns + j + rows - 1 - i;
  return j == seen ? -1 : (i + 1) * columns + j - seen - 1;
}

TEST(RelativeSoftmaxRowsKernelRobustness, EqualsItsDefinitionHiddenOrNot) {
  sweep([]<class T>(T*, int64_t width, int64_t offset, std::mt19937& random, const std::string& label) {
    for (const int64_t rows : {int64_t{0}, std::min<int64_t>(width, 3), width}) {
      const Guarded<T> content(rows * width, offset, random), position(rows * width, offset, random);
      std::vector<uint8_t> hidden(static_cast<size_t>(rows * width));
      for (size_t i = 0; i < hidden.size(); ++i) hidden[i] = random() % 3 == 0;
      for (int64_t j = 0; j < width && rows > 0; ++j) hidden[static_cast<size_t>(j)] = 1;  // a row that sees nothing
      for (const bool masked : {false, true})
        for (const bool simd : {true, false}) {
          Guarded<T> out(rows * width, offset);
          Guarded<float> scratch(width, offset);
          (simd ? kernels::relative_softmax_rows<T>
                : kernels::scalar::relative_softmax_rows<T>)(content.data(), position.data(),
                                                             masked ? hidden.data() : nullptr, kRelativeScale,
                                                             out.data(), scratch.data(), {rows, width});
          EXPECT_TRUE(scratch.untouched_around());
          std::vector<double> want(static_cast<size_t>(rows * width));
          for (int64_t i = 0; i < rows; ++i) {
            double sum = 0;
            for (int64_t j = 0; j < width; ++j) {
              const int64_t source = shift_source(i, j, rows, width);
              const double z = content[i * width + j] + static_cast<double>(source < 0 ? 0.0f : position[source]);
              if (!masked || !hidden[i * width + j]) sum += want[i * width + j] = std::exp(z * kRelativeScale);
            }
            for (int64_t j = 0; j < width && sum > 0; ++j) want[i * width + j] /= sum;
          }
          expect_near<T>(
              out, [&](int64_t i) { return want[i]; }, [&](int64_t i) { return want[i]; },
              60.0 + static_cast<double>(width), label);
        }
    }
  });
}

TEST(RelativeSoftmaxRowsKernelRobustness, TheBackwardPassEqualsItsDefinition) {
  sweep([]<class T>(T*, int64_t width, int64_t offset, std::mt19937& random, const std::string& label) {
    for (const int64_t rows : {int64_t{0}, std::min<int64_t>(width, 3), width}) {
      const Guarded<T> weights(rows * width, offset, random), grad(rows * width, offset, random);
      for (const bool in_place : {false, true})
        for (const bool simd : {true, false}) {
          Guarded<T> d_content = in_place ? grad : Guarded<T>(rows * width, offset);
          Guarded<T> d_position(rows * width, offset, random);
          (simd ? kernels::relative_softmax_rows_backward<T>
                : kernels::scalar::relative_softmax_rows_backward<T>)(weights.data(),
                                                                      in_place ? d_content.data() : grad.data(),
                                                                      kRelativeScale, d_content.data(),
                                                                      d_position.data(), {rows, width});
          const auto pulled = [&](int64_t i, bool absolute) {
            double sum = 0, g = grad[i], p = weights[i];
            for (int64_t j = i / width * width; j < (i / width + 1) * width; ++j) {
              const double term = static_cast<double>(weights[j]) * grad[j];
              sum += absolute ? std::abs(term) : term;
            }
            return kRelativeScale * (absolute ? std::abs(p) * (std::abs(g) + sum) : p * (g - sum));
          };
          std::vector<int64_t> reader(static_cast<size_t>(rows * width), -1);  // which score each position is in
          for (int64_t i = 0; i < rows * width; ++i)
            if (const int64_t source = shift_source(i / width, i % width, rows, width); source >= 0) reader[source] = i;
          const double roundings = static_cast<double>(width) + 8;
          expect_near<T>(
              d_content, [&](int64_t i) { return pulled(i, false); }, [&](int64_t i) { return pulled(i, true); },
              roundings, label);
          expect_near<T>(
              d_position, [&](int64_t i) { return reader[i] < 0 ? 0.0 : pulled(reader[i], false); },
              [&](int64_t i) { return reader[i] < 0 ? 0.0 : pulled(reader[i], true); }, roundings, label);
        }
    }
  });
}

TEST(RelativeSoftmaxRowsKernelRobustness, NotANumberMakesItsRowNaNUnlessItIsHidden) {
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    test::for_each_instruction_set([&](const std::string& set) {
      for (const int64_t width : {1, 7, 16, 37})
        for (const bool hides : {false, true})
          for (const bool simd : {true, false}) {
            std::vector<float> content(width, 0.5f), position(width, 0.25f), out(width), scratch(width);
            std::vector<uint8_t> hidden(width, 0);
            content[width / 2] = odd;
            hidden[width / 2] = hides;
            (simd ? kernels::relative_softmax_rows<float>
                  : kernels::scalar::relative_softmax_rows<float>)(content.data(), position.data(), hidden.data(), 1.0f,
                                                                   out.data(), scratch.data(), {1, width});
            for (int64_t i = 0; i < width; ++i)
              ASSERT_EQ(std::isnan(out[i]), !hides) << set << ", width " << width << ", element " << i;
          }
    });
}

}  // namespace
}  // namespace cachet
