#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/train/optimizer/duration.h"

namespace cachet::train {

/// The table [optimizer] of a recipe.
struct OptimizerOptions {
  enum class Kind { adamw, sgd };
  Kind kind = Kind::adamw;
  double learning_rate = 1e-3;                        // key `lr`: the schedule's peak
  double backbone_rate = 1;                           // learning-rate multiplier of all parameters except the head
  double weight_decay = 0.05;                         // decoupled (AdamW) or added to the gradient (SGD)
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // for AdamW; keys `betas`, `eps`
  double momentum = 0.9;                              // for SGD
  bool nesterov = false;
};

OptimizerOptions read_optimizer_options(const config::View& view);

/// The options of a schedule of kind one_cycle.
struct OneCycleOptions {
  enum class Rule { pytorch, version_0_1_0 };
  enum class Anneal { cosine, linear };
  Rule rule = Rule::pytorch;
  std::optional<double> share_up = 0.3;  // fraction of steps before the peak; key `pct_start`; empty = the warm-up's
  Anneal anneal = Anneal::cosine;
  bool three_phase = false;       // the rate falls to the first rate in the steps of the rise, then to the lowest
  double div_factor = 25;         // the peak divided by the first rate
  double final_div_factor = 1e4;  // the first rate divided by the last rate
  bool cycle_momentum = true;     // whether AdamW's first beta or SGD's momentum also changes
  double base_momentum = 0.85;    // momentum at the peak
  double max_momentum = 0.95;     // momentum at the first and the last rate
};

/// The table [schedule] of a recipe, which defines the learning rate over the steps of a run.
struct ScheduleOptions {
  enum class Kind { cosine, linear, constant, one_cycle, inverse_sqrt, arena, step };
  Kind kind = Kind::cosine;
  Duration warmup{0, Duration::Unit::steps};
  double warmup_start = 0;             // learning rate before the warm-up; key `warmup_from`
  double minimum = 0;                  // learning rate at the end
  std::vector<Duration> milestones{};  // for kind step: times at which the rate falls
  double factor = 0.1;                 // for kind step: multiplier of the rate at each milestone
  double warmup_factor = 0.001;        // for kind step: multiplier of the rate at the warm-up's first step
  int64_t first_update = 1;            // the number of the first step
  OneCycleOptions one_cycle{};

  /// Whether the schedule also sets AdamW's first beta, or SGD's momentum.
  bool cycles_momentum() const {
    return kind == Kind::one_cycle && one_cycle.rule == OneCycleOptions::Rule::pytorch && one_cycle.cycle_momentum;
  }
};

ScheduleOptions read_schedule_options(const config::View& view);

}  // namespace cachet::train
