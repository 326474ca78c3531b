// Passes that several processes replay: the sums over processes and the optimizer are as without replays.
#include "cachet/train/step/replayed_passes.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cachet/io/tensors/state_dict.h"
#include "cachet/train/step/live_run.h"
#include "tests/support/played_processes.h"
#include "tests/support/step_executors.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

using MakeExecutor = std::function<std::shared_ptr<StepExecutor>()>;

/// What two processes leave after some steps.
struct LeftByTwo {
  std::array<io::TensorMap, 2> models;
  std::array<std::vector<double>, 2> losses, norms;
  std::array<std::string, 2> errors;
};

/// Trains toys in two processes, with 5 batches of 10 and of 11 images. The toys are in evaluation mode, because all
/// threads draw from one generator. In the step `bad_step` (from 0), the images of the second process are NaN.
LeftByTwo after_steps(const std::vector<std::string>& settings, int64_t steps, const MakeExecutor& make,
                      int64_t bad_step = -1) {
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  for (const std::string& setting : settings) document.set(setting);
  document.set("train.ema_decay=0");
  document.set("train.epochs=9");
  const Options options = test::read_toy(document);
  at::set_num_threads(1);
  std::array<std::unique_ptr<test::ToyTask>, 2> tasks;
  for (size_t rank = 0; rank < 2; ++rank) {
    test::ToyHooks hooks;
    hooks.spoil = [rank, bad_step, now = int64_t{-1}](at::Tensor& images, test::ToyModel& model) mutable {
      model.eval();
      if (++now == bad_step && rank == 1) images.fill_(std::numeric_limits<float>::quiet_NaN());
    };
    at::manual_seed(7);
    tasks[rank] = std::make_unique<test::ToyTask>(0, std::move(hooks), rank == 0 ? 10 : 11);
  }
  LeftByTwo left;
  test::play_well(2, [&](const std::shared_ptr<processes::ProcessGroup>& own) {
    const auto rank = static_cast<size_t>(own->rank());
    LiveRun live(*tasks[rank], options, own, make());
    try {
      for (int64_t step = 0; step < steps; ++step) {
        const StepSummary summary = live.advance();
        left.losses[rank].push_back(means(summary.sums).find("loss").value());
        left.norms[rank].push_back(summary.gradient_norm);
      }
    } catch (const NotFinite& error) {
      left.errors[rank] = error.what();
    }
    left.models[rank] = io::state_dict(tasks[rank]->model());
  });
  return left;
}

void expect_equal(const LeftByTwo& a, const LeftByTwo& b) {
  for (size_t rank = 0; rank < 2; ++rank) {
    test::expect_same_tensors(a.models[rank], b.models[rank]);
    EXPECT_EQ(a.losses[rank], b.losses[rank]);
    EXPECT_EQ(a.norms[rank], b.norms[rank]);
    EXPECT_EQ(a.errors[rank], b.errors[rank]);
  }
}

/// Makes executors that replay, and counts their replays.
struct Replays {
  std::shared_ptr<StepExecutor> make() {
    auto executor = std::make_shared<test::ReplayExecutor>();
    const std::lock_guard lock(made);
    counts.push_back(executor->count());
    return executor;
  }
  void expect_some() const {
    ASSERT_EQ(counts.size(), 2);
    for (const auto& count : counts) EXPECT_GT(count->replays, 0);
  }

  std::mutex made;
  std::vector<std::shared_ptr<const test::ReplayCount>> counts;
};

TEST(ReplayedPasses, OfSeveralProcessesEqualTheSteps) {
  for (const std::vector<std::string>& settings : {std::vector<std::string>{"train.accumulate=1"},
                                                   {"train.accumulate=3", "train.clip_norm=1e-3"},
                                                   {"train.accumulate=2", "optimizer.kind=sgd", "optimizer.lr=0.05"}}) {
    SCOPED_TRACE(settings.back());
    constexpr int64_t kSteps = 9;  // several epochs, whose last accumulation is short
    const LeftByTwo plain = after_steps(settings, kSteps, [] { return nullptr; });
    EXPECT_EQ(std::ssize(plain.losses[0]), kSteps);
    expect_equal(plain, after_steps(settings, kSteps, [] { return make_direct_executor(); }));
    Replays replays;
    expect_equal(plain, after_steps(settings, kSteps, [&] { return replays.make(); }));
    replays.expect_some();
    test::expect_same_tensors(plain.models[0], plain.models[1]);
  }
}

TEST(ReplayedPasses, ALossThatIsNotFiniteStopsAllProcessesInItsStep) {
  const std::vector<std::string> settings{"train.accumulate=1"};
  const LeftByTwo plain = after_steps(
      settings, 6, [] { return nullptr; }, /*bad_step=*/4);
  for (const std::string& error : plain.errors) EXPECT_NE(error.find("the loss is NaN"), std::string::npos) << error;
  EXPECT_EQ(plain.losses[0].size(), 4);
  Replays replays;
  expect_equal(plain, after_steps(
                          settings, 6, [&] { return replays.make(); }, /*bad_step=*/4));
  replays.expect_some();
}

}  // namespace
}  // namespace cachet::train
