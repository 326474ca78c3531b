#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>

#include "app/arguments/common_arguments.h"
#include "app/arguments/number_option.h"
#include "app/arguments/recipe_argument.h"
#include "app/commands/command.h"
#include "app/output/json.h"
#include "app/output/output.h"
#include "app/output/text_output.h"
#include "cachet/analysis/statistics/normality.h"
#include "cachet/report/page/html.h"
#include "cachet/report/text/progress.h"
#include "cachet/report/text/text_table.h"
#include "cachet/tasks/analyses/analysis.h"
#include "cachet/tasks/analyses/saved_results.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

struct AnalyzeArguments {
  std::vector<std::string> runs, settings;
  std::string what, data, device = "auto", progress = "auto";
  tasks::AnalysisOptions options;
  OutputArgument output;
  bool json = false, wide = false;
};

/// A measurement that was made, or why it was not.
struct Measured {
  tasks::AnalysisJob job;
  tasks::SavedResult result;
};
struct MeasuredAnalysis {
  const tasks::Analysis* analysis = nullptr;
  std::vector<Measured> measured{};

  bool has_values() const {
    return std::ranges::any_of(measured, [](const Measured& each) { return each.result.left_out.empty(); });
  }
};

/// The last part of each path, or the path where two have the same.
std::vector<std::string> names_of(const std::vector<std::string>& paths) {
  const auto last = [](const std::string& path) {
    const fs::path clean = fs::path(path).lexically_normal();
    return (clean.has_filename() ? clean.filename() : clean.parent_path().filename()).string();
  };
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    const auto same = std::ranges::count_if(paths, [&](const std::string& other) { return last(other) == last(path); });
    names.push_back(same == 1 ? last(path) : path);
  }
  return names;
}

void check(const AnalyzeArguments& arguments) {
  if (arguments.options.samples < 1)
    throw UsageError("--samples must be at least 1, not " + std::to_string(arguments.options.samples));
  if (arguments.options.steps < analysis::kMinForNormality)
    throw UsageError("--steps " + std::to_string(arguments.options.steps) +
                     " is too small: the test of normality needs at least " +
                     std::to_string(analysis::kMinForNormality) + " steps, and is accurate from " +
                     std::to_string(analysis::kEnoughForNormality) + " steps on");
  const std::set<std::string> different(arguments.runs.begin(), arguments.runs.end());
  if (different.size() != arguments.runs.size()) throw UsageError("the same run is given twice");
}

std::vector<const tasks::Analysis*> chosen_analyses(const AnalyzeArguments& arguments) {
  try {
    return tasks::analyses_named(arguments.what);
  } catch (const std::invalid_argument& unknown) {
    throw UsageError(unknown.what());
  }
}

std::vector<std::unique_ptr<tasks::AnalysedRun>> opened_runs(const AnalyzeArguments& arguments) {
  const c10::Device device = device_named(arguments.device);
  std::vector<SavedRunArgument> runs;
  tasks::AnalysisOptions options = arguments.options;
  constexpr int64_t kMinBatch = 4;
  for (const std::string& path : arguments.runs) {
    runs.push_back({path, arguments.data, arguments.device, arguments.settings});
    const tasks::SavedRun saved = tasks::open_saved_run(path, runs.back().all_settings());
    if (!saved.exported) require_data(saved, runs.back());
    options.batch = std::min(options.batch, std::max(kMinBatch, saved.plan.training.train.batch_size));
  }
  options.batch = std::min(options.batch, options.samples);
  std::vector<std::unique_ptr<tasks::AnalysedRun>> opened;
  const std::vector<std::string> names = names_of(arguments.runs);
  for (size_t i = 0; i < runs.size(); ++i)
    opened.push_back(
        std::make_unique<tasks::AnalysedRun>(names[i], runs[i].path, runs[i].all_settings(), options, device));
  return opened;
}

/// The work of all jobs, in samples that pass through a model. What the folder holds is not measured and takes no time.
class WorkLeft {
 public:
  explicit WorkLeft(double all) : left_(all), all_(all) {}

  void begin(double work) {
    work_ = work;
    begin_ = std::chrono::steady_clock::now();
    was_measured_ = false;
  }
  /// Shows how much of the job is done; the time left of all jobs, if it can be known.
  std::optional<double> seconds(double share) {
    was_measured_ = true;
    share_ = std::clamp(share, 0.0, 1.0);
    const double done = measured_ + share_ * work_;
    if (done <= 0) return std::nullopt;
    return (left_ - share_ * work_) * (seconds_ + passed()) / done;
  }
  double share_done() const { return all_ > 0 ? (all_ - left_ + share_ * work_) / all_ : 1; }
  void end() {
    if (was_measured_) {
      measured_ += work_;
      seconds_ += passed();
    }
    left_ -= work_;
    share_ = 0;
  }

 private:
  double passed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

  double left_, all_, work_ = 0, share_ = 0, measured_ = 0, seconds_ = 0;
  bool was_measured_ = false;
  std::chrono::steady_clock::time_point begin_{};
};

