#include "cachet/kernels/transpose.h"

#include "tests/kernels/kernel_sweep.h"

namespace cachet {
namespace {

using test::Guarded;

TEST(TransposeKernelRobustness, EqualsItsDefinition) {
  std::mt19937 random(3);
  test::for_each_instruction_set([&](const std::string& set) {
    for (int64_t rows = 0; rows <= 19; ++rows)
      for (int64_t columns = 0; columns <= 19; ++columns)
        for (const int64_t offset : {0, 1, 3}) {
          const int64_t from_stride = columns + offset, to_stride = rows + offset;
          const Guarded<float> from(rows * from_stride, offset, random);
          Guarded<float> to(columns * to_stride, offset);
          kernels::transpose(from.data(), from_stride, to.data(), to_stride, rows, columns);
          ASSERT_TRUE(to.untouched_around()) << set;
          for (int64_t i = 0; i < columns * to_stride; ++i) {
            const int64_t row = i % to_stride;
            const float want = row < rows ? from[row * from_stride + i / to_stride] : 0.0f;
            ASSERT_EQ(to[i], want) << set << ' ' << rows << " x " << columns << " element " << i;
          }
        }
  });
}

}  // namespace
}  // namespace cachet
