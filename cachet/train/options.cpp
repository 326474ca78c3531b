#include "cachet/train/options.h"

#include <array>

#include "cachet/train/step/precision.h"

namespace cachet::train {
namespace {

enum class PrecisionWord { float32, bfloat16, automatic };
constexpr std::array<config::Choice<PrecisionWord>, 3> kPrecisions{
    {{"fp32", PrecisionWord::float32}, {"bf16", PrecisionWord::bfloat16}, {"auto", PrecisionWord::automatic}}};

constexpr std::array<config::Choice<StateRule>, 3> kStateRules{
    {{"shared", StateRule::shared}, {"separate", StateRule::separate}, {"first", StateRule::first}}};

constexpr std::array<config::Choice<GraphUse>, 3> kGraphUses{
    {{"auto", GraphUse::automatic}, {"on", GraphUse::on}, {"off", GraphUse::off}}};

constexpr config::Range<int64_t> kAtLeastOne{.least = 1, .most = int64_t{1} << 40};
constexpr int64_t kMaxParts = 65536;
constexpr config::Range<double> kNoLessThanZero{.least = 0};

// A run keeps the meaning of "auto" on the machine where it began, also if it is resumed elsewhere.
Precision decided_precision(const config::View& view, PrecisionWord word, const DeviceChoice& device) {
  if (word != PrecisionWord::automatic)
    return word == PrecisionWord::bfloat16 ? Precision::bfloat16 : Precision::float32;
  const Precision chosen = precision_of_machine(device);
  view.decide("precision", chosen == Precision::bfloat16 ? "bf16" : "fp32");
  return chosen;
}

// A micro-batch of a process is a part then, and the order of the data is that of whole steps.
void read_state_rule(const config::View& view, TrainOptions& options) {
  options.state = view.choice("state", options.state, kStateRules);
  if (!options.has_parts()) return;
  if (options.accumulate > kMaxParts || options.batch_size > kAtLeastOne.most / options.accumulate) {
    view.problem("accumulate", "is too large: with train.state = \"separate\" or \"first\", a step must have at most " +
                                   std::to_string(kMaxParts) +
                                   " micro-batches, and at most 2^40 samples in all micro-batches together");
    return;
  }
  options.shard.parts = options.accumulate;
}

void read_average(const config::View& view, TrainOptions& options) {
  options.ema_decay = view.real("ema_decay", options.ema_decay, {.least = 0, .most = 0x1.fffffffffffffp-1});
  if (options.ema_decay == 0) {
    for (const char* key : {"ema_warmup", "ema_renew_states"})
      view.refuse(key, "has no effect without averaged weights; set ema_decay, or remove this key");
    return;
  }
  options.ema_warmup = view.boolean("ema_warmup", options.ema_warmup);
  options.ema_renew_states =
      view.integer("ema_renew_states", options.ema_renew_states, {.least = 0, .most = 1'000'000'000});
}

void read_saving(const config::View& view, TrainOptions& options) {
  options.log_every = read_duration(view, "log_every", options.log_every);
  options.tensorboard = view.boolean("tensorboard", options.tensorboard);
  constexpr int64_t kMaxProfiled = 1000;
  options.profile = view.integer("profile", options.profile, {.least = 0, .most = kMaxProfiled});
  constexpr int64_t kMinForTest = 8, kMaxForTest = 100'000;
  options.normality_passes =
      view.integer("normality_passes", options.normality_passes, {.least = 0, .most = kMaxForTest});
  if (options.normality_passes > 0 && options.normality_passes < kMinForTest)
    view.problem("normality_passes",
                 "must be at least 8, because the test of normality needs at least 8 values, or 0 for no test");
  options.evaluate_every = read_duration(view, "evaluate_every", options.evaluate_every);
  options.checkpoint_every = read_duration(view, "checkpoint_every", options.checkpoint_every);
  options.save_minutes = view.real("save_minutes", options.save_minutes, kNoLessThanZero);
  options.keep = view.integer("keep", options.keep, {.least = 1, .most = 1'000'000});
}

void read_bounds(const config::View& view, TrainOptions& options) {
  options.max_hours = view.real("max_hours", options.max_hours, kNoLessThanZero);
  // An empty text takes away the limit of a base.
  if (view.has("limit") && !view.text("limit", "").empty())
    options.limit = read_duration(view, "limit", {1, Duration::Unit::steps});
  if (view.has("patience")) options.patience = view.integer("patience", 1, kAtLeastOne);
}

}  // namespace

std::string shared_batch_text(const TrainOptions& options) {
  const std::string size = "train.batch_size " + std::to_string(options.batch_size);
  return options.shard.parts == 1 ? size : size + " x train.accumulate " + std::to_string(options.shard.parts);
}

TrainOptions read_train_options(const config::View& view) {
  TrainOptions options;
  options.epochs = view.integer("epochs", options.epochs, kAtLeastOne);
  options.batch_size = view.integer("batch_size", options.batch_size, kAtLeastOne);
  options.accumulate = view.integer("accumulate", options.accumulate, kAtLeastOne);
  read_state_rule(view, options);
  options.seed = static_cast<uint64_t>(view.integer("seed", static_cast<int64_t>(options.seed), {.least = 0}));
  const PrecisionWord precision = view.choice("precision", PrecisionWord::float32, kPrecisions);
  options.device = read_device(view, "device");
  options.precision = decided_precision(view, precision, options.device);
  options.threads = view.integer("threads", options.threads, {.least = 0, .most = kMaxThreads});
  options.deterministic = view.boolean("deterministic", options.deterministic);
  options.graph = view.choice("graph", options.graph, kGraphUses);
  options.init = view.text("init", options.init);
  options.init_partial = view.boolean("init_partial", options.init_partial);
  options.clip_norm = view.real("clip_norm", options.clip_norm, kNoLessThanZero);
  read_average(view, options);
  read_saving(view, options);
  read_bounds(view, options);
  return options;
}

Options read_options(const config::View& root) {
  Options options;
  options.train = read_train_options(root.table("train"));
  options.optimizer = read_optimizer_options(root.table("optimizer"));
  options.schedule = read_schedule_options(root.table("schedule"));
  if (options.schedule.minimum > options.optimizer.learning_rate) {
    root.table("schedule")
        .problem("minimum",
                 "must not be above optimizer.lr, the peak of the learning rate; lower minimum, or raise optimizer.lr");
  }
  const OptimizerOptions& optimizer = options.optimizer;
  if (options.schedule.cycles_momentum() && optimizer.kind == OptimizerOptions::Kind::sgd && optimizer.momentum == 0) {
    root.table("schedule")
        .problem(
            "cycle_momentum",
            "changes the momentum, but optimizer.momentum is 0; set cycle_momentum = false, or set optimizer.momentum");
  }
  return options;
}

}  // namespace cachet::train
