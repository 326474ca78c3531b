#include "cachet/tasks/exports/export_comparison.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "cachet/deploy/classifier_inputs.h"
#include "cachet/io/error.h"
#include "cachet/io/files/new_folder.h"
#include "cachet/report/format.h"
#include "cachet/runtime/image_preparation.h"
#include "cachet/tasks/classification/classification_task.h"
#include "cachet/tasks/evaluated_run.h"
#include "cachet/tasks/exports/rewritten_export.h"
#include "cachet/tasks/exports/sent_inputs.h"
#include "cachet/train/inference/inference_scope.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kSamples = 256;      // drawn by data.subset_seed
constexpr size_t kSentSamples = 64;    // of these, what sent_inputs() is made of
constexpr int64_t kOddImageSide = 32;  // of a model that takes images of any size
constexpr const char* kTop1 = "top1";

/// Of the model and its export, one after the other.
class ComparedSides {
 public:
  explicit ComparedSides(const ExportProgress& progress) : progress_(progress) {}

  void show(int64_t done, int64_t of_side) { progress_(ExportPart::comparison, before_ + done, 2 * of_side); }
  void next_side(int64_t of_side) { before_ = of_side; }

 private:
  const ExportProgress& progress_;
  int64_t before_ = 0;
};

/// A classifier, as its evaluation and its users call it.
class ComparedClassifier {
 public:
  ComparedClassifier(const SavedRun& saved, Splits splits) : task_(load(saved, splits)) { task_->model().eval(); }

  ClassificationTask& task() { return dynamic_cast<ClassificationTask&>(*task_); }
  models::Model& model() { return dynamic_cast<models::Model&>(task_->model()); }

  /// Scores (N, classes) of the evaluation samples, in batches. Keeps some of the samples.
  at::Tensor answer_evaluation(ComparedSides& sides) {
    std::vector<at::Tensor> scores;
    int64_t right = 0, count = 0;
    task().classify_in_order(0, [&](const ClassifiedBatch& batch) {
      scores.push_back(batch.logits);
      right += (batch.logits.argmax(1) == batch.labels).sum().item<int64_t>();
      count += batch.labels.size(0);
      if (samples_.size() < kSentSamples)
        for (ClassifierInputs& sample : split_batch(batch.inputs)) samples_.push_back(std::move(sample));
      sides.show(count, task_->evaluation_size());
    });
    sides.next_side(task_->evaluation_size());
    top1_ = static_cast<double>(right) / static_cast<double>(count);
    return at::cat(scores);
  }
  at::Tensor answer(const std::vector<ClassifierInputs>& all) {
    std::vector<at::Tensor> scores;
    for (const ClassifierInputs& inputs : all) scores.push_back(deploy::classify(model(), inputs).to(at::kFloat));
    return at::cat(scores);
  }
  /// Image files, one by one, as `cachet predict` reads them.
  at::Tensor answer_files(const std::vector<std::filesystem::path>& files) {
    std::vector<at::Tensor> scores;
    for (const std::filesystem::path& file : files) {
      PreparedSamples one;
      one.push_back(task().prepare_given(file.string()));
      scores.push_back(task().classify_given(one));
    }
    return at::cat(scores);
  }

  const std::vector<ClassifierInputs>& samples() const { return samples_; }  // batches of one
  double top1() const { return top1_; }

 private:
  std::unique_ptr<Task> task_;
  std::vector<ClassifierInputs> samples_;
  double top1_ = 0;
};

/// Scores of the model and of its export for the same inputs, (N, classes) each.
struct BothScores {
  std::vector<at::Tensor> model, exported;

  void add(const at::Tensor& of_model, const at::Tensor& of_export) {
    model.push_back(of_model);
    exported.push_back(of_export);
  }
};

