#include "cachet/train/runs/run_report.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>

#include "cachet/config/counted.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/report/format.h"
#include "cachet/report/page/html.h"
#include "cachet/report/page/run_page.h"
#include "cachet/report/uncertainty.h"
#include "cachet/train/data_parallel/part_counts.h"
#include "cachet/train/machine/environment.h"
#include "cachet/train/profile/profile_tables.h"
#include "cachet/train/runs/event_curves.h"
#include "cachet/train/runs/paper_rows.h"
#include "cachet/train/step/step_meter.h"

namespace cachet::train {
namespace {

using report::MetricDescription;
using EventKind = Event::Kind;

report::Status status_of(const Status& status) {
  if (status.running) return report::Status::running;
  switch (status.ending) {
    case StopReason::interrupted:
      return report::Status::interrupted;
    case StopReason::not_finite:
    case StopReason::failed:
    case StopReason::killed:
      return report::Status::failed;
    case StopReason::finished:
    case StopReason::early_stop:
    case StopReason::out_of_time:
      return report::Status::finished;
  }
  return report::Status::finished;
}

/// What the chart of the throughput has.
bool is_rate(const std::string& metric) { return metric == "tokens_per_second" || metric == "samples_per_second"; }

/// Those that the task described in its order, then what else the run logged; not the trainer's own.
std::vector<MetricDescription> shown_metrics(const RunDescription& run, const std::vector<Event>& events) {
  std::vector<MetricDescription> all = run.metrics;
  const auto has = [](const std::vector<MetricDescription>& list, const std::string& name) {
    return std::ranges::find(list, name, &MetricDescription::name) != list.end();
  };
  for (const EventKind kind : {EventKind::evaluation, EventKind::step})
    for (const std::string& name : metric_names(events, kind))
      if (!has(all, name) && !has(trainer_metrics(), name)) {
        all.push_back(report::description_of({}, name));
        if (name.starts_with("loss_")) all.back().family = kLossFamily;
      }
  return all;
}

/// The curves of metrics of one family, or of one metric.
report::CurveChart metric_chart(const RunDescription& run, const std::vector<Event>& events,
                                const std::vector<MetricDescription>& metrics) {
  struct Measured {
    const MetricDescription* metric;
    report::Series training, evaluation;
  };
  std::vector<Measured> measured;
  bool any_training = false, any_evaluation = false;
  for (const MetricDescription& metric : metrics) {
    Measured one{&metric, curve(events, EventKind::step, metric.name, ""),
                 curve(events, EventKind::evaluation, metric.name, "")};
    if (one.training.x.empty() && one.evaluation.x.empty()) continue;
    any_training = any_training || !one.training.x.empty();
    any_evaluation = any_evaluation || !one.evaluation.x.empty();
    measured.push_back(std::move(one));
  }
  if (measured.empty()) return {};
  const MetricDescription& first = *measured.front().metric;
  const bool alone = measured.size() == 1, percent = first.form == report::ValueForm::percent;
  report::CurveChart chart{
      alone ? report::heading(first) : report::heading(first.family), percent ? "%" : first.unit, {}, percent};
  for (Measured& one : measured) {
    const auto add = [&](report::Series& series, const std::string& of) {
      series.name = alone ? of : one.metric->title + (any_training && any_evaluation ? ", " + of : "");
      chart.series.push_back(std::move(series));
    };
    add(one.training, "training");
    add(one.evaluation, run.words.held_out);
  }
  return chart;
}

/// The chart of what the run is to reach is large; until it has a value, the first one that has.
void add_metric_charts(const RunDescription& run, const std::vector<Event>& events, report::RunPage& page) {
  std::vector<std::vector<MetricDescription>> families;
  for (const MetricDescription& metric : shown_metrics(run, events)) {
    if (metric.constant || is_rate(metric.name)) continue;
    const auto same = std::ranges::find_if(families, [&](const std::vector<MetricDescription>& family) {
      return !metric.family.empty() && family.front().family == metric.family;
    });
    if (same == families.end())
      families.push_back({metric});
    else
      same->push_back(metric);
  }
  std::ranges::stable_partition(families, [](const std::vector<MetricDescription>& family) {
    return std::ranges::any_of(family, &MetricDescription::decides);
  });
  for (const std::vector<MetricDescription>& family : families)
    report::add_chart(page.charts.empty() ? page.charts : page.folded_charts, metric_chart(run, events, family));
  if (!page.charts.empty()) page.charts.front().large = true;
  for (const MetricDescription& metric : trainer_metrics())
    report::add_chart(page.folded_charts, {report::heading(metric),
                                           "",
                                           {curve(events, EventKind::step, metric.name, metric.title)},
                                           /*in_percent=*/false,
                                           /*from_zero=*/true});
}

void add_machine_charts(const RunDescription& run, const std::vector<Event>& events, report::RunPage& page) {
  report::Series rate = curve(events, EventKind::step, "tokens_per_second", token_rate_title(run));
  if (rate.x.empty()) rate = curve(events, EventKind::step, "samples_per_second", run.words.many + "/s");
  const std::string unit = rate.name;
  report::add_chart(page.folded_charts, {"Throughput", unit, {std::move(rate)}, false, /*from_zero=*/true});
  report::add_chart(page.folded_charts, {"Waiting for data",
                                         "% of a step",
                                         {curve(events, EventKind::step, "data_wait", "waiting for data")},
                                         /*in_percent=*/true,
                                         /*from_zero=*/true});
}

/// What the run is to reach: its last value and its best.
void add_deciding_facts(const RunDescription& run, const std::vector<Event>& events, report::RunPage& page) {
  const MetricDescription* metric = report::deciding(run.metrics);
  if (metric == nullptr) return;
  const std::vector<double> values = step_curve(events, EventKind::evaluation, metric->name).values;
  if (values.empty()) return;
  const std::vector<double> errors =
      step_curve(events, EventKind::evaluation, metric->name + std::string(report::kErrorSuffix)).values;
  const Metrics last = last_evaluation(events);
  const auto text = [&](double value) { return report::format_value(*metric, value); };
  const std::optional<double> error = errors.empty() ? std::nullopt : std::optional(errors.back());
  const std::string spread = report::uncertainty_text(values.back(), error, run.samples_of(*metric, last), text);
  const int64_t counted = run.counted(last);
  const std::string samples = counted < run.split_size ? evaluated_text(run.words, counted, run.split_size)
                                                       : "the " + run.words.held_out + " " + run.words.many;
  page.facts.push_back({report::heading(*metric), text(values.back()), "of " + samples + spread});
  if (metric->better == report::Better::neither) return;
  const double best = report::best_of(values, metric->better);
  const bool chose = run.reports_choice && values.size() > 1;
  page.facts.push_back({"Best " + metric->title, text(best), chose ? choice_note(run.words) : ""});
}

void add_facts(const RunDescription& run, const Status& status, const std::vector<Event>& events,
               report::RunPage& page) {
  add_deciding_facts(run, events, page);
  page.facts.push_back({"Parameters", report::format_count(static_cast<double>(run.parameters)), ""});
  if (run.linear_convolution_macs > 0)
    page.facts.push_back({"MACs (evaluation)", report::format_count(static_cast<double>(run.linear_convolution_macs)),
                          "linear and convolution, for one " + run.words.one + "; attention " +
                              report::format_count(static_cast<double>(run.attention_macs))});
  page.facts.push_back({"Epoch", std::to_string(status.epoch) + " of " + std::to_string(status.epochs),
                        "step " + std::to_string(status.step) + " of " + std::to_string(status.total_steps)});
}

/// Into how many parts with states of their own a step is cut, if it is.
void add_part_facts(const RunFolder& folder, report::RunPage& page) {
  const RecipeValues& values = folder.values();
  const auto value = [&](const char* key) {
    const auto found = values.find(key);
    return found == values.end() ? std::string() : found->second;
  };
  const std::string state = value("train.state");
  if (state.empty() || state == "\"shared\"") return;
  const std::string accumulate = value("train.accumulate");
  const int64_t processes = std::max<int64_t>(1, folder.processes()),
                parts = processes * std::strtoll(accumulate.c_str(), nullptr, 10);
  page.facts.push_back({"Parts of a step", std::to_string(parts),
                        (state == "\"first\"" ? "all begin with the state of part 0" : "each with its own state") +
                            std::string("; ") + config::counted(processes, "process", "processes") +
                            ", each with train.accumulate = " + accumulate});
}

/// When it began, how long it took, on what.
void add_machine_facts(const RunFolder& folder, const Environment& machine, const std::vector<Event>& events,
                       report::RunPage& page) {
  const std::string& created = folder.created();  // 2026-11-21T20:43:45Z
  const size_t time = created.find('T');
  page.facts.push_back(
      {"Begun", created.substr(0, time), time == std::string::npos ? "" : created.substr(time + 1, 5) + " UTC"});
  double whole = 0, evaluation = 0;
  for (const Event& event : events) {
    whole = std::max(whole, event.machine.find("seconds").value_or(0));
    evaluation += event.machine.find("evaluation_seconds").value_or(0);
  }
  if (whole > 0)
    page.facts.push_back(
        {"Training time", report::format_duration(training_seconds(events)),
         "the run took " + report::format_duration(whole) +
             (evaluation > 0 ? ", " + report::format_duration(evaluation) + " of it in evaluations" : std::string())});
  const bool on_gpu = runs_on_gpu(machine, device_of(folder.values())), several = machine.processes > 1;
  const std::string processes = std::to_string(machine.processes) + " processes";
  const std::string threads = std::to_string(machine.threads) + (machine.threads == 1 ? " thread" : " threads");
  std::string value = threads, detail = machine.processor;
  if (on_gpu) {
    value = machine.gpus;
    detail = (several ? processes + ", each with " : "") + threads + " of " + machine.processor;
  } else if (several) {
    value = processes;
    detail = "each with " + threads + " of " + machine.processor;
  }
  if (machine.memory_bytes > 0) detail += ", " + report::format_bytes(machine.memory_bytes) + " of memory";
  page.facts.push_back({"Machine", value, detail});
}

/// The rows of papers that the run's recipe trains, and how the experiment differs from the paper's.
void add_paper(const RecipeValues& values, report::RunPage& page) {
  const std::optional<PaperRows> paper = paper_rows_of(values);
  if (!paper || paper->rows.empty()) return;
  report::Table rows{"", {{"paper"}, {"row"}, {"the paper's value"}}, {}, several_runs_text(*paper).value_or("")};
  for (const PaperRow& row : paper->rows) rows.rows.push_back({paper_title(row.arxiv), row.row, row.value});
  report::Section section{"The paper's row",
                          {std::move(rows)},
                          changed_keys_text(*paper).value_or(""),
                          /*after_curves=*/true};
  if (!paper->differs.empty()) {
    report::Table differs{"", {{"differs from the paper"}}, {}, ""};
    for (const std::string& difference : paper->differs) differs.rows.push_back({difference});
    section.blocks.push_back(std::move(differs));
  }
  page.sections.push_back(std::move(section));
}

/// "[28, 28]" and "28" are "28".
std::string size_value(std::string toml) {
  if (!toml.starts_with('[')) return toml.ends_with(".0") ? toml.substr(0, toml.size() - 2) : toml;
  std::vector<std::string> values;
  std::stringstream items(toml.substr(1, toml.size() - 2));
  for (std::string item; std::getline(items, item, ',');) {
    const size_t first = item.find_first_not_of(' ');
    values.push_back(first == std::string::npos ? "" : size_value(item.substr(first)));
  }
  if (values.size() == 2 && values[0] == values[1]) return values[0];
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : "-") + value;
  return text;
}

/// A size in words: "patch 8", "3 blocks".
std::string size_words(const std::string& key, const std::string& value) {
  static const std::map<std::string, std::string> before{{"patch_size", "patch "},    {"patch_sizes", "patches of "},
                                                         {"embed_dim", "width "},     {"embed_dims", "widths of "},
                                                         {"mlp_ratio", "MLP ratio "}, {"mlp_ratios", "MLP ratios of "},
                                                         {"mlp_dim", "MLP width "}},
      after{{"image_size", " pixels"},
            {"depth", " blocks"},
            {"depths", " blocks"},
            {"encoder_depth", " encoder blocks"},
            {"decoder_depth", " decoder blocks"},
            {"num_heads", " heads"}};
  if (const auto found = before.find(key); found != before.end()) return found->second + value;
  std::string unit = after.at(key);
  if (value == "1" && unit.ends_with('s')) unit.pop_back();
  return value + unit;
}

}  // namespace

