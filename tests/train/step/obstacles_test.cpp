// Obstacles to replaying a step, each put back in a toy run: the executors of the tests find it.
#include <ATen/ops/full.h>
#include <ATen/ops/index.h>
#include <ATen/ops/masked_select.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cachet/train/step/device_step.h"
#include "cachet/train/step/training_step.h"
#include "tests/support/recorded_steps.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

using test::ToyHooks;

/// The rates of a step, on the host.
using HostRates = std::function<UpdateRates(int64_t step)>;

UpdateRates rates_of(int64_t step) { return {.learning_rate = 0.01 * static_cast<double>(step + 1)}; }

/// An optimizer that does something else in each step on the device.
class ChangedOptimizer : public Optimizer {
 public:
  using Step = std::function<void(Optimizer& optimizer, const DeviceRates& rates)>;
  ChangedOptimizer(Optimizer& optimizer, Step step) : optimizer_(optimizer), step_(std::move(step)) {}

  void step(const UpdateRates& rates) override { optimizer_.step(rates); }
  void step(const DeviceRates& rates) override { step_(optimizer_, rates); }
  int64_t groups() const override { return optimizer_.groups(); }
  std::vector<double> group_rates(const UpdateRates& rates) const override { return optimizer_.group_rates(rates); }
  bool keeps_state() const override { return optimizer_.keeps_state(); }
  io::TensorMap state() const override { return optimizer_.state(); }
  void load_state(const io::TensorMap& state) override { optimizer_.load_state(state); }

 private:
  Optimizer& optimizer_;
  Step step_;
};

/// Parameters, gradients and the optimizer's state, by name.
std::map<std::string, at::Tensor> tensors_of(const std::vector<NamedParameter>& parameters,
                                             const Optimizer& optimizer) {
  std::map<std::string, at::Tensor> tensors;
  for (const NamedParameter& parameter : parameters) {
    tensors.emplace(parameter.name, parameter.tensor);
    tensors.emplace("the gradient of " + parameter.name, parameter.tensor.grad());
  }
  for (const auto& [name, tensor] : optimizer.state()) tensors.emplace("the optimizer's " + name, tensor);
  return tensors;
}

/// Takes six steps and returns what the executor finds in them, or which tensor has a new address after the second
/// step.
std::string found(const ToyHooks& hooks, const ChangedOptimizer::Step& step_of_optimizer = nullptr,
                  const HostRates& rates = rates_of) {
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  const Options options = test::read_toy(document);
  prepare_process(options.train);
  test::ToyTask task(0, hooks);
  TrainingStep training(task, options);
  std::optional<ChangedOptimizer> changed;
  if (step_of_optimizer) changed.emplace(training.optimizer(), step_of_optimizer);
  Optimizer& optimizer = changed ? *changed : training.optimizer();
  auto executor = std::make_unique<test::SameCallsExecutor>();
  const auto differences = executor->differences();
  const auto compared = executor->compared();
  DeviceStep step(task, options.train, training.parameters(), optimizer, nullptr, std::move(executor));
  task.model().train();
  const auto batches = task.training_batches(0, 0);
  std::map<std::string, at::Tensor>
      earlier;  // of the second step; they stay, so that no other tensor gets their address
  try {
    for (int64_t i = 0; i < 6; ++i) {
      step.run(*batches, 1, rates(i), 0);
      std::map<std::string, at::Tensor> now = tensors_of(training.parameters(), optimizer);
      if (i == 1) earlier = std::move(now);
      if (i < 2) continue;
      for (const auto& [name, tensor] : now)
        if (tensor.data_ptr() != earlier.at(name).data_ptr()) return name + " has another address";
    }
    step.settle();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  EXPECT_EQ(*compared, 3);
  return differences->empty() ? "" : differences->front();
}

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << text << "\" lacks \"" << part << "\"";
}

TEST(Obstacles, AStepWithoutAnObstacleHasNoFault) { EXPECT_EQ(found({}), ""); }

