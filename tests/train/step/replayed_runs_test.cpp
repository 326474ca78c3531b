// Replayed runs with what happens in real ones: numbers that are not finite, signals, evaluations of another size, and
// recordings that fail.
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cachet/ops/support/host_flag.h"
#include "cachet/train/step/live_run.h"
#include "tests/support/recorded_steps.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

using test::RecordingExecutor;
using test::ReplayExecutor;
using test::TemporaryDirectory;
using test::ToyHooks;
using test::train_toy;

Options options_of_toy(const std::vector<std::string>& settings) {
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  for (const std::string& setting : settings) document.set(setting);
  const Options options = test::read_toy(document);
  prepare_process(options.train);
  return options;
}

/// A toy run in memory, with the losses of its steps.
struct ReplayedToy {
  /// `part`: a further module of the model, or null.
  ReplayedToy(const std::vector<std::string>& settings, std::unique_ptr<StepExecutor> executor, ToyHooks hooks = {},
              const std::shared_ptr<torch::nn::Module>& part = nullptr)
      : options(options_of_toy(settings)),
        task(0, std::move(hooks)),
        live(with_part(part), options, nullptr, std::move(executor)) {}

  test::ToyTask& with_part(const std::shared_ptr<torch::nn::Module>& part) {
    if (part) task.toy().register_module("part", part);
    return task;
  }

  void steps(int64_t count) {
    for (int64_t i = 0; i < count; ++i) add(live.advance());
  }
  Checkpoint settled() {
    add(live.settle());
    return live.capture();
  }
  void add(const StepSummary& summary) {
    if (summary.read_steps == 0) return;
    losses.push_back(means(summary.sums).find("loss").value_or(0));
    norms.push_back(summary.gradient_norm);
  }

  Options options;
  test::ToyTask task;
  LiveRun live;
  std::vector<double> losses, norms;
};

void expect_same_state(const Checkpoint& a, const Checkpoint& b) {
  test::expect_same_tensors(a.model, b.model);
  test::expect_same_tensors(a.optimizer, b.optimizer);
  test::expect_same_tensors(a.ema, b.ema);
}

// Weights that differ.

/// Hooks with a penalty, and with weights that differ from batch to batch and sometimes are 0.
ToyHooks with_weights() {
  ToyHooks hooks;
  hooks.weight = [](int64_t samples, int64_t epoch, int64_t batch) {
    const int64_t number = 7 * epoch + batch;
    return number % 9 == 4 || number % 14 > 11 ? 0 : static_cast<double>(samples + number % 5);
  };
  hooks.penalty = [](const test::ToyModel& model) { return model.filter_.square().sum() * 1e-2; };
  return hooks;
}

TEST(ReplayedRuns, WeightsThatDifferAndWeightsOfZeroAreReplayed) {
  for (const char* accumulate : {"train.accumulate=1", "train.accumulate=2", "train.accumulate=3"}) {
    SCOPED_TRACE(accumulate);
    const std::vector<std::string> settings{accumulate, "train.epochs=9"};
    ReplayedToy plain(settings, nullptr, with_weights());
    const int64_t steps = plain.live.total_steps();
    plain.steps(steps);
    const Checkpoint expected = plain.settled();
    auto executor = std::make_unique<ReplayExecutor>();
    const auto replays = executor->count();
    ReplayedToy replayed(settings, std::move(executor), with_weights());
    replayed.steps(steps);
    expect_same_state(expected, replayed.settled());
    EXPECT_EQ(plain.losses, replayed.losses);
    ASSERT_EQ(plain.norms.size(), replayed.norms.size());
    for (size_t i = 0; i < plain.norms.size(); ++i) EXPECT_DOUBLE_EQ(plain.norms[i], replayed.norms[i]) << i;
    EXPECT_GT(replays->replays, steps / 2);
  }
}

