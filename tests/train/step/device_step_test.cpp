// Steps that read nothing from the device until the next step: equal to TrainingStep, and equal to their own replays.
#include "cachet/train/step/device_step.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cachet/io/tensors/state_dict.h"
#include "cachet/train/step/live_run.h"
#include "tests/support/step_executors.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

using test::LateExecutor;
using test::ReplayExecutor;
using test::TemporaryDirectory;
using test::ToyHooks;

Options toy_options(const std::vector<std::string>& settings) {
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  for (const std::string& setting : settings) document.set(setting);
  const Options options = test::read_toy(document);
  prepare_process(options.train);
  return options;
}

/// A toy run in memory, with the numbers of its steps.
struct Toy {
  explicit Toy(const std::vector<std::string>& settings, std::unique_ptr<StepExecutor> executor = nullptr,
               ToyHooks hooks = {})
      : options(toy_options(settings)), task(0, std::move(hooks)), live(task, options, nullptr, std::move(executor)) {}

  void steps(int64_t count) {
    for (int64_t i = 0; i < count; ++i) add(live.advance());
  }
  void settle() { add(live.settle()); }
  void add(const StepSummary& summary) {
    if (summary.read_steps == 0) return;
    losses.push_back(means(summary.sums).find("loss").value());
    norms.push_back(summary.gradient_norm);
  }

  Options options;
  test::ToyTask task;
  LiveRun live;
  std::vector<double> losses, norms;
};

void expect_equal(const io::TensorMap& a, const io::TensorMap& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (const auto& [name, tensor] : a) EXPECT_TRUE(tensor.equal(b.at(name))) << what << " " << name;
}

/// What a run leaves. The random generator is that of the whole process, so a run ends before the next one begins.
struct Ended {
  explicit Ended(Toy& toy) : losses(toy.losses), norms(toy.norms), checkpoint(toy.live.capture()) {}

  std::vector<double> losses, norms;
  Checkpoint checkpoint;
};

Ended ended(Toy& toy) {
  toy.settle();
  return Ended(toy);
}

void expect_equal(const Ended& a, const Ended& b) {
  expect_equal(a.checkpoint.model, b.checkpoint.model, "model");
  expect_equal(a.checkpoint.optimizer, b.checkpoint.optimizer, "optimizer");
  expect_equal(a.checkpoint.ema, b.checkpoint.ema, "average");
  expect_equal(a.checkpoint.random, b.checkpoint.random, "generator");
  EXPECT_EQ(a.losses, b.losses);
  ASSERT_EQ(a.norms.size(), b.norms.size());
  for (size_t i = 0; i < a.norms.size(); ++i) EXPECT_DOUBLE_EQ(a.norms[i], b.norms[i]) << i;
}

/// Settings of runs that differ in their device work.
const std::vector<std::vector<std::string>>& all_settings() {
  static const std::vector<std::vector<std::string>> all{
      {},
      {"train.accumulate=1"},
      {"train.accumulate=3", "train.clip_norm=0", "train.ema_decay=0"},
      {"optimizer.kind=sgd", "optimizer.lr=0.05"},
      {"optimizer.kind=sgd", "optimizer.momentum=0", "train.accumulate=1"},
      {"train.clip_norm=1e-3", "train.ema_warmup=true"},
      {"optimizer.weight_decay=0.3", "schedule.warmup=\"9 steps\""}};
  return all;
}

TEST(DeviceStep, EqualsTrainingStep) {
  for (const std::vector<std::string>& settings : all_settings()) {
    SCOPED_TRACE(settings.empty() ? "" : settings.front());
    std::vector<std::string> longer = settings;
    longer.push_back("train.epochs=15");
    Toy plain(longer);
    const int64_t steps = std::min<int64_t>(50, plain.live.total_steps());
    plain.steps(steps);
    const Ended expected = ended(plain);
    Toy late(longer, std::make_unique<LateExecutor>());
    late.steps(steps);
    expect_equal(expected, ended(late));
    EXPECT_EQ(std::ssize(expected.losses), steps);
  }
}

TEST(DeviceStep, ReplaysEqualTheStepsBitForBit) {
  for (const std::vector<std::string>& settings : all_settings()) {
    SCOPED_TRACE(settings.empty() ? "" : settings.front());
    std::vector<std::string> longer = settings;
    longer.push_back("train.epochs=15");
    Toy direct(longer, make_direct_executor());
    const int64_t steps = std::min<int64_t>(50, direct.live.total_steps());
    direct.steps(steps);
    const Ended expected = ended(direct);
    auto executor = std::make_unique<ReplayExecutor>();
    const ReplayExecutor& replays = *executor;
    Toy replayed(longer, std::move(executor));
    replayed.steps(steps);
    expect_equal(expected, ended(replayed));
    EXPECT_GT(replays.replays(), steps / 2);
  }
}

