#include "cachet/tasks/task.h"

#include <algorithm>
#include <exception>

#include "cachet/analysis/plug_ins/observations.h"
#include "cachet/analysis/plug_ins/stored_caches.h"
#include "cachet/analysis/statistics/step_statistics.h"
#include "cachet/models/registry.h"
#include "cachet/nn/norm/unified_norm.h"
#include "cachet/report/text/progress.h"
#include "cachet/tasks/note_filter.h"
#include "cachet/tasks/plug_in_series.h"
#include "cachet/tasks/unread_series.h"
#include "cachet/train/machine/error_message.h"
#include "cachet/train/machine/process_setup.h"

namespace cachet::tasks {
train::RunDescription Task::describe() {
  const train::RandomStateKept random(model());  // by the constructors of the model that is counted
  train::RunDescription description = tasks::describe(profile_);
  const EvaluatedSamples evaluated = evaluated_samples();
  description.evaluated = evaluated.count;
  description.split_size = evaluated.split;
  description.named_sizes = models::sizes_of(profile_.model.name);
  return description;
}

std::vector<train::Series> Task::observe() {
  using Numbers = std::vector<std::span<const double>>;
  UnreadSeries all;
  for (const auto& layer : analysis::cache_shares(model()))
    all.add(std::string(kShareSeries) + layer.layer, layer.shares);
  for (const auto& cache : analysis::stored_caches(model()))
    all.add(std::string(kCacheSizeSeries) + cache.layer, analysis::size_of(cache));
  for (const auto& layer : analysis::unified_norm_steps(model())) {
    all.add(std::string(kUnifiedNormSeries) + layer.layer, {layer.counters}, [layer](const Numbers& numbers) {
      const nn::NormWindowUse use = layer.use(numbers[0]);
      return std::vector<double>{static_cast<double>(use.steps), use.on_window, use.filtered};
    });
    if (!layer.by_channel) continue;
    all.add(std::string(kFilteredChannelsSeries) + layer.layer, {layer.counters}, [layer](const Numbers& numbers) {
      const nn::NormWindowUse use = layer.use(numbers[0]);
      return std::vector<double>{use.steps > 0 ? use.filtered / static_cast<double>(use.steps) : 0};
    });
  }
  if (normality_)
    for (const auto& layer : normality_->unread_layers())
      all.add(std::string(kNormalitySeries) + layer.layer, {layer.forward, layer.gradient},
              [this](const Numbers& numbers) {
                return std::vector<double>{normality_->normal_share(numbers[0]), normality_->normal_share(numbers[1]),
                                           static_cast<double>(normality_->passes())};
              });
  return all.read();
}

std::vector<report::Section> Task::report_sections(const std::vector<train::Event>& events,
                                                   const train::Status& status) {
  std::vector<report::Section> sections = evaluation_sections();
  if (const report::Section& samples = trained_on(); !samples.blocks.empty()) sections.push_back(samples);
  for (report::Section& section : training_sections(events)) {
    section.after_curves = true;
    sections.push_back(std::move(section));
  }
  const bool loss_is_nan = !status.running && status.message.find("the loss") != std::string::npos &&
                           status.message.find(" is NaN") != std::string::npos;
  for (report::Section& section : plug_in_sections(events, loss_is_nan)) sections.push_back(std::move(section));
  return sections;
}

// A run that failed for what it could not read has its page all the same.
const report::Section& Task::trained_on() {
  if (trained_on_) return *trained_on_;
  trained_on_ = report::Section{"What the model is trained on", {}, ""};
  try {
    trained_on_->blocks = training_samples();
  } catch (const std::exception& error) {
    trained_on_->blocks = {report::CodeBlock{"The first samples cannot be shown", train::error_message(error)}};
  }
  return *trained_on_;
}

void Task::note_doubts() {
  for (const auto& module : model().modules()) {
    const auto* cache = dynamic_cast<const nn::Cache*>(module.get());
    const auto doubt = cache ? doubt_about(*cache) : std::nullopt;
    if (!doubt) continue;
    note({*doubt});
    return;
  }
}

void Task::settle(const train::RunLength& length) { nn::settle_warmups(model(), length.updates); }

std::vector<std::string> Task::notes_on_run(const train::RunLength& length) {
  int64_t warmup = 0;
  for (const auto& module : model().modules())
    if (const auto* norm = dynamic_cast<const nn::UnifiedNorm*>(module.get()))
      warmup = std::max(warmup, norm->settings().warmup);
  if (warmup == 0 || warmup < length.updates) return {};
  return {"the warm-up of the norms (model.norm.warmup) takes " + std::to_string(warmup) +
          " updates, but this run updates the norms only " + std::to_string(length.updates) +
          (length.updates == 1 ? " time" : " times") +
          ". In this run, the norms do not use their window and filter; set a shorter warm-up, such as "
          "model.norm.warmup = \"10 %\" of the run"};
}

void Task::record_normality(int64_t passes) {
  if (analysis::has_batch_statistics(model()))
    normality_ = std::make_unique<analysis::RecentNormality>(model(), passes);
  else
    note({"train.normality_passes: the model has no norm with batch statistics, so nothing is recorded"});
}

void Task::record_passes(bool recorded) {
  if (normality_) normality_->record(recorded);
}

void Task::replay_inference(std::shared_ptr<train::StepExecutor> executor) {
  inference_ = train::ReplayedInference(model(), std::move(executor));
}

std::optional<std::string> Task::doubt_about(const nn::Cache& cache) const {
  const auto why = cache.why_memory_is_unfamiliar();
  return why ? std::optional("model.cache: " + *why) : std::nullopt;
}

void Task::note(const std::vector<std::string>& lines) {
  report::Progress progress({.mode = report::ProgressMode::none});
  for (const std::string& line : lines) {
    if (NoteFilter::passes(line)) progress.log(line);
    data_notes_.push_back(line);
  }
}

}  // namespace cachet::tasks