TEST(ReplayedRuns, AParameterThatGetsAGradientLaterIsTrained) {
  const auto hooks = [] {
    ToyHooks later;
    later.spoil = [batch = 0](at::Tensor& images, test::ToyModel& model) mutable {
      const bool trained = ++batch > 8 && batch % 2 == 0;
      model.filter_.requires_grad_(trained);
      if (trained) images = images.transpose(2, 3).contiguous().transpose(2, 3);  // another layout
    };
    return later;
  };
  const std::vector<std::string> settings{"train.accumulate=1", "train.epochs=4", "train.clip_norm=0"};
  ReplayedToy direct(settings, make_direct_executor(), hooks());
  direct.steps(20);
  const Checkpoint expected = direct.settled();
  ReplayedToy replayed(settings, std::make_unique<ReplayExecutor>(), hooks());
  replayed.steps(20);
  expect_same_state(expected, replayed.settled());
}

// Numbers that are not finite.

enum class BadValue { input, loss, one_gradient, memory };

/// Hooks that put NaN there in one batch, so that a replay meets it, too.
ToyHooks with_bad_value(BadValue place, int64_t at_batch) {
  ToyHooks hooks;
  const at::Tensor factor = at::ones({}), term = at::zeros({});
  hooks.spoil = [=, batch = int64_t{-1}](at::Tensor& images, test::ToyModel& model) mutable {
    const at::NoGradGuard no_grad;
    const bool bad = ++batch == at_batch;
    factor.fill_(bad && place == BadValue::one_gradient ? 0 : 1);
    term.fill_(bad && place == BadValue::loss ? std::numeric_limits<float>::quiet_NaN() : 0);
    if (bad && place == BadValue::input) images.fill_(std::numeric_limits<float>::quiet_NaN());
    if (bad && place == BadValue::memory) model.memory_.fill_(std::numeric_limits<float>::quiet_NaN());
  };
  // A term without a gradient makes the loss NaN, but no gradient.
  hooks.loss = [=](const at::Tensor& loss) { return loss + term; };
  // If the factor is 0, the penalty is 0, and its gradient is 0/0.
  hooks.penalty = [=](const test::ToyModel& model) { return (factor * model.filter_.square().sum()).sqrt() * 1e-3; };
  return hooks;
}

TEST(ReplayedRuns, AReplayedStepThatIsNotFiniteAndTheNextStepChangeNothing) {
  const std::vector<std::string> settings{"train.accumulate=1"};
  for (const BadValue place : {BadValue::input, BadValue::loss, BadValue::one_gradient, BadValue::memory}) {
    for (const int64_t bad : {0, 1, 2, 9}) {  // the step, from 0: the first one, a recorded one, a replay
      SCOPED_TRACE(std::to_string(static_cast<int>(place)) + ", step " + std::to_string(bad + 1));
      ReplayedToy good(settings, std::make_unique<ReplayExecutor>(), with_bad_value(place, -1));
      good.steps(bad);
      const Checkpoint before = good.settled();

      ReplayedToy toy(settings, std::make_unique<ReplayExecutor>(), with_bad_value(place, bad));
      toy.steps(bad + 1);
      const std::string message = test::thrown_message<NotFinite>([&] { toy.steps(1); });  // this step is clean
      EXPECT_NE(
          message.find(place == BadValue::one_gradient ? "the gradient of filter is not finite" : "the loss is NaN"),
          std::string::npos)
          << message;
      EXPECT_EQ(toy.live.failed_step().step, bad + 1);
      if (place == BadValue::memory) {
        EXPECT_THROW(toy.live.settle(), NotFinite);  // the memory is still what the test wrote
        toy.task.toy().memory_.copy_(before.model.at("memory"));
      }
      Checkpoint after = toy.settled();
      // The first step makes the optimizer's state, which stays 0.
      if (bad == 0) {
        for (const auto& [name, tensor] : std::exchange(after.optimizer, {}))
          EXPECT_FALSE(tensor.any().item<bool>()) << name;
      }
      expect_same_state(before, after);
    }
  }
}

