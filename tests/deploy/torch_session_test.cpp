// Every backbone × norm × cache, small: a session on LibTorch computes what the model does.
#include "cachet/deploy/torch_session.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/deploy/classifier_inputs.h"
#include "cachet/deploy/rewrite.h"
#include "cachet/deploy/session_model.h"
#include "cachet/nn/base/cloneable.h"
#include "tests/deploy/synthetic_inputs.h"
#include "tests/deploy/trained_model.h"
#include "tests/support/refused.h"
#include "tests/support/score_difference.h"
#include "tests/support/thrown_message.h"

namespace cachet::deploy {
namespace {

using test::cache_settings;
using test::Settings;
using test::small_models;
using test::SmallModel;
using test::text_of;

class TorchSession : public ::testing::TestWithParam<SmallModel> {};

TEST_P(TorchSession, ComputesWhatTheModelDoes) {
  const at::NoGradGuard no_grad;
  for (const char* norm : {"layer", "un"})
    for (Settings plug_ins : cache_settings(GetParam().has_grid)) {
      plug_ins.push_back("norm.kind=" + std::string(norm));
      SCOPED_TRACE(text_of(plug_ins));
      const auto model = trained(GetParam(), plug_ins, at::kFloat);
      const std::vector<at::Tensor> inputs = synthetic_inputs(*model, 4, 2);
      const at::Tensor expected = classify(*model, inputs);
      rewrite(*model);
      const auto copy = std::dynamic_pointer_cast<models::Model>(model->clone());
      const test::ScoreDifference wide =
          test::score_difference(expected, classify(*make_torch_session(model, {}), inputs), 1e-4);
      EXPECT_TRUE(wide.holds(1e-4)) << wide.largest;
      const test::ScoreDifference narrow = test::score_difference(
          expected, classify(*make_torch_session(copy, {runtime::Precision::bfloat16}), inputs), 0.1);
      EXPECT_LT(narrow.largest, 0.1) << narrow.largest;  // weights of these tests are far larger than trained ones
      EXPECT_GT(narrow.largest, 1e-6) << "bfloat16 was not used";
    }
}

INSTANTIATE_TEST_SUITE_P(Models, TorchSession, ::testing::ValuesIn(small_models()),
                         [](const auto& info) { return info.param.name + "_" + std::to_string(info.index); });

/// Gives the first input's first numbers, and keeps what it was given.
class Recorder : public runtime::Session {
 public:
  explicit Recorder(std::vector<std::vector<int64_t>>& shapes) : shapes_(shapes) {}
  runtime::Scores run(std::span<const runtime::Input> inputs) override {
    for (const runtime::Input& input : inputs) shapes_.push_back(input.shape);
    return {inputs[0].shape[0], 2, std::vector<float>(static_cast<size_t>(2 * inputs[0].shape[0]), 0.5F)};
  }

 private:
  std::vector<std::vector<int64_t>>& shapes_;
};

/// Keeps whether it was given a mask.
class MaskRecorder : public nn::Cloneable<MaskRecorder, models::SequenceClassifier> {
 public:
  torch::Tensor forward(const models::Sequences& first, const models::Sequences& /*second*/) override {
    masked.push_back(first.padding.defined());
    return at::zeros({first.ids.size(0), 2});
  }
  models::SequenceShape sequence_shape() const override { return {}; }
  int64_t classes() const override { return 2; }

  std::vector<bool> masked;
};

TEST(TorchSession, LeavesOutAMaskThatHidesNothing) {
  const auto model = std::make_shared<MaskRecorder>();
  model->eval();
  const auto session = make_torch_session(model, {});
  at::Tensor padding = at::zeros({2, 3}, at::kBool);
  const at::Tensor ids = at::ones({2, 3}, at::kLong);
  classify(*session, {ids, padding});
  padding[1][2] = true;
  classify(*session, {ids, padding});
  EXPECT_EQ(model->masked, (std::vector<bool>{false, true}));
}

TEST(SessionModel, FillsSequencesUpWhereTheirLengthIsFixed) {
  std::vector<std::vector<int64_t>> shapes;
  const auto model = session_model(std::make_unique<Recorder>(shapes), {30, 12, false}, 2, /*fixed_length=*/12);
  EXPECT_EQ(model->forward({at::zeros({3, 7}, at::kLong), {}}, {}).sizes(), at::IntArrayRef({3, 2}));
  EXPECT_EQ(shapes, (std::vector<std::vector<int64_t>>{{3, 12}, {3, 12}}));
  shapes.clear();
  const auto free = session_model(std::make_unique<Recorder>(shapes), {30, 12, false}, 2, 0);
  free->forward({at::zeros({3, 7}, at::kLong), {}}, {});
  EXPECT_EQ(shapes, (std::vector<std::vector<int64_t>>{{3, 7}, {3, 7}}));
}

TEST(TorchSession, SaysWhatItsModelDoesNotTake) {
  const auto session = make_torch_session(trained(small_models().front(), {}, at::kFloat), {});
  const std::vector<float> numbers(2 * 3 * 7 * 7);
  const std::vector<runtime::Input> inputs{{runtime::Element::float32, {2, 3, 7, 7}, numbers.data()}};
  const std::string said = test::thrown_message<std::runtime_error>([&] { session->run(inputs); });
  EXPECT_NE(said.find("multiples of 8, got [2, 3, 7, 7]"), std::string::npos) << said;
  EXPECT_EQ(said.find("frame #"), std::string::npos) << said;
}

TEST(TorchSession, TakesModelsInEvaluationAlone) {
  const auto model = test::built(small_models().front(), {});
  model->train();
  test::expect_refused([&] { make_torch_session(model, {}); }, "call eval() first");
}

}  // namespace
}  // namespace cachet::deploy
