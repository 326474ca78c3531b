#include "cachet/train/optimizer/optimizer_options.h"

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

constexpr std::array<config::Choice<OneCycleOptions::Rule>, 2> kOneCycleRules{
    {{"pytorch", OneCycleOptions::Rule::pytorch}, {"0.1.0", OneCycleOptions::Rule::version_0_1_0}}};

constexpr std::array<config::Choice<OneCycleOptions::Anneal>, 2> kAnneals{
    {{"cos", OneCycleOptions::Anneal::cosine}, {"linear", OneCycleOptions::Anneal::linear}}};

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
    view.problem("betas", "must have two numbers, such as [0.9, 0.999], but has " + std::to_string(betas.size()));
  }
  options.epsilon = view.real("eps", options.epsilon, kEpsilon);
}

void read_sgd(const config::View& view, OptimizerOptions& options) {
  options.momentum = view.real("momentum", options.momentum, kBelowOne);
  options.nesterov = view.boolean("nesterov", options.nesterov);
  if (options.nesterov && options.momentum == 0) {
    view.problem("nesterov", "needs a momentum above 0; set `momentum`, or remove nesterov");
  }
}

void read_steps(const config::View& view, ScheduleOptions& options) {
  options.milestones = read_durations(view, "milestones", options.milestones);
  options.factor = view.real("factor", options.factor, {.least = 0, .most = 1});
  options.warmup_factor = view.real("warmup_factor", options.warmup_factor, {.least = 0, .most = 1});
  if (options.milestones.empty())
    view.problem("milestones",
                 "must list the times at which the learning rate falls, such as [\"8 epochs\", \"11 epochs\"]");
  for (size_t i = 1; i < options.milestones.size(); ++i) {
    const Duration &before = options.milestones[i - 1], &after = options.milestones[i];
    if (before.unit == after.unit && before.count >= after.count)
      view.problem("milestones", "must be in the order of time without repetitions, but \"" + after.text() +
                                     "\" is not after \"" + before.text() + "\"");
  }
}

constexpr std::array<const char*, 8> kOfPytorch{"pct_start",        "anneal",         "three_phase",   "div_factor",
                                                "final_div_factor", "cycle_momentum", "base_momentum", "max_momentum"};

void read_one_cycle(const config::View& view, ScheduleOptions& schedule) {
  OneCycleOptions& options = schedule.one_cycle;
  for (const char* key : {"warmup_from", "minimum"})
    view.refuse(key, "is not an option of PyTorch's one_cycle; set div_factor or final_div_factor");
  // A warm-up in steps or epochs replaces the fraction of the run; a warm-up of 0 steps does not.
  if (view.has("warmup")) schedule.warmup = read_duration(view, "warmup", schedule.warmup, 0);
  if (schedule.warmup.count > 0) {
    options.share_up.reset();
    view.refuse("pct_start",
                "has no effect with `warmup`, which also sets when the learning rate reaches its peak; remove one of "
                "the two keys");
  } else {
    options.share_up = view.real("pct_start", *options.share_up, {.least = 0, .most = 1});
  }
  options.anneal = view.choice("anneal", options.anneal, kAnneals);
  options.three_phase = view.boolean("three_phase", options.three_phase);
  // A factor below 1 would start or end above the peak.
  options.div_factor = view.real("div_factor", options.div_factor, {.least = 1});
  options.final_div_factor = view.real("final_div_factor", options.final_div_factor, {.least = 1});
  options.cycle_momentum = view.boolean("cycle_momentum", options.cycle_momentum);
  if (!options.cycle_momentum) {
    for (const char* key : {"base_momentum", "max_momentum"})
      view.refuse(key, "has no effect with cycle_momentum = false; remove it");
    return;
  }
  options.base_momentum = view.real("base_momentum", options.base_momentum, kBelowOne);
  options.max_momentum = view.real("max_momentum", options.max_momentum, kBelowOne);
  if (options.base_momentum > options.max_momentum)
    view.problem("base_momentum", "must not be above max_momentum; lower base_momentum, or raise max_momentum");
}

}  // namespace

OptimizerOptions read_optimizer_options(const config::View& view) {
  OptimizerOptions options;
  options.kind = view.choice("kind", options.kind, kOptimizerKinds);
  options.learning_rate = view.real("lr", options.learning_rate, kPositive);
  options.backbone_rate = view.real("backbone_rate", options.backbone_rate, {.least = 0, .most = 1});
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
  if (options.kind == ScheduleOptions::Kind::one_cycle) {
    options.one_cycle.rule = view.choice("rule", options.one_cycle.rule, kOneCycleRules);
    if (options.one_cycle.rule == OneCycleOptions::Rule::pytorch) {
      read_one_cycle(view, options);
      return options;
    }
    for (const char* key : kOfPytorch)
      view.refuse(
          key,
          "has no effect with rule = \"0.1.0\", the rule of version 0.1.0; to use this key, set rule = \"pytorch\"");
  }
  options.warmup = read_duration(view, "warmup", options.warmup, 0);
  if (options.kind == ScheduleOptions::Kind::step) {
    read_steps(view, options);
    return options;
  }
  options.warmup_start = view.real("warmup_from", options.warmup_start, kNotNegative);
  const bool decays_by_step =
      options.kind == ScheduleOptions::Kind::inverse_sqrt || options.kind == ScheduleOptions::Kind::arena;
  if (decays_by_step && options.warmup.count == 0)
    view.problem(
        "warmup",
        "must be at least 1 step, because the learning rate is proportional to sqrt(warmup / step) after warmup");
  // fairseq and the arena count from 0: without `warmup_from` their first step has the rate 0.
  if (decays_by_step) options.first_update = 0;
  if (options.kind != ScheduleOptions::Kind::one_cycle)
    options.first_update = view.integer("first_update", options.first_update, {.least = 0, .most = 1});
  if (!decays_by_step) options.minimum = view.real("minimum", options.minimum, kNotNegative);
  return options;
}

}  // namespace cachet::train