TEST(ReplayedRuns, TheMicroBatchThatIsNotFiniteIsNamed) {
  for (const int64_t bad : {0, 1, 8, 9}) {  // the micro-batch of the run
    ReplayedToy toy({}, std::make_unique<ReplayExecutor>(), with_bad_value(BadValue::input, bad));
    const std::string message = test::thrown_message<NotFinite>([&] { toy.steps(8); });
    // The fourth step of an epoch has one micro-batch.
    const int64_t in_epoch = bad % 7;
    EXPECT_NE(message.find("the loss of micro-batch " + std::to_string(in_epoch % 2 + 1) + " of 2 is NaN"),
              std::string::npos)
        << message;
  }
}

TEST(ReplayedRuns, NoCheckpointIsMadeAfterAStepThatIsNotFinite) {
  for (const BadValue place : {BadValue::input, BadValue::loss, BadValue::one_gradient, BadValue::memory}) {
    for (const int64_t bad : {1, 3, 11}) {  // a checkpoint is due after it; the last one ends the run
      SCOPED_TRACE(std::to_string(static_cast<int>(place)) + ", batch " + std::to_string(bad));
      const TemporaryDirectory folder;
      const Outcome outcome = train_toy(
          folder / "run", with_bad_value(place, bad),
          {"train.accumulate=1", "train.checkpoint_every=\"2 steps\"", "train.limit=\"12 steps\"", "train.keep=9"},
          io::FileSystem::real(), std::make_unique<ReplayExecutor>());
      EXPECT_EQ(outcome.ending, StopReason::not_finite);
      EXPECT_NE(outcome.message.find("step " + std::to_string(bad + 1) + " "), std::string::npos) << outcome.message;
      if (bad == 1) {
        EXPECT_FALSE(std::filesystem::exists(folder / "run" / "checkpoints" / "last"));
      } else {
        EXPECT_EQ(test::last_checkpoint(folder / "run").state.step, bad - 1);
      }
    }
  }
}

// Signals.

TEST(ReplayedRuns, ARunThatASignalStopsIsResumedBitForBit) {
  const auto train = [](const std::filesystem::path& run, ToyHooks hooks) {
    auto executor = std::make_unique<ReplayExecutor>();
    const auto replays = executor->count();
    const Outcome outcome =
        train_toy(run, std::move(hooks), {"train.epochs=6"}, io::FileSystem::real(), std::move(executor));
    EXPECT_GT(replays->replays, 0);
    return outcome.ending;
  };
  const TemporaryDirectory folder;
  ASSERT_EQ(train(folder / "whole", {}), StopReason::finished);
  for (const auto& [at_epoch, at_batch] : {std::pair<int64_t, int64_t>{2, 2}, {2, 3}, {3, 6}}) {
    SCOPED_TRACE("epoch " + std::to_string(at_epoch) + ", batch " + std::to_string(at_batch));
    const auto run = folder / (std::to_string(at_epoch) + "-" + std::to_string(at_batch));
    ToyHooks hooks;
    hooks.before_forward = [=](int64_t epoch, int64_t batch) {
      if (epoch == at_epoch && batch == at_batch) raise(SIGTERM);
    };
    EXPECT_EQ(train(run, hooks), StopReason::interrupted);
    EXPECT_EQ(train(run, {}), StopReason::finished);
    test::expect_same_runs(folder / "whole", run);
  }
}

// Addresses.

TEST(ReplayedRuns, TheAddressesStayAcrossAnEvaluationOfAnotherSize) {
  for (const char* kind : {"optimizer.kind=adamw", "optimizer.kind=sgd"}) {
    ReplayedToy toy({kind}, make_direct_executor());
    const auto tensors = [&] {
      std::map<std::string, at::Tensor> all;
      for (const auto& parameter : toy.task.model().named_parameters()) {
        all.emplace(parameter.key(), parameter.value());
        all.emplace(parameter.key() + ", gradient", parameter.value().grad());
      }
      for (const auto& buffer : toy.task.model().named_buffers()) all.emplace(buffer.key(), buffer.value());
      const Checkpoint checkpoint = toy.settled();
      for (const auto& [name, tensor] : checkpoint.optimizer) all.emplace(name + ", optimizer", tensor);
      for (const auto& parameter : toy.task.model().named_parameters())
        all.emplace(parameter.key() + ", average", checkpoint.ema.at(parameter.key()));
      return all;
    };
    toy.steps(2);
    const std::map<std::string, at::Tensor> second = tensors();
    const auto expect_same_addresses = [&](const char* when) {
      const std::map<std::string, at::Tensor> now = tensors();
      ASSERT_EQ(now.size(), second.size());
      for (const auto& [name, tensor] : now)
        EXPECT_EQ(tensor.data_ptr(), second.at(name).data_ptr()) << name << " " << when;
    };
    EXPECT_GE(second.size(), 3U * 4 + 2);
    toy.steps(1);
    expect_same_addresses("in step 3");
    toy.live.evaluate([](int64_t, int64_t) {});  // of one image at a time
    toy.steps(1);
    expect_same_addresses("after an evaluation");
  }
}