TEST(DeviceStep, ReadsTheNumbersOfAStepAfterTheNextWasLaunched) {
  auto executor = std::make_unique<LateExecutor>();
  const LateExecutor& late = *executor;
  Toy toy({"train.accumulate=1"}, std::move(executor));
  EXPECT_EQ(toy.live.advance().read_steps, 0);
  EXPECT_EQ(late.late_reads(), 0);
  EXPECT_EQ(toy.live.advance().read_steps, 1);
  EXPECT_EQ(late.late_reads(), 1);
  EXPECT_EQ(toy.live.settle().read_steps, 1);
  EXPECT_EQ(late.late_reads(), 1);  // there was no next step
  EXPECT_EQ(toy.live.settle().read_steps, 0);
}

TEST(DeviceStep, MustBeSettledBeforeACheckpointOrAnEvaluation) {
  Toy toy({}, make_direct_executor());
  toy.steps(1);
  EXPECT_THROW(toy.live.capture(), std::logic_error);
  EXPECT_THROW(toy.live.evaluate([](int64_t, int64_t) {}), std::logic_error);
  toy.settle();
  EXPECT_NO_THROW(toy.live.capture());
}

TEST(DeviceStep, ReplaysAcrossAnEvaluationAndAResume) {
  const std::vector<std::string> settings{"train.accumulate=1", "train.epochs=9"};
  Toy whole(settings, make_direct_executor());
  whole.steps(40);
  const Ended expected = ended(whole);

  Toy first(settings, std::make_unique<ReplayExecutor>());
  first.steps(17);
  first.settle();
  first.live.evaluate([](int64_t, int64_t) {});
  first.steps(6);
  first.settle();
  const Checkpoint checkpoint = first.live.capture();

  auto executor = std::make_unique<ReplayExecutor>();
  const ReplayExecutor& replays = *executor;
  Toy second(settings, std::move(executor));
  second.steps(4);  // replays that the checkpoint must not meet again
  second.settle();
  second.live.restore(checkpoint);
  second.losses = first.losses;
  second.norms = first.norms;
  second.steps(17);
  expect_equal(expected, ended(second));
  EXPECT_GT(replays.replays(), 10);
}

/// Where a number that is not finite comes from.
enum class BadNumber { loss, one_gradient, memory };

ToyHooks spoiling(BadNumber place, int64_t at_batch) {
  ToyHooks hooks;
  const auto now = std::make_shared<int64_t>(-1);
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  hooks.spoil = [=](at::Tensor& images, test::ToyModel& model) {
    if (++*now != at_batch) return;
    const at::NoGradGuard no_grad;
    if (place == BadNumber::loss) images.fill_(kNaN);
    if (place == BadNumber::memory) model.memory_.fill_(kNaN);
  };
  hooks.loss = [=](const at::Tensor& loss) -> at::Tensor {
    if (*now != at_batch || place != BadNumber::one_gradient) return loss;
    loss.register_hook([=](const at::Tensor& gradient) { return gradient * kNaN; });
    return loss * 1;
  };
  return hooks;
}

TEST(DeviceStep, AStepThatIsNotFiniteAndAllLaterStepsChangeNothing) {
  for (const BadNumber place : {BadNumber::loss, BadNumber::one_gradient, BadNumber::memory}) {
    for (const int64_t bad : {0, 1, 5}) {  // the step, from 0
      SCOPED_TRACE(std::to_string(static_cast<int>(place)) + ", step " + std::to_string(bad + 1));
      const std::vector<std::string> settings{"train.accumulate=1"};
      Toy good(settings, make_direct_executor());
      good.steps(bad);
      good.settle();
      const Checkpoint before = good.live.capture();

      Toy toy(settings, make_direct_executor(), spoiling(place, bad));
      toy.steps(bad + 1);
      const std::string message = test::thrown_message<NotFinite>([&] { toy.steps(1); });  // this step is clean
      EXPECT_NE(message.find(place == BadNumber::one_gradient ? "the gradient of " : "the loss is NaN"),
                std::string::npos)
          << message;
      EXPECT_EQ(toy.live.failed_step().step, bad + 1);
      io::TensorMap model = io::state_dict(toy.task.model());
      if (place == BadNumber::memory) {  // the test itself wrote it
        EXPECT_TRUE(model.at("memory").isnan().all().item<bool>());
        model.at("memory") = before.model.at("memory");
      }
      expect_equal(before.model, model, "model");
    }
  }
}

