#pragma once

#include <cstdint>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/train/span.h"

namespace cachet::train {

/// The table [optimizer] of a recipe.
struct OptimizerOptions {
  enum class Kind { adamw, sgd };
  Kind kind = Kind::adamw;
  double learning_rate = 1e-3;                        // key `lr`: the schedule's peak
  double backbone_rate = 1;                           // of all but the task's head, as a share of it
  double weight_decay = 0.05;                         // decoupled (AdamW) or added to the gradient (SGD)
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // AdamW; keys `betas`, `eps`
  double momentum = 0.9;                              // SGD
  bool nesterov = false;
};

OptimizerOptions read_optimizer_options(const config::View& view);

/// The table [schedule] of a recipe: the learning rate over the steps of a run.
struct ScheduleOptions {
  enum class Kind { cosine, linear, constant, one_cycle, inverse_sqrt, arena, step };
  Kind kind = Kind::cosine;
  Span warmup{0, Span::Unit::steps};
  double warmup_start = 0;         // learning rate before the warm-up; key `warmup_from`
  double minimum = 0;              // learning rate at the end; one_cycle has its own where these two are 0
  std::vector<Span> milestones{};  // of step: where the rate falls
  double factor = 0.1;             // of step: what it is multiplied by at each
  double warmup_factor = 0.001;    // of step: share of the rate at the first step of the warm-up
};

ScheduleOptions read_schedule_options(const config::View& view);

}  // namespace cachet::train