// Recordings that fail.

TEST(ReplayedRuns, ARecordingThatRunsOutOfMemoryLeavesTheSameRun) {
  for (const char* accumulate : {"train.accumulate=1", "train.accumulate=2"}) {
    const std::vector<std::string> settings{accumulate, "train.epochs=3"};
    ReplayedToy direct(settings, make_direct_executor());
    const int64_t steps = direct.live.total_steps();
    direct.steps(steps);
    const Checkpoint expected = direct.settled();
    for (const size_t fails_at : {0, 3, 10, 30, 60}) {  // in the forward pass, backward pass and update
      SCOPED_TRACE(std::string(accumulate) + ", operator " + std::to_string(fails_at));
      const auto at_index = [=](size_t index, const std::string&) { return index == fails_at; };
      ReplayedToy toy(settings, std::make_unique<RecordingExecutor>(at_index));
      toy.steps(steps);
      expect_same_state(expected, toy.settled());
      const std::vector<std::string> notes = toy.live.take_step_notes();
      ASSERT_FALSE(notes.empty());
      EXPECT_EQ(notes.front(), "a step runs without a CUDA graph, because its capture failed: out of memory");
    }
  }
}

/// A module whose passes differ in turns.
class Alternating : public torch::nn::Module, public ops::HostFlag {
 public:
  bool host_flag() const override { return flag_; }
  void set_host_flag(bool flag) override { flag_ = flag; }
  at::Tensor forward(const at::Tensor& x) { return std::exchange(flag_, !flag_) ? x * 2 : x; }

 private:
  bool flag_ = false;
};

TEST(ReplayedRuns, ARecordingThatFailsLeavesTheHostFlags) {
  const auto run = [](std::unique_ptr<StepExecutor> executor) {
    const auto part = std::make_shared<Alternating>();
    ToyHooks hooks;
    hooks.loss = [=](const at::Tensor& loss) { return part->forward(loss); };
    // The size of a gradient changes the step.
    ReplayedToy toy({"train.accumulate=1", "train.clip_norm=0", "optimizer.kind=sgd"}, std::move(executor), hooks,
                    part);
    toy.steps(12);
    return toy.settled();
  };
  const Checkpoint expected = run(make_direct_executor());
  const auto in_update = [](size_t, const std::string& name) { return name == "aten::_fused_sgd_"; };
  expect_same_state(expected, run(std::make_unique<RecordingExecutor>(in_update)));
  expect_same_state(expected, run(std::make_unique<ReplayExecutor>()));
}

TEST(ReplayedRuns, StepsThatMeetTheBoundOfRecordingsRunDirectly) {
  const std::vector<std::string> settings{"train.epochs=6"};  // three kinds of micro-batches
  ReplayedToy direct(settings, make_direct_executor());
  direct.steps(24);
  const Checkpoint expected = direct.settled();
  for (const size_t max : {1, 2, 3}) {
    ReplayedToy toy(settings, std::make_unique<RecordingExecutor>(nullptr, max));
    toy.steps(24);
    expect_same_state(expected, toy.settled());
    EXPECT_EQ(toy.live.take_step_notes().size(), 3 - max);
  }
}

}  // namespace
}  // namespace cachet::train
