#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

#include "app/arguments/recipe_argument.h"
#include "app/commands/command.h"
#include "app/output/text_output.h"
#include "app/training/training_job.h"
#include "cachet/analysis/cost/benchmark.h"
#include "cachet/baselines/logistic_regression.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/report/format.h"
#include "cachet/report/page/comparison_page.h"
#include "cachet/report/page/html.h"
#include "cachet/report/text/progress.h"
#include "cachet/report/text/text_table.h"
#include "cachet/tasks/image_classification/image_classification.h"
#include "cachet/tasks/recipe.h"
#include "cachet/tasks/runs/run_comparison.h"
#include "cachet/tasks/runs/run_values.h"
#include "cachet/train/runs/run_folder.h"
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
  fs::path path;
  train::Outcome outcome;
  double images_per_second = 0;  // in inference
  double training_seconds = 0, measuring_seconds = 0;
};

double inference_rate(models::Model& model, const train::TrainOptions& training, double seconds) {
  analysis::BenchmarkOptions options;
  options.batch = training.batch_size;
  options.seconds = seconds;
  if (training.precision == train::Precision::bfloat16) options.precision = analysis::BenchmarkPrecision::bfloat16;
  return analysis::benchmark(model, options).samples_per_second;
}

struct DemoRecipe {
  fs::path file;
  config::Document document;
  tasks::RecipePlan plan;
};

/// One of the demo's recipes.
DemoRecipe read_demo(const std::string& name, const std::vector<std::string>& settings) {
  const fs::path file = find_recipe(name);
  config::Document document = read_document(file, settings);
  tasks::RecipePlan plan = tasks::read_recipe(document);
  return {file, std::move(document), std::move(plan)};
}

DemoRun run_model(const std::string& recipe, const fs::path& folder, bool smoke) {
  std::vector<std::string> settings;
  if (smoke) settings = {"train.limit=\"4 steps\"", "data.limit=400"};
  const auto [file, document, plan] = read_demo(recipe, settings);
  PhaseClock clock;
  const auto task = plan.build();
  DemoRun run;
  run.path = folder / file.stem();
  auto run_folder = train::RunFolder::create(run.path, written_recipe(file), document, command_words());
  report::Progress progress;
  progress.log("training " + file.stem().string() + " in " + run.path.string());
  run.outcome = train::Trainer(*task, plan.training, run_folder, &progress).run();
  progress.finish();
  run.training_seconds = clock.lap();
  if (run.outcome.exit_code() != kDone) return run;

  run.images_per_second =
      inference_rate(dynamic_cast<models::Model&>(task->model()), plan.training.train, smoke ? 0.1 : 3);
  run.measuring_seconds = clock.lap();
  return run;
}

report::ComparedRun linear_run(const baselines::LogisticRegression& linear) {
  const auto parameters = static_cast<double>(linear.parameters), macs = static_cast<double>(linear.macs);
  report::ComparedRun run;
  run.name = "logistic regression";
  tasks::RunValue top1 =
      tasks::metric_value(report::description_of(tasks::classification_metrics(), "top1"), linear.top1);
  top1.spread = linear.top1_stderr;
  run.metrics = {tasks::shown(top1),
                 {"parameters", {report::format_count(parameters), parameters}},
                 {"MACs (evaluation)", {report::format_count(macs), macs}},
                 {"attention MACs (evaluation)", {"0", 0}}};
  return run;
}

int run_demo(const DemoArguments& arguments) {
  const fs::path folder =
      arguments.folder.empty() ? train::new_run_path(arguments.runs, "demo") : fs::path(arguments.folder);
  report::Table phases{"Time", {{"phase"}, {"time", report::Alignment::right}}, {}, ""};
  const auto add_phase = [&](const std::string& name, double seconds) {
    phases.rows.push_back({name, {report::format_duration(seconds), seconds}});
  };

  PhaseClock clock;
  const auto task = read_demo("demo_plain", {}).plan.build();
  const auto& images = dynamic_cast<const tasks::ImageClassification&>(*task);
  const report::ComparedRun linear = linear_run(
      baselines::logistic_regression(*images.training_images(), images.test_images(), images.normalization()));
  add_phase("logistic regression", clock.lap());
  std::vector<fs::path> paths;
  std::vector<double> rates;
  for (const char* recipe : {"demo_plain", "demo_cached"}) {
    const DemoRun run = run_model(recipe, folder, arguments.smoke);
    if (run.outcome.exit_code() != kDone) {
      std::cerr << run.outcome.message << '\n';
      return run.outcome.exit_code();
    }
    add_phase(std::string("training ") + recipe, run.training_seconds);
    add_phase(std::string("measuring ") + recipe, run.measuring_seconds);
    paths.push_back(run.path);
    rates.push_back(run.images_per_second);
  }
  std::vector<report::ComparedRun> runs = tasks::compared(tasks::read_groups(paths).groups);
  for (size_t i = 0; i < runs.size(); ++i)
    runs[i].metrics.push_back(
        {"inference images/s", {report::format_number(rates[i], 3), rates[i]}, report::Better::higher});
  runs.push_back(linear);
  report::Page page = report::comparison_page(runs, "A vision transformer with and without a cache");
  page.sections.push_back({"Time", {phases}, ""});
  const fs::path file = folder / "report.html";
  io::write_file_atomically(file, report::render_html(page));
  const report::TextForm form = printed_form(/*wide=*/false, "the report");
  std::cout << report::text_table(report::results_table(runs), form) << '\n'
            << report::text_table(phases, form) << "\nreport: " << file.string() << '\n';
  return kDone;
}

Action declare_demo(CLI::App& app) {
  auto arguments = std::make_shared<DemoArguments>();
  app.add_flag("--smoke", arguments->smoke,
               "Run only a few steps of training and evaluation, as a test of the installation");
  app.add_option("--run", arguments->folder,
                 "Folder to create for the two runs, without and with a cache (default: a new folder in RUNS)")
      ->type_name("FOLDER");
  app.add_option("--runs", arguments->runs, "If --run is absent, create the new folder in RUNS (default: runs)")
      ->type_name("FOLDER");
  return [arguments] { return run_demo(*arguments); };
}

const Registration registered_demo({Topic::runs,
                                    "demo",
                                    "Train a vision transformer without and with a cache, and compare them",
                                    {"cachet demo", "cachet demo --smoke --run demo-run"},
                                    declare_demo});

}  // namespace
}  // namespace cachet::app
