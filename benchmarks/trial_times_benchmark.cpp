// Whether a trial, by which `cachet bench` times a model, takes what a step of training takes: one of each in turns, at
// desk size, for each family of models and for what carries a state from step to step. A run trains on synthetic
// samples of a trial's size; of each epoch its second half is timed, without the waiting for data. Prints CSV. Fails if
// a median ratio is further than a tenth from 1, or if the two do not multiply alike, because then their times show
// nothing of each other: trial_times RECIPES [--pairs N] [--only TEXT]
#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "benchmarks/csv_rows.h"
#include "benchmarks/pairs.h"
#include "cachet/analysis/cost/benchmark.h"
#include "cachet/analysis/cost/operator_calls.h"
#include "cachet/analysis/cost/operator_rules.h"
#include "cachet/config/document.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/step/live_run.h"

namespace cachet::benchmarks {
namespace {

namespace fs = std::filesystem;

constexpr int kThreads = 1;
constexpr double kMaxDifference = 0.1;
constexpr double kMaxDifferenceOfMacs = 0.02;
int least_pairs = 21;

struct TimedCase {
  std::string name, recipe;  // "vision/fashion_mnist_plain"
  std::vector<std::string> settings{};
};

// A trial has sequences of the model's full length, and synthetic sequences are shorter.
const char* const kFullLength = "data.pad_to=max_length";
// A trial has sentences of one token more than data.max_length, and synthetic sentences have 24 at most.
const char* const kSyntheticSentences = "data.max_length=23";
// The mask head sees the regions that show an object: up to 16 of an image of a trial, which has eight objects, and
// fewer of a synthetic scene. Both have two.
const char* const kFewPositives = "model.roi_head.sampler.pos_fraction=0.03125";

// A trial has all sequences of a step in one pass. A run with two segments a step has half of them in each of two
// passes, which take about a tenth longer.
const char* const kOneSegment = "task.segments_per_step=1";

const std::vector<TimedCase>& timed_cases() {
  static const std::vector<TimedCase> all{
      {"ViT", "vision/fashion_mnist_plain"},
      {"ViT, gated recurrent cache", "vision/fashion_mnist_cached"},
      {"ViT, FIFO cache", "vision/fashion_mnist_fifo"},
      {"ViT, unified normalization", "vision/fashion_mnist_un"},
      {"PVT", "vision/cifar10_pvt_plain"},
      {"PVT, gated recurrent cache", "vision/cifar10_pvt_cached"},
      {"T2T-ViT, unified normalization", "vision/cifar10_t2t_un"},
      {"Swin",
       "vision/cifar10_plain",
       {"model.name=swin_tiny_patch4_window7_224", "model.embed_dim=24", "model.depths=[2, 2, 2, 2]",
        "model.num_heads=[1, 2, 4, 8]", "model.window_size=4"}},
      {"sequences, softmax", "lra/lra_short_text", {kFullLength}},
      {"sequences, 2×GLU", "lra/lra_short_text_2glu", {kFullLength}},
      {"pairs of sequences", "lra/lra_short_matching", {kFullLength}},
      {"Transformer-XL, no memory", "language/wikitext2_plain"},
      {"Transformer-XL, memory 64", "language/wikitext2_transformer_xl"},
      {"Transformer-XL, memory 640", "language/wikitext2_transformer_xl", {"model.memory_length=640"}},
      {"Transformer-XL, recurrent memory tokens", "language/wikitext2_recurrent_memory", {kOneSegment}},
      {"Transformer-XL, gated recurrent cache", "language/wikitext2_grc"},
      {"Transformer-XL, FIFO cache", "language/wikitext2_fifo"},
      {"causal transformer, 2×GLU", "language/wikitext2_kernel"},
      {"translation", "translation/multi30k_de_en", {kSyntheticSentences}},
      {"translation, gated recurrent cache", "translation/multi30k_de_en_cached", {kSyntheticSentences}},
      {"Mask R-CNN", "detection/shapes_mask_rcnn", {kFewPositives}},
      {"RetinaNet", "detection/shapes_retinanet"},
  };
  return all;
}

/// Settings of all cases: batches of a fraction of a second, and no averages.
tasks::RecipePlan plan_of(const fs::path& recipes, const TimedCase& timed) {
  config::Document document = config::Document::from_file(recipes / (timed.recipe + ".toml"));
  for (const std::string& setting : timed.settings) document.set(setting);
  for (const char* setting :
       {"train.epochs=100000", "train.batch_size=8", "train.accumulate=1", "data.workers=0", "train.precision=fp32"})
    document.set(setting);
  return tasks::read_recipe(document);
}

class Run {
 public:
  explicit Run(const tasks::RecipePlan& plan)
      : task_(plan.build(tasks::Splits::synthetic)), live_(*task_, plan.training) {}

