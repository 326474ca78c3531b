#include "cachet/kernels/small_product.h"

#include "tests/kernels/kernel_sweep.h"

namespace cachet {
namespace {

using test::expect_near;
using test::Guarded;

// Left matrices lie as they are, or as their transpose; rows of all matrices lie further apart than they are wide.
struct Case {
  kernels::ProductShape shape;
  bool turned, add;
};

void check(const Case& c, int64_t offset, std::mt19937& random, const std::string& label) {
  constexpr int64_t kApart = 3;
  const auto [rows, columns, inner] = c.shape;
  const int64_t stride = columns + kApart, left_stride = (c.turned ? rows : inner) + kApart;
  Guarded<float> left(std::max<int64_t>(1, (c.turned ? inner : rows) * left_stride), offset, random);
  Guarded<float> right(std::max<int64_t>(1, inner * stride - (inner > 0 ? kApart : 0)), offset, random);
  const Guarded<float> before(std::max<int64_t>(1, rows * stride), offset, random);
  const kernels::LeftMatrix matrix{left.data(), c.turned ? 1 : left_stride, c.turned ? left_stride : 1};
  const auto sum = [&](int64_t i, bool magnitudes) {
    const int64_t row = i / stride, column = i % stride;
    const bool made = row < rows && column < columns;
    double total = c.add || !made ? before[i] : 0;
    if (magnitudes) total = std::abs(total);
    for (int64_t k = 0; k < inner && made; ++k) {
      const double term = static_cast<double>(left[row * matrix.row_stride + k * matrix.column_stride]) *
                          static_cast<double>(right[k * stride + column]);
      total += magnitudes ? std::abs(term) : term;
    }
    return total;
  };
  Guarded<float> out = before;
  kernels::small_gemm(matrix, {right.data(), stride}, {out.data(), stride}, c.add, c.shape);
  expect_near<float>(
      out, [&](int64_t i) { return sum(i, false); }, [&](int64_t i) { return sum(i, true); },
      static_cast<double>(inner) + 2, label);
}

TEST(SmallProductKernelRobustness, EqualsItsDefinition) {
  std::mt19937 random(20261126);
  int64_t cases = 0;
  test::for_each_instruction_set([&](const std::string& set) {
    // Rows and columns around every size of tile, and widths up to several of them side by side.
    for (const int64_t rows : {0, 1, 3, 4, 5, 6, 7, 8, 11, 12, 13, 23, 25})
      for (const int64_t columns : {0, 1, 3, 4, 5, 8, 12, 15, 16, 17, 31, 33, 48, 50, 64, 65, 81, 145})
        for (const int64_t inner : {0, 1, 2, 12})
          for (const bool turned : {false, true})
            for (const bool add : {false, true}) {
              if (HasFailure()) return;
              const std::string label = set + ": " + std::to_string(rows) + " × " + std::to_string(inner) + " × " +
                                        std::to_string(columns) + (turned ? ", turned" : "") + (add ? ", added" : "");
              check({{rows, columns, inner}, turned, add}, cases % 3, random, label);
              ++cases;
            }
  });
  RecordProperty("cases", std::to_string(cases));
}

}  // namespace
}  // namespace cachet
