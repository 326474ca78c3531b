#include "cachet/ops/support/operator_handle.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace cachet {
namespace {

using at::Tensor;

TEST(FindCpuOperator, TakesOnlyTheOperatorThatWasMeant) {
  const auto add = ops::find_cpu_operator<Tensor(const Tensor&, const Tensor&, const at::Scalar&)>("aten::add");
  EXPECT_FALSE(add) << "aten::add has overloads and none without a name";
  const auto relu = ops::find_cpu_operator<Tensor(const Tensor&)>("aten::relu");
  ASSERT_TRUE(relu);
  const Tensor x = at::randn({5});
  EXPECT_TRUE(at::equal(relu->call(x), at::relu(x)));
}

TEST(FindCpuOperator, IsNothingWhereTheOperatorIsMissingOrAnother) {
  EXPECT_FALSE((ops::find_cpu_operator<Tensor(const Tensor&)>("mkldnn::_there_is_no_such_operator")));
  EXPECT_FALSE((ops::find_cpu_operator<Tensor(const Tensor&, const Tensor&)>("aten::relu"))) << "another argument";
  EXPECT_FALSE((ops::find_cpu_operator<Tensor(const Tensor&, int64_t)>("aten::gelu"))) << "another type";
  EXPECT_FALSE((ops::find_cpu_operator<int64_t(const Tensor&)>("aten::relu"))) << "another result";
}

}  // namespace
}  // namespace cachet
