#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

#include "app/command.h"
#include "app/recipe_argument.h"
#include "cachet/analysis/benchmark.h"
#include "cachet/analysis/model_summary.h"
#include "cachet/analysis/observations.h"
#include "cachet/io/atomic_file.h"
#include "cachet/io/read_file.h"
#include "cachet/report/format.h"
#include "cachet/report/comparison.h"
#include "cachet/report/html.h"
#include "cachet/report/progress.h"
#include "cachet/report/text_table.h"
#include "cachet/tasks/compared_run.h"
#include "cachet/tasks/logistic_regression.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/run_folder.h"
#include "cachet/train/trainer.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

struct DemoArguments {
  std::string folder, runs = "runs";
  bool smoke = false;
};

/// Wall-clock time since the last call.
class PhaseClock {
 public:
  double lap() {
    const auto now = Clock::now(), start = std::exchange(start_, now);
    return std::chrono::duration<double>(now - start).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// One model of the demo, trained and measured.
struct DemoRun {
  fs::path folder;
  train::Outcome outcome;
  std::vector<report::Cell> cells;  // of its row
  double training_seconds = 0, measuring_seconds = 0;
};

const std::vector<report::Column>& demo_columns() {
  using report::Alignment;
  using report::Better;
  static const std::vector<report::Column> columns{{"model"},
                                                   {"top-1", Alignment::right, Better::higher},
                                                   {"parameters", Alignment::right},
                                                   {"MACs", Alignment::right},
                                                   {"training images/s", Alignment::right},
                                                   {"inference images/s", Alignment::right},
                                                   {"UN steps on window", Alignment::right},
                                                   {"UN steps filtered", Alignment::right}};
  return columns;
}

report::Cell accuracy_cell(double top1, double error) {
  return {report::format_percent(top1) + " ± " + report::format_percent(error), top1};
}

report::Cell count_cell(double count) { return {report::format_count(count), count}; }

/// Means over the norms of a model: each counts its own steps.
std::vector<report::Cell> window_cells(const torch::nn::Module& model) {
  const auto layers = analysis::unified_norm_steps(model);
  if (layers.empty()) return {"", ""};
  double steps = 0, on_window = 0, filtered = 0;
  for (const auto& layer : layers) {
    steps += static_cast<double>(layer.steps);
    on_window += static_cast<double>(layer.on_window);
    filtered += static_cast<double>(layer.filtered);
  }
  const auto of = [&](double part) {
    return report::format_percent(steps > 0 ? part / steps : 0) + " of " +
           report::format_number(steps / static_cast<double>(layers.size()));
  };
  return {of(on_window), of(filtered)};
}

double inference_rate(models::ImageClassifier& model, const train::TrainOptions& training, double seconds) {
  analysis::BenchmarkOptions options;
  options.batch = training.batch_size;
  options.seconds = seconds;
  if (training.precision == train::Precision::bfloat16) options.precision = analysis::BenchmarkPrecision::bfloat16;
  return analysis::benchmark(model, options).samples_per_second;
}

DemoRun run_model(const std::string& recipe, const fs::path& folder, bool smoke) {
  std::vector<std::string> settings;
  if (smoke) settings = {"train.limit=\"4 steps\"", "data.limit=400"};
  const fs::path file = find_recipe(recipe);
  config::Document document = read_document(file, settings);
  const tasks::RecipePlan plan = tasks::read_recipe(document);
  PhaseClock clock;
  const auto task = plan.build();
  DemoRun run{folder / file.stem(), {}, {}};
  auto run_folder =
      train::RunFolder::create(run.folder, io::read_text_file(file, 1 << 20), document, {"cachet", "demo"});
  report::Progress progress;
  progress.log("training " + file.stem().string() + " in " + run.folder.string());
  run.outcome = train::Trainer(*task, plan.training, run_folder, &progress).run();
  progress.finish();
  run.training_seconds = clock.lap();
  if (run.outcome.exit_code() != kDone) return run;

  const auto summary = analysis::summarize(plan.images.model, analysis::Pass::inference, /*depth=*/0);
  const double samples =
      static_cast<double>(run.outcome.step * plan.training.train.batch_size * plan.training.train.accumulate);
  const auto windows = window_cells(task->model());
  run.cells = {
      file.stem().string(),
      accuracy_cell(run.outcome.metrics.find("top1").value_or(0), run.outcome.metrics.find("top1_stderr").value_or(0)),
      count_cell(static_cast<double>(summary.parameters)),
      count_cell(static_cast<double>(summary.macs.linear_convolution)), count_cell(samples / run.outcome.seconds)};
  run.cells.push_back(count_cell(inference_rate(task->classifier(), plan.training.train, smoke ? 0.1 : 3)));
  run.cells.insert(run.cells.end(), windows.begin(), windows.end());
  run.measuring_seconds = clock.lap();
  return run;
}

std::vector<report::Cell> linear_row(const tasks::LogisticRegression& linear) {
  const auto weights = static_cast<double>(linear.parameters);
  return {"logistic regression", accuracy_cell(linear.top1, linear.top1_stderr), count_cell(weights),
          count_cell(weights), count_cell(static_cast<double>(linear.images_seen) / linear.seconds)};
}

int run_demo(const DemoArguments& arguments) {
  const fs::path folder =
      arguments.folder.empty() ? train::new_run_path(arguments.runs, "demo") : fs::path(arguments.folder);
  report::Table table{"", demo_columns(), {}, ""};
  report::Table phases{"", {{"phase"}, {"time", report::Alignment::right}}, {}, ""};
  const auto add_phase = [&](const std::string& name, double seconds) {
    phases.rows.push_back({name, {report::format_duration(seconds), seconds}});
  };

  PhaseClock clock;
  config::Document document = read_document(find_recipe("demo_plain"), {});
  const tasks::RecipePlan plan = tasks::read_recipe(document);
  const auto task = plan.build();
  table.rows.push_back(
      linear_row(tasks::logistic_regression(*task->training_images(), task->test_images(), task->normalization())));
  add_phase("logistic regression", clock.lap());

  std::vector<report::ComparedRun> compared;
  for (const char* recipe : {"demo_plain", "demo_cached"}) {
    const DemoRun run = run_model(recipe, folder, arguments.smoke);
    if (run.outcome.exit_code() != kDone) {
      std::cerr << run.outcome.message << '\n';
      return run.outcome.exit_code();
    }
    table.rows.push_back(run.cells);
    add_phase(std::string("training ") + recipe, run.training_seconds);
    add_phase(std::string("measuring ") + recipe, run.measuring_seconds);
    compared.push_back(tasks::compared_run(run.folder).shown);
  }
  report::Page page = report::comparison_page(compared, "A vision transformer and its cached twin");
  page.sections.insert(page.sections.begin(), report::Section{"Results", {table, phases}, ""});
  const fs::path file = folder / "report.html";
  io::write_file_atomically(file, report::render_html(page));
  std::cout << report::text_table(table) << '\n' << report::text_table(phases) << "\nreport: " << file.string() << '\n';
  return kDone;
}

Action declare_demo(CLI::App& app) {
  auto arguments = std::make_shared<DemoArguments>();
  app.add_flag("--smoke", arguments->smoke, "A few steps of everything, to see that it works");
  app.add_option("--run", arguments->folder, "Folder to make for the two runs")->type_name("DIR");
  app.add_option("--runs", arguments->runs, "Where such a folder is made otherwise")
      ->type_name("DIR")
      ->capture_default_str();
  return [arguments] { return run_demo(*arguments); };
}

const Registration registered_demo({Topic::runs,
                                    "demo",
                                    "Train a plain vision transformer and its cached twin, and compare them",
                                    {"cachet demo", "cachet demo --smoke --run demo-run"},
                                    declare_demo});

}  // namespace
}  // namespace cachet::app