/// Does what the folder does not hold yet.
std::vector<MeasuredAnalysis> measured(const AnalyzeArguments& arguments,
                                       const std::vector<const tasks::Analysis*>& chosen,
                                       const std::vector<std::unique_ptr<tasks::AnalysedRun>>& runs) {
  const tasks::SavedResults kept(arguments.output.path);
  report::Progress progress({.mode = progress_mode(arguments.progress)});
  double all_work = 0;
  for (const tasks::Analysis* analysis : chosen)
    for (const tasks::AnalysisJob& job : analysis->jobs(runs.size())) all_work += analysis->passes(*runs[job.run]);
  WorkLeft work(all_work);
  std::vector<MeasuredAnalysis> all;
  for (const tasks::Analysis* analysis : chosen) {
    MeasuredAnalysis& one = all.emplace_back(MeasuredAnalysis{analysis});
    for (const tasks::AnalysisJob& job : analysis->jobs(runs.size())) {
      tasks::AnalysedRun& run = *runs[job.run];
      tasks::AnalysedRun* beside = job.beside ? runs[*job.beside].get() : nullptr;
      const auto show = [&](int64_t step, int64_t steps) {
        report::ProgressState state;
        state.phase = std::string(analysis->word()) + " of " + run.name();
        state.step = step;
        state.steps = steps;
        state.seconds_left = work.seconds(static_cast<double>(step) / static_cast<double>(std::max<int64_t>(1, steps)));
        state.run_done = work.share_done();
        progress.update(state);
      };
      work.begin(analysis->passes(run));
      one.measured.push_back({job, tasks::measured_or_kept(*analysis, run, beside, kept, show)});
      work.end();
    }
  }
  return all;
}

/// Throws UsageError where nothing was found of what somebody asked for by name.
std::vector<std::string> left_out(const AnalyzeArguments& arguments, const std::vector<MeasuredAnalysis>& all,
                                  const std::vector<std::unique_ptr<tasks::AnalysedRun>>& runs) {
  std::vector<std::string> lines;
  for (const MeasuredAnalysis& one : all)
    for (const Measured& each : one.measured) {
      if (each.result.left_out.empty() || each.job.beside) continue;
      lines.push_back(std::string(one.analysis->word()) + ": " + runs[each.job.run]->name() + " " +
                      each.result.left_out);
      if (!arguments.what.empty() && !one.has_values()) throw UsageError(lines.back() + "; leave it out of --what");
    }
  for (const MeasuredAnalysis& one : all)
    for (const Measured& each : one.measured)
      if (each.job.beside && each.result.refused) {
        const std::string line = std::string(one.analysis->word()) + ": " + runs[each.job.run]->name() + " and " +
                                 runs[*each.job.beside]->name() + " " + each.result.left_out;
        if (!arguments.what.empty()) throw UsageError(line);
        lines.push_back(line);
      }
  return lines;
}

std::vector<report::Section> sections_of(const std::vector<MeasuredAnalysis>& all,
                                         const std::vector<std::unique_ptr<tasks::AnalysedRun>>& runs) {
  std::vector<report::Section> sections;
  for (const MeasuredAnalysis& one : all) {
    std::vector<tasks::NamedResult> results;
    for (const Measured& each : one.measured)
      if (each.result.left_out.empty())
        results.push_back({runs[each.job.run]->name(), each.job.beside ? runs[*each.job.beside]->name() : "",
                           each.result.values, each.result.file});
    if (!results.empty()) sections.push_back(one.analysis->section(results));
  }
  return sections;
}

nlohmann::ordered_json to_json(const std::vector<MeasuredAnalysis>& all,
                               const std::vector<std::unique_ptr<tasks::AnalysedRun>>& runs,
                               const std::vector<std::string>& left_out) {
  using nlohmann::ordered_json;
  const tasks::AnalysisOptions& options = runs.front()->options();
  ordered_json json{{"schema", kSchema},      {"runs", ordered_json::array()},      {"samples", options.samples},
                    {"steps", options.steps}, {"analyses", ordered_json::object()}, {"left_out", left_out}};
  for (const auto& run : runs) {
    const std::optional<int64_t> samples = run->samples();
    json["runs"].push_back({{"name", run->name()},
                            {"checkpoint", run->saved().checkpoint.string()},
                            {"samples", samples ? ordered_json(*samples) : ordered_json(nullptr)},
                            {"seed", run->seed()}});
  }
  for (const MeasuredAnalysis& one : all) {
    ordered_json& results = json["analyses"][std::string(one.analysis->word())] = ordered_json::array();
    for (const Measured& each : one.measured) {
      if (!each.result.left_out.empty()) continue;
      ordered_json result{{"run", runs[each.job.run]->name()}};
      if (each.job.beside) result["beside"] = runs[*each.job.beside]->name();
      result.update(ordered_json::parse(each.result.values));
      results.push_back(std::move(result));
    }
  }
  return json;
}

/// " (256 evaluation samples of 10000, drawn by seed 0)"; empty if the run was not evaluated.
std::string samples_text(const tasks::AnalysedRun& run) {
  const std::string text = run.samples_text();
  return text.empty() ? text : " (" + text + ")";
}

