#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cachet/config/view.h"
#include "cachet/data/order/batch_order.h"
#include "cachet/train/machine/device_choice.h"
#include "cachet/train/optimizer/duration.h"
#include "cachet/train/optimizer/optimizer_options.h"

namespace cachet::train {

enum class Precision {
  float32,
  bfloat16,  // float32 weights under autocast
};

/// The owner of the state that forward passes of training write to the model's buffers: statistics, windows and
/// counters of norms, caches, and Performer's projection. A part of a step consists of the samples of one micro-batch
/// in one process. A step has N = processes · train.accumulate parts. Part r has the samples r, r + N, … of the step's
/// whole batch.
enum class StateRule {
  shared,    // one state for all: processes add their sums, and micro-batches update it in turn
  separate,  // each part has its own state
  first,     // each part begins a step with the final state of part 0, and only this state is stored
};

/// Whether the steps of a run on a CUDA device are replayed as CUDA graphs.
enum class GraphUse {
  automatic,  // yes, if the steps can be replayed
  on,         // yes; if the steps cannot be replayed, the run ends with an error
  off,
};

/// The largest number of threads of a run. With 2,048 threads, LibTorch crashes in a training step.
inline constexpr int64_t kMaxThreads = 1024;
[[deprecated("kMaxThreads")]] inline constexpr int64_t kMostThreads = kMaxThreads;

/// The table [train] of a recipe.
struct TrainOptions {
  int64_t epochs = 10;
  int64_t batch_size = 128;  // number of samples in a micro-batch of all processes together
  int64_t accumulate = 1;    // number of micro-batches in a step
  StateRule state = StateRule::shared;
  uint64_t seed = 0;
  Precision precision = Precision::float32;
  DeviceChoice device;  // key `device`: device of the model
  int64_t threads = 0;  // 0 = the value of OMP_NUM_THREADS, or all threads of the machine
  bool deterministic = false;
  GraphUse graph = GraphUse::automatic;

  std::string init;           // source of the initial weights; empty: random
  bool init_partial = false;  // whether weights are loaded even if some do not fit

  double clip_norm = 0;  // bound of the norm of all gradients; 0 = none
  double ema_decay = 0;  // 0 = no averaged weights
  bool ema_warmup = false;
  int64_t ema_renew_states = 100;  // number of training micro-batches that compute the averaged weights' states

  Duration log_every{50, Duration::Unit::steps};
  Duration evaluate_every{1, Duration::Unit::epochs};
  Duration checkpoint_every{1, Duration::Unit::epochs};
  bool tensorboard = false;         // whether to write TensorBoard's event files in addition to metrics.jsonl
  int64_t profile = 0;              // number of steps that LibTorch's profiler records after each start; 0 = none
  int64_t normality_passes = 0;     // number of passes of each norm that are tested for normality; 0 = no test
  double save_minutes = 10;         // largest number of minutes between two saves; 0 = no saves by time
  int64_t keep = 2;                 // number of newest checkpoints that remain, in addition to the best
  double max_hours = 0;             // limit of the hours of the run, over all resumes; 0 = no limit
  std::optional<Duration> limit;    // end of the run; the schedule also ends there
  std::optional<int64_t> patience;  // number of evaluations without a better objective that ends the run

  // The part of each batch that this process gets (not a key of the recipe). If parts of a step have their own states,
  // each batch of the data is a whole step, and each process has `accumulate` parts of the step.
  data::Shard shard;

  bool has_parts() const { return state != StateRule::shared; }
  /// Returns the number of samples that are divided among the processes: the samples of a micro-batch or, if parts have
  /// their own states, of a whole step.
  int64_t shared_batch() const { return batch_size * shard.parts; }
};

/// Returns the keys and values of shared_batch(): "train.batch_size 64" or "train.batch_size 64 x train.accumulate 2".
std::string shared_batch_text(const TrainOptions& options);

TrainOptions read_train_options(const config::View& view);

/// All options of the trainer: the tables [train], [optimizer] and [schedule].
struct Options {
  TrainOptions train;
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
};
Options read_options(const config::View& root);

}  // namespace cachet::train
