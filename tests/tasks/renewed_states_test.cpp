#include "cachet/train/renewed_states.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cachet/io/state_dict.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/training_step.h"
#include "tests/support/checkpoints.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

class RenewedStatesTest : public ::testing::Test {
 protected:
  RenewedStatesTest() { test::write_tiny_images(images()); }
  std::filesystem::path images() const { return folder_ / "images"; }
  std::unique_ptr<Task> task(const std::vector<std::string>& settings = {}) const {
    config::Document document = test::tiny_document(images(), settings);
    return read_recipe(document).build();
  }
  /// Trained weights, whose states are as of no data.
  std::unique_ptr<Task> spoilt(const std::vector<std::string>& settings) {
    test::train_tiny(images(), folder_ / "run", settings);
    auto made = task(settings);
    io::load_state_dict(made->model(), test::last_checkpoint(folder_ / "run").model);
    const at::NoGradGuard no_grad;
    for (const io::NamedTensor& state : io::distinct_buffers(made->model()))
      if (state.tensor.is_floating_point()) state.tensor.fill_(30);
    return made;
  }
  static double top1(Task& task) {
    const at::NoGradGuard no_grad;
    task.model().eval();
    return task.evaluate([](int64_t, int64_t) {}).find("top1").value();
  }

  test::TemporaryDirectory folder_;
};

TEST_F(RenewedStatesTest, AreThoseOfTheWeights) {
  for (const std::string norm : {"un", "batch"}) {
    SCOPED_TRACE(norm);
    const std::vector<std::string> settings{"model.norm.kind=" + norm, "model.norm.warmup=4"};
    const auto made = spoilt(norm == "batch" ? std::vector<std::string>{settings[0]} : settings);
    std::vector<at::Tensor> weights;
    for (const at::Tensor& weight : made->model().parameters()) weights.push_back(weight.clone());
    const double before = top1(*made);
    std::vector<int64_t> passed;
    train::renew_states(*made, train::Precision::float32, 50, [&](int64_t done) { passed.push_back(done); });
    EXPECT_FALSE(made->model().is_training());
    EXPECT_EQ(passed.size(), 50U) << "of epochs of twelve";
    EXPECT_EQ(passed.back(), 50);
    EXPECT_LT(before, 0.6);
    EXPECT_GT(top1(*made), 0.85);
    const auto parameters = made->model().parameters();
    for (size_t i = 0; i < weights.size(); ++i) {
      EXPECT_TRUE(parameters[i].equal(weights[i]));
      EXPECT_FALSE(parameters[i].grad().defined());
    }
    std::filesystem::remove_all(folder_ / "run");
  }
}

TEST_F(RenewedStatesTest, ComeOutAgain) {
  io::TensorMap first;
  for (int i = 0; i < 2; ++i) {
    const auto made = task();
    train::renew_states(*made, train::Precision::float32, 5);
    if (i == 0)
      for (const auto& [name, tensor] : io::state_dict(made->model())) first.emplace(name, tensor.clone());
    else
      test::expect_same_tensors(first, io::state_dict(made->model()));
  }
}

TEST_F(RenewedStatesTest, AreRefusedWhereThereAreNone) {
  const auto made = task({"model.cache.kind=none", "model.norm.kind=layer"});
  const std::string message =
      test::thrown_message<std::runtime_error>([&] { train::renew_states(*made, train::Precision::float32, 1); });
  EXPECT_NE(message.find("keeps nothing of its data"), std::string::npos) << message;
}

TEST_F(RenewedStatesTest, AreRefusedWhereTheyAreNotFinite) {
  const auto made = task();
  {
    const at::NoGradGuard no_grad;
    made->model().parameters().front().fill_(std::numeric_limits<float>::quiet_NaN());
  }
  EXPECT_THROW(train::renew_states(*made, train::Precision::float32, 1), train::NotFinite);
}

}  // namespace
}  // namespace cachet::tasks
