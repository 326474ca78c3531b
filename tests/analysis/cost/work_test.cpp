#include "cachet/analysis/cost/work.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/analysis/cost/model_summary.h"
#include "cachet/ops/support/fused.h"
#include "tests/support/small_models.h"

namespace cachet::analysis {
namespace {

/// x (2, 3) by w (4, 3), then a view, an operator that writes anew, and one that writes in place.
class Steps : public nn::Cloneable<Steps, models::Model> {
 public:
  Steps() { weight = register_parameter("weight", at::ones({4, 3})); }
  models::Trial trial(int64_t batch, const torch::TensorOptions& options) override {
    const at::Tensor x = at::ones({2 * batch, 3}, options);
    const auto forward = [this, x] { return at::linear(x, weight).view({-1}).relu().add_(1); };
    return {forward, forward};
  }
  nn::RegisteredTensor weight;
};

TEST(WorkOf, CountsProductsTwiceAndWhatOthersWriteOnce) {
  const Steps model;
  const Work work = work_of(model);
  EXPECT_EQ(work.operations, 2 * 2 * 3 * 4 + 8 + 8);
  // linear reads x and w and writes 8 numbers; the others read and write 8 each.
  EXPECT_EQ(work.bytes, 4 * ((6 + 12 + 8) + (8 + 8) + (8 + 8)));
  EXPECT_TRUE(model.weight.is_cpu());
}

TEST(WorkOf, WorksForEveryBackboneWithoutNumbers) {
  for (const test::SmallModel& small : test::small_models()) {
    const auto model = test::built(small, {"cache.kind=grc"});
    model->eval();
    const Work work = work_of(*model);
    EXPECT_GT(work.operations, 1000) << small.name;
    EXPECT_GT(work.bytes, 4000) << small.name;
    EXPECT_EQ(work_of(*model), work) << small.name;
  }
}

// The last layer of models that write text is one with its cross entropy.
TEST(ModelSummary, OfATextModelIsThatOfItsCompositionEachTime) {
  for (const test::SmallModel& small : test::small_text_models()) {
    const auto model = test::built(small, {});
    model->eval();
    const ModelSummary fused = summarize(*model);
    EXPECT_EQ(summarize(*model).macs, fused.macs) << small.name;
    const ops::CompositeOnly composite;
    EXPECT_EQ(summarize(*model).macs.linear_convolution, fused.macs.linear_convolution) << small.name;
  }
}

TEST(ModelSummary, OfAModelWithoutNumbersIsThatOfARealPass) {
  for (const test::SmallModel& small : test::small_models()) {
    const auto model = test::built(small, {"cache.kind=grc"});
    model->eval();
    const ModelSummary shapes = summarize(*model);
    const ModelSummary numbers = summarize(*model, model->trial(1, at::TensorOptions()).forward);
    EXPECT_EQ(shapes.macs, numbers.macs) << small.name;
    EXPECT_EQ(shapes.parameters, numbers.parameters) << small.name;
    EXPECT_EQ(shapes.layers.size(), numbers.layers.size()) << small.name;
  }
}

}  // namespace
}  // namespace cachet::analysis
