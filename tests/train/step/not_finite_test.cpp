// NaN and infinity, put anywhere in a run at any moment: it stops before they reach an update or a file.
#include <ATen/ops/full_like.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cachet/train/step/gradients.h"
#include "tests/support/robustness.h"
#include "tests/support/step_executors.h"
#include "tests/support/temporary_directory.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;
using test::ToyHooks;
using test::train_toy;

enum class Place { data, weights, loss, gradient };

constexpr int64_t kBatches = 21, kBatchesPerEpoch = 7, kStepsPerEpoch = 4, kAccumulate = 2;  // of the toy run

struct Injection {
  Place place = Place::data;
  float value = 0;
  int64_t batch = 0;  // counted from the run's start

  int64_t step() const {
    return batch / kBatchesPerEpoch * kStepsPerEpoch + batch % kBatchesPerEpoch / kAccumulate + 1;
  }
};

/// Hooks that put it there.
ToyHooks injecting(const Injection& injection) {
  ToyHooks hooks;
  const auto now = std::make_shared<int64_t>(-1);
  hooks.spoil = [=](at::Tensor& images, test::ToyModel& model) {
    if (++*now != injection.batch) return;
    const at::NoGradGuard no_grad;
    if (injection.place == Place::data) images.fill_(injection.value);
    if (injection.place == Place::weights) model.weight_.fill_(injection.value);
  };
  hooks.loss = [=](const at::Tensor& loss) -> at::Tensor {
    if (*now != injection.batch) return loss;
    if (injection.place == Place::loss) return loss * injection.value;
    if (injection.place != Place::gradient) return loss;
    loss.register_hook([=](const at::Tensor& gradient) { return at::full_like(gradient, injection.value); });
    return loss * 1;
  };
  return hooks;
}

/// `late`: the numbers of a step are read after the next step has begun.
void expect_stopped_in_time(const Injection& injection, bool late) {
  const TemporaryDirectory folder;
  std::unique_ptr<StepExecutor> executor;
  if (late) executor = std::make_unique<test::LateExecutor>();
  // Without a checkpoint at every step, a late step is read when the next one is under way.
  const std::string every = late ? "2 steps" : "1 step";
  const Outcome outcome = train_toy(folder / "run", injecting(injection), {"train.checkpoint_every=\"" + every + "\""},
                                    io::FileSystem::real(), std::move(executor));
  SCOPED_TRACE(outcome.message);
  EXPECT_EQ(outcome.ending, StopReason::not_finite);
  EXPECT_EQ(outcome.exit_code(), 1);
  EXPECT_NE(outcome.message.find("step " + std::to_string(injection.step()) + " "), std::string::npos);
  const bool in_gradient = injection.place == Place::gradient;
  EXPECT_NE(outcome.message.find(in_gradient ? "the gradient of " : "the loss"), std::string::npos);
  const char* spoilt = injection.place == Place::weights ? "head_weight" : "memory";  // of the model
  // A late step has restored its states before its numbers are read.
  const bool in_model = injection.place == Place::weights || (injection.place == Place::data && !late);
  EXPECT_EQ(
      outcome.message.find("; " + std::string(spoilt) + " of the model holds a number that is") != std::string::npos,
      in_model);
  const int64_t good = injection.step() - 1, saved = late ? good / 2 * 2 : good;
  if (saved == 0) return;  // there was nothing to save yet
  const Checkpoint checkpoint = test::last_checkpoint(folder / "run");
  EXPECT_EQ(checkpoint.state.step, saved);
  for (const auto* tensors : {&checkpoint.model, &checkpoint.optimizer, &checkpoint.ema})
    for (const auto& [name, tensor] : *tensors) EXPECT_FALSE(first_non_finite({tensor})) << name;
  EXPECT_NE(outcome.message.find("step-0"), std::string::npos) << "the last good checkpoint is not named";
}

TEST(NotFiniteRobustness, StopsBeforeItReachesAnUpdateOrAFile) {
  std::vector<Injection> all;
  for (const Place place : {Place::data, Place::weights, Place::loss, Place::gradient})
    for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
      for (int64_t batch = 0; batch < kBatches; ++batch) all.push_back({place, value, batch});
  const auto size = static_cast<int>(all.size());
  const int cases = test::robustness_cases(size, /*share=*/0.3, /*least=*/50);
  for (int i = 0; i < cases; ++i) {
    const Injection& injection = all[static_cast<size_t>(i) * all.size() / cases];
    SCOPED_TRACE("place " + std::to_string(static_cast<int>(injection.place)) + ", value " +
                 std::to_string(injection.value) + ", batch " + std::to_string(injection.batch));
    expect_stopped_in_time(injection, /*late=*/i % 2 == 1);
  }
  RecordProperty("injections", cases);
}

TEST(NotFinite, NamesAStateThatFloat32CannotSquare) {
  const TemporaryDirectory folder;
  ToyHooks hooks;
  hooks.spoil = [](at::Tensor&, test::ToyModel& model) {
    const at::NoGradGuard no_grad;
    model.memory_.fill_(3e38);
  };
  const Outcome outcome = train_toy(folder / "run", hooks);
  EXPECT_EQ(outcome.ending, StopReason::not_finite);
  EXPECT_NE(outcome.message.find("; memory of the model holds numbers up to 2.7e+38"), std::string::npos)
      << outcome.message;
}

TEST(NotFinite, SavesNoWeightsThatOverflowInTheUpdate) {
  const TemporaryDirectory folder;
  // The rate overflows the weights in an update whose loss and gradient were finite.
  const Outcome outcome = train_toy(folder / "run", {},
                                    {"optimizer.lr=1e38", "optimizer.weight_decay=1e38", "schedule.warmup=\"0 steps\"",
                                     "train.checkpoint_every=\"1 step\"", "train.epochs=1"});
  EXPECT_EQ(outcome.ending, StopReason::not_finite) << outcome.message;
  EXPECT_FALSE(fs::exists(folder / "run" / "checkpoints" / "last"));
}

}  // namespace
}  // namespace cachet::train