TEST(DeviceStep, ALastStepThatIsNotFiniteIsFoundBySettle) {
  const std::vector<std::string> settings{"train.accumulate=1"};
  Toy toy(settings, make_direct_executor(), spoiling(BadNumber::loss, 3));
  toy.steps(4);
  EXPECT_THROW(toy.live.settle(), NotFinite);
  EXPECT_EQ(toy.live.failed_step().step, 4);
}

TEST(DeviceStep, ARunOfTheTrainerHasTheSameMetrics) {
  const TemporaryDirectory folder;
  const Outcome plain = test::train_toy(folder / "plain");
  const Outcome replayed =
      test::train_toy(folder / "replayed", {}, {}, io::FileSystem::real(), std::make_unique<ReplayExecutor>());
  EXPECT_EQ(plain.metrics, replayed.metrics);
  const std::vector<Event> a = read_events(folder / "plain" / "metrics.jsonl"),
                           b = read_events(folder / "replayed" / "metrics.jsonl");
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].step, b[i].step);
    for (const auto& [name, value] : a[i].metrics) EXPECT_DOUBLE_EQ(value, b[i].metrics.find(name).value()) << name;
  }
}

TEST(FixedTensors, EqualShapesHaveOneAddressUntilThereAreTooManyShapes) {
  FixedTensors fixed(/*max_layouts=*/2);
  const auto place = [&](at::Tensor tensor) {
    at::Tensor absent;
    const auto layout = fixed.place({&tensor, &absent});
    EXPECT_FALSE(absent.defined());
    return std::pair(layout, tensor);
  };
  const at::Tensor values = at::rand({2, 3});
  const auto [first, at_first] = place(values);
  EXPECT_TRUE(at_first.equal(values));
  EXPECT_FALSE(at_first.is_same(values));
  const auto [again, at_again] = place(values + 1);
  EXPECT_EQ(again, first);
  EXPECT_TRUE(at_again.is_same(at_first));
  EXPECT_TRUE(at_first.equal(values + 1));
  const auto [integers, at_integers] = place(at::ones({2, 3}, at::kLong));
  EXPECT_NE(integers, first);
  const at::Tensor third = at::rand({5});
  const auto [none, at_third] = place(third);
  EXPECT_EQ(none, std::nullopt);
  EXPECT_TRUE(at_third.is_same(third));
  EXPECT_EQ(place(values).first, first);
}

TEST(FixedTensors, TheBytesAtTheAddressesAreLimited) {
  FixedTensors fixed(/*max_layouts=*/10, /*max_bytes=*/100);
  const auto place = [&](int64_t floats) {
    at::Tensor tensor = at::zeros({floats});
    return fixed.place({&tensor}).has_value();
  };
  EXPECT_TRUE(place(10));
  EXPECT_FALSE(place(20));
  EXPECT_TRUE(place(15));
  EXPECT_FALSE(place(1));
  EXPECT_TRUE(place(10));  // has its address
}

// What a recording must find: the faults that a CUDA graph would hide.

TEST(ReplayedCalls, RefusesAReadOnTheHost) {
  const at::Tensor x = at::ones({2});
  test::ReplayedCalls calls;
  const std::string message =
      test::thrown_message<std::runtime_error>([&] { calls.record([&] { x.mul_(x.sum().item<float>()); }); });
  EXPECT_EQ(message, "aten::_local_scalar_dense reads a value on the host");
}

TEST(ReplayedCalls, FindsATensorThatWasFreed) {
  const at::Tensor x = at::ones({2});
  at::Tensor factor = at::full({2}, 3.0);
  test::ReplayedCalls calls;
  calls.record([&] { x.mul_(factor); });
  calls.replay();
  EXPECT_EQ(x[0].item<float>(), 9);
  factor.reset();
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] { calls.replay(); }).find("freed after the recording"),
            std::string::npos);
}

TEST(ReplayedCalls, RepeatsHostNumbersAndDrawsAnew) {
  double factor = 2;
  const at::Tensor x = at::ones({1000}), drawn = at::zeros({1000});
  test::ReplayedCalls calls;
  calls.record([&] {
    x.mul_(factor);
    drawn.copy_(at::rand({1000}));
  });
  const at::Tensor first = drawn.clone();
  factor = 5;
  calls.replay();
  EXPECT_EQ(x[0].item<float>(), 4);  // not 10
  EXPECT_FALSE(drawn.equal(first));
}

}  // namespace
}  // namespace cachet::train