void write_page(const AnalyzeArguments& arguments, std::vector<report::Section> sections,
                const std::vector<std::unique_ptr<tasks::AnalysedRun>>& runs, const std::vector<std::string>& left_out,
                const std::string& json) {
  report::Page page;
  page.title = "Analysis";
  for (const auto& run : runs)
    page.subtitle += (page.subtitle.empty() ? "" : ", ") + run->saved().checkpoint.string() + samples_text(*run);
  page.source = "cachet analyze";
  page.sections = std::move(sections);
  if (!left_out.empty()) {
    std::string note;
    for (const std::string& line : left_out) note += line + ". ";
    page.sections.push_back({"Left out", {}, note});
  }
  const fs::path folder = arguments.output.path;
  tasks::write_analysis_file(folder / "analysis.html", report::render_html(page));
  tasks::write_analysis_file(folder / "analysis.json", json);
}

int run_analyze(const AnalyzeArguments& arguments) {
  check(arguments);
  const std::vector<const tasks::Analysis*> chosen = chosen_analyses(arguments);
  if (!arguments.output.path.empty()) {
    // The names of the existing results are those of their runs.
    require_folder_output(arguments.output,
                          {{}, {arguments.runs.begin(), arguments.runs.end()}, [](const auto&) { return true; }},
                          tasks::is_analysis_folder);
  }
  const bool replays = std::ranges::any_of(
      chosen, [](const tasks::Analysis* each) { return each->effort() == tasks::AnalysisEffort::steps; });
  if (replays && arguments.options.steps < analysis::kEnoughForNormality)
    std::cerr << "the test of normality is inaccurate with only " << arguments.options.steps
              << " steps; set --steps to at least " << analysis::kEnoughForNormality << '\n';
  const auto runs = opened_runs(arguments);
  std::optional<io::FolderLock> lock;
  if (!arguments.output.path.empty()) lock = locked_output_folder(arguments.output.path);
  if (arguments.output.overwrite) tasks::empty_analysis_folder(arguments.output.path);  // which comes with -o alone
  const std::vector<MeasuredAnalysis> all = measured(arguments, chosen, runs);
  const std::vector<std::string> missing = left_out(arguments, all, runs);
  const std::string json = json_text(to_json(all, runs, missing));
  std::vector<report::Section> sections = sections_of(all, runs);
  if (arguments.json)
    std::cout << json;
  else if (arguments.output.path.empty()) {
    for (const auto& run : runs) std::cout << run->name() << samples_text(*run) << '\n';
    std::cout << '\n';
    for (const report::Section& section : sections) {
      std::cout << section.title << "\n\n";
      for (const report::Block& block : section.blocks)
        if (const auto* table = std::get_if<report::Table>(&block))
          std::cout << report::text_table(*table, printed_form(arguments.wide)) << '\n';
    }
  }
  if (!arguments.output.path.empty()) {
    write_page(arguments, std::move(sections), runs, missing, json);
    if (!arguments.json) std::cout << (fs::path(arguments.output.path) / "analysis.html").string() << '\n';
  }
  for (const std::string& line : missing) std::cerr << "left out: " << line << '\n';
  return kDone;
}

Action declare_analyze(CLI::App& app) {
  auto arguments = std::make_shared<AnalyzeArguments>();
  app.add_option("RUN", arguments->runs,
                 "Folders of runs, checkpoints or models. The first folder is compared with each other folder")
      ->required()
      ->type_name("");
  std::string words;
  for (const auto& analysis : tasks::analyses()) words += (words.empty() ? "" : ",") + std::string(analysis->word());
  app.add_option("--what", arguments->what,
                 "Analyses to run, separated by commas: " + words + " (default: all that apply to the models)")
      ->type_name("LIST");
  add_number(app, "--samples", arguments->options.samples, "Number of evaluation samples to analyze (default: 256)",
             {1})
      ->type_name("N");
  add_number(app, "--steps", arguments->options.steps,
             "Number of training steps to replay without updating the weights. The batch statistics of the norms in "
             "these steps are tested for normality (default: 150)",
             {1})
      ->type_name("P");
  app.add_option("--data", arguments->data, "Folder of the data; sets the key data.root")->type_name("FOLDER");
  add_recipe_settings(app, arguments->settings);
  add_device_option(app, arguments->device);
  add_output(app, arguments->output,
             "Folder for the page (analysis.html) and the numbers (analysis.json). Existing results of the same model "
             "with the same options are reused",
             "FOLDER");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  add_wide_option(app, arguments->wide);
  add_progress_option(app, arguments->progress);
  return [arguments] { return run_analyze(*arguments); };
}

const Registration registered_analyze({Topic::runs,
                                       "analyze",
                                       "Look inside trained models: caches, norms, kernels, layers",
                                       {"cachet analyze my-run -o my-analysis",
                                        "cachet analyze my-run other-run --what similarity,interventions -o both",
                                        "cachet analyze my-run --what norms --steps 200 --json"},
                                       declare_analyze});

}  // namespace
}  // namespace cachet::app