  void skip_first_half_of_epoch() {
    while (live_.state.batch < live_.steps_per_epoch() / 2) live_.advance();
  }
  /// Milliseconds of a step in the second half of an epoch.
  double step() {
    skip_first_half_of_epoch();
    train::StepSummary result;
    const double all = milliseconds_of([&] { result = live_.advance(); });
    samples_ = result.samples;
    return all - 1e3 * result.waited_seconds;
  }
  int64_t samples() const { return samples_; }

 private:
  std::unique_ptr<tasks::Task> task_;
  train::LiveRun live_;
  int64_t samples_ = 0;
};

int64_t macs_of(const std::function<void()>& step) {
  int64_t macs = 0;
  const analysis::OperatorCalls calls(analysis::NestedCalls::none, [&](const analysis::OperatorCall& call) {
    if (call.rule == nullptr || call.outputs.empty()) return;
    for (const analysis::Product& product : call.rule->products(call.operands, call.outputs.front()))
      macs += product.macs;
  });
  step();
  return macs;
}

/// Whether both multiply alike, and the ratio of their times is near 1.
bool time_case(const fs::path& recipes, const TimedCase& timed) {
  at::manual_seed(1);
  const tasks::RecipePlan plan = plan_of(recipes, timed);
  Run run(plan);
  for (int warm_up = 0; warm_up < 3; ++warm_up) run.step();
  const auto model = plan.model().build();
  analysis::BenchmarkOptions options;
  options.mode = analysis::BenchmarkMode::training;
  options.batch = run.samples();
  const auto trial = analysis::trial_step(*model, options);
  for (int warm_up = 0; warm_up < 3; ++warm_up) trial();
  run.skip_first_half_of_epoch();
  const double macs = static_cast<double>(macs_of(trial)) / static_cast<double>(macs_of([&] { run.step(); }));
  const bool comparable = std::abs(macs - 1) <= kMaxDifferenceOfMacs;
  if (!comparable)
    std::cerr << timed.name << ": a trial has " << number(macs)
              << " times the multiply-accumulates of a step of the run\n";
  std::vector<double> of_trial, of_run;
  for (int pair = 0; pair < least_pairs; ++pair) {
    const bool run_first = pair % 2 == 0;
    if (run_first) of_run.push_back(run.step());
    of_trial.push_back(milliseconds_of(trial));
    if (!run_first) of_run.push_back(run.step());
  }
  const auto ratio = analysis::ratio_of_pairs(of_trial, of_run);
  const bool near = std::abs(ratio.median - 1) <= kMaxDifference;
  print_row({timed.name, std::to_string(options.batch), std::to_string(least_pairs), median(of_run), median(of_trial)},
            &ratio);
  if (!near) std::cerr << timed.name << ": the trial takes " << number(ratio.median) << " times as long as the run\n";
  return near && comparable;
}

}  // namespace
}  // namespace cachet::benchmarks

int main(int count, char** arguments) {
  using namespace cachet::benchmarks;
  std::string only;
  bool understood = count >= 2 && count % 2 == 0;
  for (int i = 2; understood && i < count; i += 2) {
    const std::string option = arguments[i];
    if (option == "--pairs")
      least_pairs = std::stoi(arguments[i + 1]);
    else if (option == "--only")
      only = arguments[i + 1];
    else
      understood = false;
  }
  if (!understood || least_pairs < 10) {
    std::cerr << "usage: trial_times_benchmark RECIPES [--pairs N] [--only TEXT]     N: at least 10\n";
    return 2;
  }
  at::set_num_threads(kThreads);
  print_row({"model", "batch", "pairs", "run_ms", "trial_ms", "trial_by_run", "lower", "upper"});
  bool near = true;
  for (const TimedCase& timed : timed_cases())
    if (timed.name.find(only) != std::string::npos) near = time_case(arguments[1], timed) && near;
  return near ? 0 : 1;
}