TEST(Obstacles, AReadOnTheHostIsFound) {
  ToyHooks hooks;
  hooks.loss = [](const at::Tensor& loss) { return loss * loss.item<float>(); };
  EXPECT_TRUE(has(found(hooks), "aten::_local_scalar_dense reads a value on the host"));
}

TEST(Obstacles, ADivisorOnTheHostIsFound) {
  ToyHooks hooks;
  hooks.loss = [divisor = 1.0](const at::Tensor& loss) mutable { return loss * (divisor += 1); };
  EXPECT_TRUE(has(found(hooks), "was aten::mul."));
}

TEST(Obstacles, AnUploadIsFound) {
  ToyHooks hooks;
  hooks.loss = [](const at::Tensor& loss) { return loss * at::tensor({2.0F, 3.0F}).mean(); };
  EXPECT_TRUE(has(found(hooks), "reads a new tensor whose values the host wrote"));
}

TEST(Obstacles, AShapeThatDependsOnValuesIsFound) {
  ToyHooks selecting, indexing;
  selecting.penalty = [](const test::ToyModel& model) {
    return at::masked_select(model.filter_, model.filter_ > 0).sum();
  };
  indexing.penalty = [](const test::ToyModel& model) {
    return at::index(model.filter_, {std::optional<at::Tensor>(model.filter_ > 0)}).sum();
  };
  EXPECT_TRUE(has(found(selecting), "aten::masked_select reads a value on the host"));
  EXPECT_TRUE(has(found(indexing), "aten::index with a mask reads a value on the host"));
}

// As a memoized table that another input size replaces, or the memory of a language model.
TEST(Obstacles, ATensorThatIsReplacedIsFound) {
  ToyHooks hooks;
  const auto table = std::make_shared<at::Tensor>();
  hooks.spoil = [=](at::Tensor&, test::ToyModel&) { *table = at::ones({1}); };
  hooks.loss = [=](const at::Tensor& loss) { return loss * table->sum(); };
  EXPECT_TRUE(has(found(hooks), "was aten::sum"));
}

TEST(Obstacles, ATableThatIsMadeAgainIsFound) {
  ToyHooks hooks;
  const auto table = std::make_shared<at::Tensor>();
  hooks.spoil = [=, batch = 0](at::Tensor&, test::ToyModel&) mutable {
    if (++batch % 2 == 0) table->reset();  // an evaluation of another size
  };
  hooks.loss = [=](const at::Tensor& loss) {
    if (!table->defined()) *table = at::ones({1});
    return loss * table->sum();
  };
  EXPECT_TRUE(has(found(hooks), "and is now"));
}

// FixedGradients copies the new gradient to the address of the old one.
TEST(Obstacles, AGradientThatIsResetKeepsItsAddress) {
  ToyHooks hooks;
  std::vector<at::Tensor> before;  // otherwise, the next gradient could get the same memory
  hooks.penalty = [&](const test::ToyModel& model) {
    before.push_back(std::exchange(model.filter_.mutable_grad(), at::Tensor()));
    return at::Tensor();
  };
  EXPECT_EQ(found(hooks), "");
  EXPECT_EQ(before.size(), 6U);
}

TEST(Obstacles, ALearningRateOnTheHostIsFound) {
  const auto on_host = [step = int64_t{0}](Optimizer& optimizer, const DeviceRates&) mutable {
    optimizer.step(rates_of(step++));
  };
  EXPECT_TRUE(has(found({}, on_host), "was aten::_fused_adamw_("));
}

TEST(Obstacles, AMomentumThatChangesIsFound) {
  const auto changing = [](int64_t step) {
    return UpdateRates{.learning_rate = 0.01, .momentum = 0.8 + 0.01 * static_cast<double>(step)};
  };
  EXPECT_TRUE(has(found({}, nullptr, changing), "was aten::_fused_adamw_"));
}

TEST(Obstacles, AnOptimizerStateThatIsMadeInEachStepIsFound) {
  const auto made_again = [](Optimizer& optimizer, const DeviceRates& rates) {
    optimizer.load_state({});
    optimizer.step(rates);
  };
  EXPECT_EQ(found({}, made_again), "the optimizer's filter.exp_avg has another address");
}

}  // namespace
}  // namespace cachet::train