/// Image files as a program prepares them that has the export alone.
std::vector<ClassifierInputs> inputs_of_runtime(const std::vector<std::filesystem::path>& files,
                                                const runtime::ImagePreparation& image) {
  std::vector<ClassifierInputs> inputs;
  for (const std::filesystem::path& file : files)
    inputs.push_back(
        {at::tensor(runtime::prepare_file(file, image)).view({1, image.channels, image.height, image.width})});
  return inputs;
}

/// Compares image files, of a classifier that takes them: as `cachet predict` and as the runtime prepares them. Returns
/// how many.
size_t compare_files(ComparedClassifier& model, ComparedClassifier& exported, BothScores& scores) {
  if (model.task().sample_form() != SampleForm::image_file) return 0;
  const auto image = model.task().image_preparation();
  // Never finished: removed with all that it holds.
  const io::NewFolder folder(std::filesystem::temp_directory_path() / "cachet-odd-images");
  const auto files =
      write_odd_images(folder.path(), image ? image->height : kOddImageSide, image ? image->width : kOddImageSide);
  const at::Tensor expected = model.answer_files(files);
  scores.add(expected, exported.answer_files(files));
  if (image) scores.add(expected, exported.answer(inputs_of_runtime(files, *image)));
  return files.size();
}

/// Compares inputs as users send them: the batches of an evaluation are others.
void compare_sent(ComparedClassifier& model, ComparedClassifier& exported, const std::vector<ClassifierInputs>& samples,
                  ExportCheck& check) {
  const std::vector<ClassifierInputs> sent = sent_inputs(model.model(), samples);
  BothScores scores;
  scores.add(model.answer(sent), exported.answer(sent));
  const size_t files = compare_files(model, exported, scores);
  check.sent = deploy::equality_of(at::cat(scores.model), at::cat(scores.exported), check.tolerance.sent());
  check.sent_inputs = std::to_string(sent.size()) + " single inputs and small batches";
  if (files > 0) check.sent_inputs += " and " + std::to_string(files) + " image files";
}

// What is compared of a model, and, of all evaluation data, the metric that decides.
struct RewrittenAnswers {
  ComparedScores compared;
  std::string metric{};
  double value = 0;
};

RewrittenAnswers rewritten_answers_of(const SavedRun& saved, Splits splits, bool evaluate, ComparedSides& sides) {
  const auto task = load(saved, splits);
  // Of the run itself in float32, whatever it was trained in.
  const train::InferenceScope inference(
      task->model(), {.precision = saved.exported ? saved.plan.training.train.precision : train::Precision::float32});
  RewrittenAnswers answers{dynamic_cast<ExportsRewrittenModel&>(*task).compared_scores()};
  if (!evaluate) return answers;
  const report::MetricDescription* decides = report::deciding(task->profile().metrics);
  answers.metric = decides->name;
  int64_t all = 0;
  const auto show = [&](int64_t done, int64_t total) { sides.show(done, all = total); };
  for (const auto& [name, value] : task->evaluate(show))
    if (name == answers.metric) answers.value = value;
  sides.next_side(all);
  return answers;
}

void compare_rewritten(const SavedRun& before, const SavedRun& after, bool real, bool evaluate, ComparedSides& sides,
                       ExportCheck& check) {
  const Splits splits = real ? Splits::test : Splits::given;
  const RewrittenAnswers expected = rewritten_answers_of(before, splits, evaluate, sides),
                         actual = rewritten_answers_of(after, splits, evaluate, sides);
  check.equality = deploy::equality_of(expected.compared.scores, actual.compared.scores, check.tolerance.answers);
  check.samples = expected.compared.samples;
  check.words = expected.compared.words;
  check.has_metric = evaluate && !(std::isnan(expected.value) && std::isnan(actual.value));  // not measured
  check.metric = expected.metric;
  check.metric_before = expected.value;
  check.metric_after = actual.value;
}

}  // namespace

