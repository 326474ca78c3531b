#include "cachet/train/step/recalibration.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cachet/io/tensors/state_dict.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/step/training_step.h"
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
    train::recalibrate(*made, train::Precision::float32, 50, [&](int64_t done) { passed.push_back(done); });
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

// After few batches a moving average would still hold most of what the states were.
TEST_F(RenewedStatesTest, HoldNothingOfTheStatesBefore) {
  for (const std::string norm : {"un", "mabn", "pn", "batch"}) {
    SCOPED_TRACE(norm);
    io::TensorMap first;
    for (const double before : {0.5, 30.0}) {
      const auto made = task({"model.norm.kind=" + norm});
      {
        const at::NoGradGuard no_grad;
        for (const io::NamedTensor& state : io::distinct_buffers(made->model()))
          if (state.name().ends_with("running_mean") || state.name().ends_with("running_var"))
            state.tensor.fill_(before);
          else if (state.name().ends_with("statistics"))
            state.tensor.select(0, 0).fill_(before);
          else if (state.name().ends_with("cache.tokens"))
            state.tensor.fill_(before);
      }
      train::recalibrate(*made, train::Precision::float32, 3);
      if (first.empty())
        for (const auto& [name, tensor] : io::state_dict(made->model())) first.emplace(name, tensor.clone());
      else
        test::expect_same_tensors(first, io::state_dict(made->model()));
    }
  }
}

TEST_F(RenewedStatesTest, ComeOutAgain) {
  io::TensorMap first;
  for (int i = 0; i < 2; ++i) {
    const auto made = task();
    train::recalibrate(*made, train::Precision::float32, 5);
    if (i == 0)
      for (const auto& [name, tensor] : io::state_dict(made->model())) first.emplace(name, tensor.clone());
    else
      test::expect_same_tensors(first, io::state_dict(made->model()));
  }
}

/// Of averaged weights, which have met no data either.
class AveragedStatesTest : public RenewedStatesTest {
 protected:
  train::Checkpoint trained(const std::string& run, std::vector<std::string> settings) {
    settings.insert(settings.end(), settings_.begin(), settings_.end());
    test::train_tiny(images(), folder_ / run, settings);
    return test::last_checkpoint(folder_ / run);
  }
  static io::TensorMap states_of(torch::nn::Module& model, const io::TensorMap& weights) {
    io::TensorMap states;
    for (const io::NamedTensor& state : io::distinct_buffers(model))
      states.emplace(state.name(), weights.at(state.name()));
    return states;
  }
  double last_top1(const std::string& run) const {
    double top1 = -1;
    for (const train::Event& event : train::read_events(folder_ / run / "metrics.jsonl"))
      if (event.kind == train::Event::Kind::evaluation) top1 = event.metrics.find("top1").value();
    return top1;
  }

  // Nothing that a forward pass draws: what is made by hand then has the same draws.
  std::vector<std::string> settings_{"model.norm.kind=batch", "train.ema_decay=0.9", "model.dropout=0",
                                     "model.stochastic_depth=0"};
};

TEST_F(AveragedStatesTest, AreThoseOfTheAverage) {
  const train::Checkpoint own = trained("own", {"train.epochs=2", "train.ema_renew_states=5"}),
                          raw = trained("raw", {"train.epochs=2", "train.ema_renew_states=0"});
  test::expect_same_tensors(own.model, raw.model);
  test::expect_same_tensors(own.optimizer, raw.optimizer);
  test::expect_same_tensors(own.random, raw.random);
  const auto made = task(settings_);
  test::expect_same_tensors(states_of(made->model(), raw.ema), states_of(made->model(), raw.model));
  io::load_state_dict(made->model(), raw.ema);
  EXPECT_EQ(top1(*made), last_top1("raw"));
  train::recalibrate(*made, train::Precision::float32, 5);
  test::expect_same_tensors(io::state_dict(made->model()), own.ema);
  EXPECT_EQ(top1(*made), last_top1("own")) << "what is evaluated is what is saved";
}

TEST_F(AveragedStatesTest, AreTheSameAfterAResume) {
  settings_.resize(2);  // with dropout and stochastic depth
  const std::vector<std::string> few{"train.ema_renew_states=3", "train.epochs=2"},
      all{"train.ema_renew_states=3", "train.epochs=4"};
  const train::Checkpoint whole = trained("whole", all);
  trained("cut", few);
  const train::Checkpoint cut = trained("cut", all);
  test::expect_same_tensors(whole.ema, cut.ema);
  test::expect_same_tensors(whole.model, cut.model);
  test::expect_same_tensors(whole.random, cut.random);
  EXPECT_EQ(last_top1("whole"), last_top1("cut"));
}

// A model without such states costs nothing, and its average is as before.
TEST_F(AveragedStatesTest, AreNotLookedForWhereThereAreNone) {
  settings_[0] = "model.norm.kind=layer";
  settings_.push_back("model.cache.kind=none");
  const train::Checkpoint own = trained("own", {"train.epochs=1"}),
                          raw = trained("raw", {"train.epochs=1", "train.ema_renew_states=0"});
  test::expect_same_tensors(own.ema, raw.ema);
}

TEST_F(RenewedStatesTest, AreRefusedWhereThereAreNone) {
  const auto made = task({"model.cache.kind=none", "model.norm.kind=layer"});
  const std::string message =
      test::thrown_message<std::runtime_error>([&] { train::recalibrate(*made, train::Precision::float32, 1); });
  EXPECT_NE(message.find("has no running statistics and no cache to recalibrate"), std::string::npos) << message;
}

TEST_F(RenewedStatesTest, AreRefusedWhereTheyAreNotFinite) {
  const auto made = task();
  {
    const at::NoGradGuard no_grad;
    made->model().parameters().front().fill_(std::numeric_limits<float>::quiet_NaN());
  }
  EXPECT_THROW(train::recalibrate(*made, train::Precision::float32, 1), train::NotFinite);
}

}  // namespace
}  // namespace cachet::tasks