std::string model_text(const RunDescription& run, const RecipeValues& values) {
  std::vector<std::string> sizes;
  for (const auto& [key, named] : run.named_sizes) {
    const auto value = values.find("model." + key);
    if (value == values.end() || size_value(value->second) == size_value(named)) continue;
    sizes.push_back(size_words(key, size_value(value->second)));
  }
  std::string text = run.model;
  for (size_t i = 0; i < sizes.size(); ++i)
    text += (i == 0 ? " with " : i + 1 == sizes.size() ? " and " : ", ") + sizes[i];
  return text;
}

void write_run_report(const RunFolder& folder, const RunDescription& run, const Status& status,
                      const std::vector<Event>& events, std::vector<report::Section> sections) {
  report::RunPage page;
  page.name = folder.path().filename().string();
  page.subtitle = model_text(run, folder.values());
  page.status = status_of(status);
  page.status_detail = status.message;
  if (status.running) page.written = "written " + utc_text(unix_time(), "%Y-%m-%d %H:%M:%S UTC");
  add_facts(run, status, events, page);
  add_part_facts(folder, page);
  Environment machine = environment();
  machine.processes = folder.processes();
  add_machine_facts(folder, machine, events, page);
  add_metric_charts(run, events, page);
  add_machine_charts(run, events, page);
  page.sections = std::move(sections);
  if (const std::optional<StepProfile> profile = read_profile(folder.profile()))
    page.sections.push_back(profile_section(*profile));
  add_paper(folder.values(), page);
  page.recipe = folder.recipe_text().value_or("");
  for (const std::string& key : folder.set_keys())
    if (const auto value = folder.values().find(key); value != folder.values().end())
      page.settings += key + " = " + value->second + "\n";
  page.commands = folder.command_text();
  for (const EnvironmentEntry& entry : entries(machine)) page.environment.emplace_back(entry.key, entry.text());
  page.footer = "Cachet " + cachet_version();
  io::write_file_atomically(folder.report(), report::render_html(report::run_page(page)));
}

}  // namespace cachet::train