ExportTolerance export_tolerance(runtime::Precision precision) {
  // Of float32 the best class of a sample that leads clearly stays what it is: the accuracy needs no bound of its own.
  switch (precision) {
    case runtime::Precision::float32:
      break;
    case runtime::Precision::bfloat16:
      return {.answers = {0.2, 0.03}, .metric = 0.002};
    case runtime::Precision::int8:  // 8 bits change scores: the classes that they choose count
      return {.answers = {std::numeric_limits<double>::infinity(), 0.05}, .metric = 0.01};
  }
  return {.answers = {1e-3, 1}, .metric = 1};
}

std::vector<std::string> ExportCheck::broken_bounds() const {
  std::vector<std::string> broken = equality.broken_bounds(tolerance.answers, words);
  if (sent.samples > 0) {
    for (std::string& bound : sent.broken_bounds(tolerance.sent()))
      if (std::ranges::find(broken, bound) == broken.end()) broken.push_back(std::move(bound));
  }
  // Accuracies and precisions are fractions of 1, perplexities and BLEU are not.
  const double whole = std::max(1.0, std::abs(metric_before)), most = tolerance.metric * whole;
  if (has_metric && !(std::abs(metric_after - metric_before) <= most))
    broken.push_back((metric == kTop1 ? "accuracy" : metric) + " may change by at most " +
                     report::format_number(most, 3));
  return broken;
}

ExportCheck compare_export(const ExportSource& source, const ExportOptions& options,
                           const std::filesystem::path& folder, const ExportProgress& progress) {
  const at::NoGradGuard no_grad;
  ComparedSides sides(progress);
  ExportCheck check;
  check.tolerance = export_tolerance(options.precision);
  const SavedRun found = open_to_evaluate(source.path, source.settings);
  const auto absent = found.plan.task->absent_data();
  const bool real = !absent;
  if (absent && options.check_all)
    throw io::Error("--check needs the evaluation data; leave --check out to compare the export on random inputs: " +
                    *absent);
  if (dynamic_cast<const TakesRewrittenModel*>(found.plan.task.get()) != nullptr) {
    compare_rewritten(found, open_to_evaluate(folder, source.settings_of_export()), real, options.check_all, sides,
                      check);
    return check;
  }
  const bool check_all = options.check_all || options.precision == runtime::Precision::int8;
  const auto limit = real && !check_all ? std::optional(kSamples) : std::nullopt;
  const Splits splits = real ? Splits::test : Splits::given;
  ComparedClassifier model(open_to_evaluate(source.path, source.settings, limit), splits),
      exported(open_to_evaluate(folder, source.settings_of_export(), limit), splits);
  if (!real) {
    const std::vector<ClassifierInputs> samples = synthetic_samples(model.model(), kSamples);
    check.equality = deploy::equality_of(model.answer(samples), exported.answer(samples), check.tolerance.answers);
    check.samples = std::to_string(kSamples) + " random inputs, none of them from the data";
    compare_sent(model, exported, samples, check);
    return check;
  }
  const at::Tensor expected = model.answer_evaluation(sides), actual = exported.answer_evaluation(sides);
  check.equality = deploy::equality_of(expected, actual, check.tolerance.answers);
  check.samples = compared_samples("", check.equality.samples, model.task().sample_words(), /*real=*/true);
  compare_sent(model, exported, model.samples(), check);
  check.has_metric = check_all;
  check.metric_before = model.top1();
  check.metric_after = exported.top1();
  return check;
}

std::string to_text(const ExportCheck& check) {
  std::string text = "on " + check.samples + ": " + deploy::to_text(check.equality, check.words);
  if (check.sent.samples > 0) text += "; on " + check.sent_inputs + ": " + deploy::to_text(check.sent);
  if (!check.has_metric) return text;
  if (check.metric != kTop1)
    return text + "; " + check.metric + " " + report::format_number(check.metric_after, 5) + " instead of " +
           report::format_number(check.metric_before, 5);
  return text + "; accuracy " + report::format_percent(check.metric_after, 2) + " instead of " +
         report::format_percent(check.metric_before, 2);
}

}  // namespace cachet::tasks
