#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cachet/config/view.h"
#include "cachet/data/order/batch_order.h"
#include "cachet/train/device_choice.h"
#include "cachet/train/optimizer_options.h"
#include "cachet/train/span.h"

namespace cachet::train {

enum class Precision {
  float32,
  bfloat16,  // float32 weights under autocast
};

/// The most threads that a run may have. With 2,048 LibTorch crashes in a training step.
inline constexpr int64_t kMostThreads = 1024;

/// The table [train] of a recipe.
struct TrainOptions {
  int64_t epochs = 10;
  int64_t batch_size = 128;  // samples in a micro-batch, of all processes together
  int64_t accumulate = 1;    // micro-batches in a step
  uint64_t seed = 0;
  Precision precision = Precision::float32;
  DeviceChoice device;  // key `device`: where the model lives
  int64_t threads = 0;  // 0 = as OMP_NUM_THREADS says, else as many as the machine has
  bool deterministic = false;

  std::string init;           // where the weights at the start come from; empty: drawn at random
  bool init_partial = false;  // also when not all of them fit

  double clip_norm = 0;  // of all gradients together; 0 = none
  double ema_decay = 0;  // 0 = no averaged weights
  bool ema_warmup = false;
  int64_t ema_renew_states = 100;  // micro-batches of training that make the averaged weights' own states

  Span log_every{50, Span::Unit::steps};
  Span evaluate_every{1, Span::Unit::epochs};
  Span checkpoint_every{1, Span::Unit::epochs};
  bool tensorboard = false;         // event files for TensorBoard beside metrics.jsonl
  int64_t normality_passes = 0;     // of each norm, whose statistics are tested for normality; 0 = no test
  double save_minutes = 10;         // between two saves at most; 0 = no saves by the clock
  int64_t keep = 2;                 // newest checkpoints that are kept; the best one is kept beside them
  double max_hours = 0;             // of this and all earlier parts of the run together; 0 = no bound
  std::optional<Span> limit;        // stop here, with the schedule laid out for it
  std::optional<int64_t> patience;  // evaluations without a better objective

  data::Shard shard;  // no key of a recipe: which part of each batch this process has of those that train together
};

TrainOptions read_train_options(const config::View& view);

/// All that the trainer reads: [train], [optimizer], [schedule].
struct Options {
  TrainOptions train;
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
};
Options read_options(const config::View& root);

}  // namespace cachet::train
