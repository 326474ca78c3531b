#include "cachet/train/optimizer_options.h"

#include <array>
#include <vector>

namespace cachet::train {
namespace {

constexpr std::array<config::Choice<OptimizerOptions::Kind>, 2> kOptimizerKinds{
    {{"adamw", OptimizerOptions::Kind::adamw}, {"sgd", OptimizerOptions::Kind::sgd}}};

constexpr std::array<config::Choice<ScheduleOptions::Kind>, 7> kScheduleKinds{
    {{"cosine", ScheduleOptions::Kind::cosine},
     {"linear", ScheduleOptions::Kind::linear},
     {"constant", ScheduleOptions::Kind::constant},
     {"one_cycle", ScheduleOptions::Kind::one_cycle},
     {"inverse_sqrt", ScheduleOptions::Kind::inverse_sqrt},
     {"arena", ScheduleOptions::Kind::arena},
     {"step", ScheduleOptions::Kind::step}}};

constexpr config::Range<double> kBelowOne{.least = 0, .most = 0x1.fffffffffffffp-1};
constexpr config::Range<double> kNotNegative{.least = 0};
// A smaller one is 0 in float32, by which a gradient of 0 would be divided.
constexpr config::Range<double> kEpsilon{.least = 1e-30};
constexpr config::Range<double> kPositive{.least = 0, .least_excluded = true};

void read_adamw(const config::View& view, OptimizerOptions& options) {
  const std::vector<double> betas = view.reals("betas", {options.beta1, options.beta2}, kBelowOne);
  if (betas.size() == 2) {
    options.beta1 = betas[0];
    options.beta2 = betas[1];
  } else {
    view.problem("betas", "has " + std::to_string(betas.size()) + " numbers; AdamW takes two: [0.9, 0.999]");
  }
  options.epsilon = view.real("eps", options.epsilon, kEpsilon);
}

void read_sgd(const config::View& view, OptimizerOptions& options) {
  options.momentum = view.real("momentum", options.momentum, kBelowOne);
  options.nesterov = view.boolean("nesterov", options.nesterov);
  if (options.nesterov && options.momentum == 0) {
    view.problem("nesterov", "needs a momentum above 0; set `momentum` or leave it out");
  }
}

void read_steps(const config::View& view, ScheduleOptions& options) {
  options.milestones = read_spans(view, "milestones", options.milestones);
  options.factor = view.real("factor", options.factor, {.least = 0, .most = 1});
  options.warmup_factor = view.real("warmup_factor", options.warmup_factor, {.least = 0, .most = 1});
  if (options.milestones.empty())
    view.problem("milestones",
                 "has none: a schedule of steps says where the rate falls, as in [\"8 epochs\", \"11 epochs\"]");
  for (size_t i = 1; i < options.milestones.size(); ++i) {
    const Span &before = options.milestones[i - 1], &after = options.milestones[i];
    if (before.unit == after.unit && before.count >= after.count)
      view.problem("milestones", "\"" + after.text() + "\" does not come behind \"" + before.text() +
                                     "\"; write them in the order of time, each once");
  }
}

}  // namespace

OptimizerOptions read_optimizer_options(const config::View& view) {
  OptimizerOptions options;
  options.kind = view.choice("kind", options.kind, kOptimizerKinds);
  options.learning_rate = view.real("lr", options.learning_rate, kPositive);
  options.backbone_rate =
      view.real("backbone_rate", options.backbone_rate, {.least = 0, .most = 1, .least_excluded = true});
  options.weight_decay = view.real("weight_decay", options.weight_decay, kNotNegative);
  switch (options.kind) {
    case OptimizerOptions::Kind::adamw:
      read_adamw(view, options);
      break;
    case OptimizerOptions::Kind::sgd:
      read_sgd(view, options);
      break;
  }
  return options;
}

ScheduleOptions read_schedule_options(const config::View& view) {
  ScheduleOptions options;
  options.kind = view.choice("kind", options.kind, kScheduleKinds);
  options.warmup = read_span(view, "warmup", options.warmup, 0);
  if (options.kind == ScheduleOptions::Kind::step) {
    read_steps(view, options);
    return options;
  }
  options.warmup_start = view.real("warmup_from", options.warmup_start, kNotNegative);
  const bool decays_by_step =
      options.kind == ScheduleOptions::Kind::inverse_sqrt || options.kind == ScheduleOptions::Kind::arena;
  if (decays_by_step && options.warmup.count == 0)
    view.problem("warmup", "must be a step at least: the rate falls as its square root over that of the step");
  if (!decays_by_step) options.minimum = view.real("minimum", options.minimum, kNotNegative);
  return options;
}

}  // namespace cachet::train
