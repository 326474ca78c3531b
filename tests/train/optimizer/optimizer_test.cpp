#include "cachet/train/optimizer/optimizer.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "cachet/train/optimizer/weight_average.h"
#include "cachet/train/step/gradients.h"
#include "cachet/train/step/host_copy.h"

namespace cachet::train {
namespace {

class GroupedModel : public torch::nn::Module {
 public:
  GroupedModel() {
    register_parameter("weight", at::full({2, 2}, 1.0));
    register_parameter("bias", at::full({2}, 1.0));
    register_parameter("share", at::full({1, 2, 1}, 1.0));
    register_parameter("pos_embed", at::full({1, 3, 2}, 1.0));
    register_parameter("cls_token", at::full({1, 1, 2}, 1.0));
    register_parameter("frozen", at::full({2, 2}, 1.0), /*requires_grad=*/false);
    register_buffer("count", at::full({}, 3.0));
  }
  at::Tensor at_name(const std::string& name) { return named_parameters()[name]; }
};

void set_gradients(GroupedModel& model, double value) {
  for (at::Tensor& parameter : model.parameters()) {
    if (parameter.requires_grad()) parameter.mutable_grad() = at::full(parameter.sizes(), value);
  }
}

double first_of(const at::Tensor& tensor) { return tensor.flatten()[0].item<double>(); }

TEST(ParameterGroups, SparesWhatTakesNoDecay) {
  const GroupedModel model;
  const auto names = [](const std::vector<NamedParameter>& group) {
    std::vector<std::string> list;
    for (const NamedParameter& parameter : group) list.push_back(parameter.name);
    return list;
  };
  ParameterGroups groups = parameter_groups(model, {"share", "pos_*"});
  EXPECT_EQ(names(groups.decayed), (std::vector<std::string>{"weight", "cls_token"}));
  EXPECT_EQ(names(groups.undecayed), (std::vector<std::string>{"bias", "share", "pos_embed"}));
  EXPECT_EQ(groups.summary(), "decay: 2 tensors, 6 values; no decay: 3 tensors, 10 values");
  groups = parameter_groups(model, {"cls_token", "embed", "sha"});
  EXPECT_EQ(names(groups.decayed), (std::vector<std::string>{"weight", "share", "pos_embed"}))
      << "a component is whole";
  groups = parameter_groups(model);
  EXPECT_EQ(names(groups.undecayed), (std::vector<std::string>{"bias"}));
}

TEST(ParameterGroups, ABackboneLearnsAtAShareOfTheRate) {
  OptimizerOptions options;
  options.kind = OptimizerOptions::Kind::sgd;
  options.momentum = options.weight_decay = 0;
  GroupedModel model;
  const auto head = model.register_module("head", std::make_shared<GroupedModel>());
  ParameterGroups groups = parameter_groups(model);
  EXPECT_THROW(groups.slow_backbone(0.01, {"tail", "hea"}), std::invalid_argument);
  groups = parameter_groups(model);
  groups.slow_backbone(0.01, {"tail", "head"});
  const auto optimizer = make_optimizer(options, std::move(groups));
  set_gradients(model, 1);
  optimizer->step({0.5});
  for (const char* name : {"weight", "bias", "cls_token"}) {
    EXPECT_NEAR(first_of(model.at_name(name)), 1 - 0.005, 1e-7) << name;
    EXPECT_NEAR(first_of(head->at_name(name)), 1 - 0.5, 1e-7) << name;
  }
}

TEST(ParameterGroups, ABackboneOfRateZeroIsFrozen) {
  GroupedModel model;
  const auto head = model.register_module("head", std::make_shared<GroupedModel>());
  ParameterGroups groups = parameter_groups(model);
  groups.slow_backbone(0, {"head"});
  for (const std::vector<NamedParameter>* group : {&groups.decayed, &groups.undecayed})
    for (const NamedParameter& parameter : *group) {
      EXPECT_TRUE(parameter.name.starts_with("head.")) << parameter.name;
      EXPECT_TRUE(parameter.tensor.requires_grad()) << parameter.name;
    }
  EXPECT_EQ(groups.decayed.size() + groups.undecayed.size(), groups.frozen.size());
  EXPECT_FALSE(model.at_name("weight").requires_grad());
  EXPECT_TRUE(groups.summary().ends_with("; frozen: 5 tensors, 16 values")) << groups.summary();
  at::Tensor loss = at::zeros({});
  for (const at::Tensor& parameter : model.parameters()) loss = loss + parameter.sum();
  loss.backward();
  EXPECT_FALSE(model.at_name("weight").grad().defined());
  EXPECT_TRUE(head->at_name("weight").grad().defined());
}

TEST(AdamW, FollowsItsEquations) {
  GroupedModel model;
  OptimizerOptions options;
  options.weight_decay = 0.1;
  const auto optimizer = make_optimizer(options, parameter_groups(model));
  double decayed = 1, undecayed = 1, m = 0, v = 0;
  for (int step = 1; step <= 3; ++step) {
    const double gradient = 0.5 * step, rate = 0.01 * step;
    set_gradients(model, gradient);
    optimizer->step({rate});
    m = 0.9 * m + 0.1 * gradient;
    v = 0.999 * v + 0.001 * gradient * gradient;
    const double update = rate * (m / (1 - std::pow(0.9, step))) / (std::sqrt(v / (1 - std::pow(0.999, step))) + 1e-8);
    decayed = decayed * (1 - rate * 0.1) - update;
    undecayed -= update;
  }
  EXPECT_NEAR(first_of(model.at_name("weight")), decayed, 1e-6);
  EXPECT_NEAR(first_of(model.at_name("bias")), undecayed, 1e-6);
  EXPECT_EQ(first_of(model.at_name("frozen")), 1);
}

TEST(Sgd, FollowsItsEquations) {
  for (const bool nesterov : {false, true}) {
    GroupedModel model;
    OptimizerOptions options;
    options.kind = OptimizerOptions::Kind::sgd;
    options.weight_decay = 0;
    options.nesterov = nesterov;
    const auto optimizer = make_optimizer(options, parameter_groups(model));
    double value = 1, momentum = 0;
    for (int step = 1; step <= 3; ++step) {
      set_gradients(model, step);
      optimizer->step({0.1});
      momentum = 0.9 * momentum + step;
      value -= 0.1 * (nesterov ? step + 0.9 * momentum : momentum);
    }
    EXPECT_NEAR(first_of(model.at_name("weight")), value, 1e-5);
  }
}

// A schedule that moves the momentum replaces AdamW's first beta and SGD's momentum, as PyTorch's does in param_groups.
TEST(Optimizer, TakesTheMomentumOfTheStep) {
  for (const auto kind : {OptimizerOptions::Kind::adamw, OptimizerOptions::Kind::sgd}) {
    GroupedModel model;
    OptimizerOptions options;
    options.kind = kind;
    options.weight_decay = 0;
    const auto optimizer = make_optimizer(options, parameter_groups(model));
    double value = 1, m = 0, v = 0;
    for (int step = 1; step <= 3; ++step) {
      const double gradient = step, momentum = 1 - 0.1 * step;
      set_gradients(model, gradient);
      optimizer->step({0.1, momentum});
      if (kind == OptimizerOptions::Kind::sgd) {
        m = momentum * m + gradient;
        value -= 0.1 * m;
      } else {
        m = momentum * m + (1 - momentum) * gradient;
        v = 0.999 * v + 0.001 * gradient * gradient;
        value -=
            0.1 * (m / (1 - std::pow(momentum, step))) / (std::sqrt(v / (1 - std::pow(0.999, step))) + options.epsilon);
      }
    }
    EXPECT_NEAR(first_of(model.at_name("weight")), value, 1e-5);
  }
}

TEST(Optimizer, GoesOnFromItsState) {
  for (const auto kind : {OptimizerOptions::Kind::adamw, OptimizerOptions::Kind::sgd}) {
    OptimizerOptions options;
    options.kind = kind;
    GroupedModel whole, cut;
    const auto straight = make_optimizer(options, parameter_groups(whole));
    const auto before = make_optimizer(options, parameter_groups(cut));
    set_gradients(whole, 0.3);
    set_gradients(cut, 0.3);
    straight->step({0.1});
    before->step({0.1});
    const auto after = make_optimizer(options, parameter_groups(cut));
    after->load_state(before->state());
    set_gradients(whole, -0.7);
    set_gradients(cut, -0.7);
    straight->step({0.1});
    after->step({0.1});
    EXPECT_TRUE(whole.at_name("weight").equal(cut.at_name("weight")));
    EXPECT_FALSE(straight->state().empty());

    io::TensorMap state = before->state();
    state.emplace("other.exp_avg", at::ones({1}));
    EXPECT_THROW(after->load_state(state), std::runtime_error);
    state = before->state();
    state.begin()->second = at::ones({9, 9});
    EXPECT_THROW(after->load_state(state), std::runtime_error);
  }
}

TEST(Optimizer, PassesOverParametersWithoutAGradient) {
  GroupedModel model;
  const auto optimizer = make_optimizer({}, parameter_groups(model));
  model.at_name("bias").mutable_grad() = at::ones({2});
  optimizer->step({0.1});
  EXPECT_EQ(first_of(model.at_name("weight")), 1);
  EXPECT_NE(first_of(model.at_name("bias")), 1);
  EXPECT_EQ(optimizer->state().size(), 3U);
}

TEST(Gradients, AreMeasuredAndClippedTogether) {
  GroupedModel model;
  set_gradients(model, 2);  // 4 + 2 + 2 + 6 + 2 = 16 values
  const ParameterGroups groups = parameter_groups(model);
  std::vector<NamedParameter> all = groups.decayed;
  all.insert(all.end(), groups.undecayed.begin(), groups.undecayed.end());
  const auto norm = [&] { return norm_of_norms(copy_to_host({gradient_norms(all)})); };
  EXPECT_NEAR(norm(), 8, 1e-6);
  clip_gradients(all, 8, 10);
  EXPECT_NEAR(norm(), 8, 1e-6);
  clip_gradients(all, 8, 1);
  EXPECT_NEAR(norm(), 1, 1e-6);
  EXPECT_FALSE(first_non_finite_gradient(all));
  model.at_name("share").mutable_grad().fill_(std::numeric_limits<double>::infinity());
  EXPECT_EQ(first_non_finite_gradient(all), "share");
  EXPECT_FALSE(std::isfinite(norm()));
}

TEST(Gradients, TheFirstTensorThatIsNotFiniteIsFoundAmongAllTypes) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor good = at::ones({2}), counter = at::ones({}, at::kLong), wide = at::full({2}, 1e300, at::kDouble);
  EXPECT_EQ(first_non_finite({}), std::nullopt);
  EXPECT_EQ(first_non_finite({counter, good, wide}), std::nullopt);
  EXPECT_EQ(first_non_finite({counter, good, at::full({2}, nan, at::kBFloat16), at::full({2}, nan)}), 2U);
}

TEST(Numbers, AreReadTogetherInTheirOrder) {
  EXPECT_TRUE(copy_to_host({}).empty());
  const int64_t large = (int64_t{1} << 40) + 1;  // no float32 holds it
  EXPECT_EQ(copy_to_host({at::full({}, 0.5), at::full({2}, large, at::kLong), at::full({}, 0.1, at::kDouble)}),
            (std::vector<double>{0.5, static_cast<double>(large), static_cast<double>(large), 0.1}));
  EXPECT_EQ(copy_to_host({at::ones({2}, at::TensorOptions(at::kMeta)), at::ones({})}), (std::vector<double>{0, 0, 0}));
}

/// One weight under two names, as an embedding and the head that scores with it have it.
struct TiedModel : torch::nn::Module {
  TiedModel() {
    weight = register_parameter("embedding", at::full({2, 2}, 1.0));
    head = register_module("head", std::make_shared<torch::nn::Module>("head"));
    head->register_parameter("weight", weight);
  }
  std::shared_ptr<torch::nn::Module> head;
  at::Tensor weight;
};

TEST(SharedWeights, AreCountedSteppedDecayedAveragedAndSavedOnce) {
  OptimizerOptions options;
  options.kind = OptimizerOptions::Kind::sgd;
  options.weight_decay = 0.5;
  options.momentum = 0.9;
  TiedModel model;
  ParameterGroups groups = parameter_groups(model);
  EXPECT_EQ(groups.summary(), "decay: 1 tensors, 4 values; no decay: 0 tensors, 0 values");
  const auto optimizer = make_optimizer(options, groups);
  WeightAverage average(model, {0.75});
  model.weight.mutable_grad() = at::full({2, 2}, 1.0);
  EXPECT_NEAR(norm_of_norms(copy_to_host({gradient_norms(groups.decayed)})), 2, 1e-12);
  optimizer->step({0.1});
  const double stepped = 1 - 0.1 * (1 + 0.5 * 1);
  EXPECT_NEAR(first_of(model.weight), stepped, 1e-7);
  average.update(1);
  {
    const WeightAverage::Applied applied(average);
    EXPECT_NEAR(first_of(model.weight), 0.75 + 0.25 * stepped, 1e-7);
  }
  EXPECT_NEAR(first_of(model.weight), stepped, 1e-7);
  EXPECT_EQ(optimizer->state().size(), 1U);
  EXPECT_EQ(average.state().size(), 1U);
  average.load_state({{"head.weight", at::full({2, 2}, 7.0)}});  // a file that has it by its other name
  EXPECT_EQ(first_of(average.state().at("embedding")), 7);
  average.load_state({{"head.weight", at::full({2, 2}, 8.0)}, {"embedding", at::full({2, 2}, 8.0)}});
  EXPECT_EQ(first_of(average.state().at("embedding")), 8);
}

TEST(WeightAverage, AveragesParametersAndCopiesState) {
  GroupedModel model;
  WeightAverage average(model, {0.75});
  const at::NoGradGuard no_grad;
  model.at_name("weight").fill_(5);
  model.named_buffers()["count"].fill_(9);
  average.update(1);
  {
    const WeightAverage::Applied applied(average);
    EXPECT_EQ(first_of(model.at_name("weight")), 0.75 * 1 + 0.25 * 5);
    EXPECT_EQ(first_of(model.named_buffers()["count"]), 9);
  }
  EXPECT_EQ(first_of(model.at_name("weight")), 5);
  const io::TensorMap state = average.state();
  EXPECT_EQ(first_of(state.at("weight")), 2);
  EXPECT_EQ(first_of(state.at("count")), 9);
  WeightAverage other(model, {0.75});
  other.load_state(state);
  EXPECT_EQ(first_of(other.state().at("weight")), 2);
  EXPECT_THROW(other.load_state({}), std::runtime_error);
}

// timm 1.0's ModelEmaV3(decay=0.9, use_warmup=True).get_decay(step) for the steps 1 to 5 and 1,000.
TEST(WeightAverage, WarmsUpAsTimmDoes) {
  const AverageOptions options{.decay = 0.9, .warmup = true};
  const std::vector<double> decays{0, 0.3700394750525634, 0.5192501432308638, 0.6031497370079502, 0.6580048106646605};
  for (size_t i = 0; i < decays.size(); ++i)
    EXPECT_NEAR(options.decay_of(static_cast<int64_t>(i + 1)), decays[i], 1e-13);
  EXPECT_EQ(options.decay_of(1000), 0.9);
  EXPECT_EQ(AverageOptions{.decay = 0.9}.decay_of(1), 0.9) << "without a warm-up as ModelEma and ModelEmaV2";
  GroupedModel model;
  WeightAverage average(model, options);
  const at::NoGradGuard no_grad;
  model.at_name("weight").fill_(4);
  average.update(1);
  EXPECT_EQ(first_of(average.state().at("weight")), 4) << "nothing of the start is left";
  model.at_name("weight").fill_(8);
  average.update(2);
  EXPECT_NEAR(first_of(average.state().at("weight")), 8 - 4 * decays[1], 1e-6);
}

TEST(WeightAverage, SaysThatItsDecayIsTooSlow) {
  const std::string note = slow_decay_note({.decay = 0.9999}, 200).value_or("");
  EXPECT_EQ(note,
            "train.ema_decay = 0.9999 is too slow for 200 steps: 98 % of the averaged weights will still be the "
            "initial weights; set train.ema_warmup = true, or lower train.ema_decay to at most 0.97724");
  EXPECT_FALSE(slow_decay_note({.decay = 0.9999, .warmup = true}, 200));
  EXPECT_FALSE(slow_decay_note({.decay = 0.9999}, 100'000));
  EXPECT_FALSE(slow_decay_note({.decay = 0.977}, 200));
  EXPECT_FALSE(slow_decay_note({}, 1));
}

TEST(WeightAverage, HasStatesOfItsOwnUntilTheNextUpdate) {
  GroupedModel model;
  WeightAverage average(model, {0.75});
  const at::NoGradGuard no_grad;
  at::Tensor count = model.named_buffers()["count"];
  model.at_name("weight").fill_(5);
  count.fill_(9);
  average.update(1);
  const auto passes = [&] { count.fill_(first_of(model.at_name("weight"))); };
  EXPECT_TRUE(average.recalibrate(passes));
  EXPECT_FALSE(average.recalibrate(passes)) << "they are the same";
  EXPECT_EQ(first_of(model.at_name("weight")), 5);
  EXPECT_EQ(first_of(count), 9) << "the model has its own";
  EXPECT_EQ(first_of(average.state().at("count")), 2) << "made by the averaged weights";
  {
    const WeightAverage::Applied applied(average);
    EXPECT_EQ(first_of(count), 2);
  }
  EXPECT_EQ(first_of(count), 9);
  WeightAverage resumed(model, {0.75});
  resumed.load_state(average.state());
  EXPECT_EQ(first_of(resumed.state().at("count")), 2);
  EXPECT_FALSE(resumed.recalibrate(passes));
  resumed.update(2);
  EXPECT_EQ(first_of(resumed.state().at("count")), 9) << "the average has moved on";
}

}  // namespace
}  // namespace cachet::train
