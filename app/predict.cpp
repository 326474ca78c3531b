#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "app/command.h"
#include "app/given_samples.h"
#include "app/recipe_argument.h"
#include "cachet/io/error.h"
#include "cachet/report/program_name.h"
#include "cachet/tasks/records.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/runtime.h"

namespace cachet::app {
namespace {

struct PredictArguments {
  SavedRunArgument model;
  std::string output;
  std::vector<std::string> samples;  // names of image files, or texts
  std::string lines;                 // a file of such
  int64_t top = 5;

  bool gives_samples() const { return !samples.empty() || !lines.empty(); }
};

/// Lines to a file that grows, or to standard output.
class RecordLines {
 public:
  explicit RecordLines(const std::string& path) : path_(path) {
    if (path.empty()) return;
    done_ = tasks::resume_records(path);
    file_.open(path, std::ios::app | std::ios::binary);
  }

  int64_t done() const { return done_; }

  void write(const std::string& line) {
    std::ostream& out = path_.empty() ? std::cout : file_;
    if (!(out << line << std::flush))
      throw std::runtime_error((path_.empty() ? "standard output" : path_) + ": cannot be written");
  }

 private:
  std::string path_;
  std::ofstream file_;
  int64_t done_ = 0;
};

/// A file's name where a text should be is a text too, but hardly what was meant.
void warn_of_files(const std::vector<std::string>& texts) {
  std::error_code error;
  for (const std::string& text : texts)
    if (std::filesystem::is_regular_file(text, error))
      std::cerr << io::in_quotes(text) << " is classified as a text; for the lines of that file: --lines " << text
                << '\n';
}

tasks::NextSample given_samples(const PredictArguments& arguments, tasks::SampleForm form) {
  if (!arguments.lines.empty()) return samples_of_lines(arguments.lines);
  if (form == tasks::SampleForm::text) warn_of_files(arguments.samples);
  return samples_of_arguments(arguments.samples, form);
}

/// The interface that a task must have for what was asked. Throws UsageError that says what it cannot do.
template <class Ability>
Ability& ability_of(tasks::Task& task, const char* what) {
  auto* ability = dynamic_cast<Ability*>(&task);
  if (ability == nullptr)
    throw UsageError("a task of kind '" + task.profile().kind + "' cannot " + what + "; `" + report::program_name() +
                     " eval` measures it");
  return *ability;
}

void predict_given(tasks::Task& task, const PredictArguments& arguments, RecordLines& lines) {
  auto& answers = ability_of<tasks::AnswersGivenSamples>(task, "answer samples that are given");
  const tasks::AnswerOptions options{arguments.top};
  tasks::for_each_given(
      given_samples(arguments, answers.sample_form()), lines.done(),
      [&](const std::string& sample, int64_t index) { lines.write(answers.answer_given(sample, index, options)); });
  for (const std::string& note : answers.notes_on_given()) std::cerr << note << '\n';
}

void predict_evaluation(tasks::Task& task, const PredictArguments& arguments, RecordLines& lines) {
  auto& answers = ability_of<tasks::AnswersEvaluationSamples>(task, "answer its evaluation data one by one");
  if (lines.done() < task.evaluation_size())
    answers.answer_evaluation(lines.done(), {arguments.top}, [&](const tasks::Record& record) { lines.write(record); });
}

int run_predict(const PredictArguments& arguments) {
  if (!arguments.samples.empty() && !arguments.lines.empty())
    throw UsageError("samples stand on the command line or in the file of --lines, not in both");
  const tasks::SavedRun saved = tasks::open_saved_run(arguments.model.path, arguments.model.all_settings());
  if (!arguments.gives_samples() || !arguments.model.data.empty()) require_data(saved, arguments.model);
  RecordLines lines(arguments.output);
  const auto task =
      load(saved, arguments.model, arguments.gives_samples() ? tasks::Splits::given : tasks::Splits::test);
  const train::PrecisionScope precision(saved.plan.training.train.precision, train::device_of(task->model()).type());
  if (const int64_t done = lines.done(); done > 0)
    std::cerr << arguments.output << " holds " << done
              << (arguments.gives_samples() ? "" : " of " + std::to_string(task->evaluation_size()))
              << (done == 1 ? " prediction" : " predictions") << "; going on\n";
  if (arguments.gives_samples())
    predict_given(*task, arguments, lines);
  else
    predict_evaluation(*task, arguments, lines);
  return kDone;
}

Action declare_predict(CLI::App& app) {
  auto arguments = std::make_shared<PredictArguments>();
  add_saved_run(app, arguments->model);
  app.add_option("SAMPLES", arguments->samples,
                 "JPEG or PNG files, or texts (two with a tab between them for a model of pairs), instead of the test "
                 "split")
      ->type_name("");
  app.add_option("--lines", arguments->lines, "A file with a sample a line; - is standard input")->type_name("FILE");
  app.add_option("--top", arguments->top, "Classes to name for each sample (5)")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->type_name("K");
  app.add_option("-o,--output", arguments->output, "A file of JSON lines; what it holds already is not done again")
      ->type_name("FILE");
  return [arguments] {
    for (std::string& sample : arguments->samples) sample = whole_text(std::move(sample));
    return run_predict(*arguments);
  };
}

const Registration registered_predict({Topic::runs,
                                       "predict",
                                       "Classify samples with a trained model, a JSON line each",
                                       {"cachet predict my-run -o predictions.jsonl --top 3",
                                        "cachet predict my-run boot.png bag.jpg",
                                        "cachet predict my-text-run 'A film to forget.' --top 2"},
                                       declare_predict,
                                       /*takes_texts=*/true});

}  // namespace
}  // namespace cachet::app
