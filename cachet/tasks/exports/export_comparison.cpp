#include "cachet/tasks/exports/export_comparison.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "cachet/deploy/classifier_inputs.h"
#include "cachet/io/error.h"
#include "cachet/models/language/sequence_classifier.h"
#include "cachet/models/vision/image_classifier.h"
#include "cachet/report/format.h"
#include "cachet/tasks/classification/classification_task.h"
#include "cachet/tasks/evaluated_run.h"
#include "cachet/tasks/exports/rewritten_export.h"
#include "cachet/train/runtime.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kSamples = 64;
constexpr int64_t kMadeUpBatch = 16;
constexpr const char* kTop1 = "top1";

struct Answers {
  at::Tensor scores;  // (N, classes)
  double top1 = 0;
  train::SampleWords words;  // of the split that was compared
};

/// Of the model and its export, one behind the other.
class ComparedSides {
 public:
  explicit ComparedSides(const ExportProgress& progress) : progress_(progress) {}

  void show(int64_t done, int64_t of_side) { progress_(ExportPart::comparison, before_ + done, 2 * of_side); }
  void next_side(int64_t of_side) { before_ = of_side; }

 private:
  const ExportProgress& progress_;
  int64_t before_ = 0;
};

Answers answers_of(const SavedRun& saved, ComparedSides& sides) {
  const auto task = load(saved, Splits::test);
  std::vector<at::Tensor> scores;
  int64_t right = 0, count = 0;
  dynamic_cast<ClassificationTask&>(*task).classify_in_order(0, [&](const ClassifiedBatch& batch) {
    scores.push_back(batch.logits);
    right += (batch.logits.argmax(1) == batch.labels).sum().item<int64_t>();
    count += batch.labels.size(0);
    sides.show(count, task->evaluation_size());
  });
  sides.next_side(task->evaluation_size());
  return {at::cat(scores), static_cast<double>(right) / static_cast<double>(count), task->sample_words()};
}

std::vector<at::Tensor> made_up(const models::Model& model) {
  if (const auto* images = dynamic_cast<const models::ImageClassifier*>(&model)) {
    const models::ImageShape image = images->image_shape();
    return {at::randn({kMadeUpBatch, image.channels, image.height, image.width})};
  }
  const models::SequenceShape shape = dynamic_cast<const models::SequenceClassifier&>(model).sequence_shape();
  std::vector<at::Tensor> inputs;
  for (int64_t i = 0; i < (shape.pairs ? 2 : 1); ++i) {
    inputs.push_back(at::randint(shape.vocabulary, {kMadeUpBatch, shape.max_length}, at::kLong));
    // From whole sequences down to a token.
    const at::Tensor lengths = shape.max_length - at::arange(kMadeUpBatch) * (shape.max_length - 1) / kMadeUpBatch;
    inputs.push_back((at::arange(shape.max_length).unsqueeze(0) >= lengths.unsqueeze(1)).contiguous());
  }
  return inputs;
}

deploy::Equality compare_on_noise(const SavedRun& before, const SavedRun& after, const deploy::Tolerance& tolerance) {
  const auto first = load(before, Splits::given), second = load(after, Splits::given);
  auto &model = dynamic_cast<models::Model&>(first->model()), &exported = dynamic_cast<models::Model&>(second->model());
  std::vector<at::Tensor> expected, actual;
  for (int64_t done = 0; done < kSamples; done += kMadeUpBatch) {
    const std::vector<at::Tensor> inputs = made_up(model);
    expected.push_back(deploy::classify(model, inputs));
    actual.push_back(deploy::classify(exported, inputs));
  }
  return deploy::equality_of(at::cat(expected), at::cat(actual), tolerance);
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
  const train::PrecisionScope precision(
      saved.exported ? saved.plan.training.train.precision : train::Precision::float32, at::kCPU);
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
  check.equality = deploy::equality_of(expected.compared.scores, actual.compared.scores, {check.tolerance.scores});
  check.samples = expected.compared.samples;
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
      return {2e-2, 0.002};
    case runtime::Precision::int8:
      return {std::numeric_limits<double>::infinity(), 0.01};  // 8 bits change scores; what counts is whom they choose
  }
  return {1e-4, 1};
}

bool ExportCheck::holds() const {
  if (!equality.holds({tolerance.scores})) return false;
  // Accuracies and precisions are shares of 1, perplexities and BLEU are not.
  const double whole = std::max(1.0, std::abs(metric_before));
  return !has_metric || std::abs(metric_after - metric_before) <= tolerance.metric * whole;
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
    throw io::Error(*absent + "; without --check the export is compared on made-up inputs");
  if (dynamic_cast<const TakesRewrittenModel*>(found.plan.task.get()) != nullptr) {
    compare_rewritten(found, open_to_evaluate(folder, source.settings_of_export()), real, options.check_all, sides,
                      check);
    return check;
  }
  const bool check_all = options.check_all || options.precision == runtime::Precision::int8;
  const auto limit = real && !check_all ? std::optional(kSamples) : std::nullopt;
  const SavedRun before = open_to_evaluate(source.path, source.settings, limit),
                 after = open_to_evaluate(folder, source.settings_of_export(), limit);
  if (!real) {
    check.equality = compare_on_noise(before, after, {check.tolerance.scores});
    check.samples = std::to_string(check.equality.samples) + " made-up inputs, none of them real";
    return check;
  }
  const Answers expected = answers_of(before, sides), actual = answers_of(after, sides);
  check.equality = deploy::equality_of(expected.scores, actual.scores, {check.tolerance.scores});
  check.samples = compared_samples(std::to_string(check.equality.samples) + " ", expected.words, /*real=*/true);
  check.has_metric = check_all;
  check.metric_before = expected.top1;
  check.metric_after = actual.top1;
  return check;
}

std::string to_text(const ExportCheck& check) {
  std::string text = "on " + check.samples + ": " + deploy::to_text(check.equality);
  if (!check.has_metric) return text;
  if (check.metric != kTop1)
    return text + "; " + check.metric + " " + report::format_number(check.metric_after, 5) + " instead of " +
           report::format_number(check.metric_before, 5);
  return text + "; accuracy " + report::format_percent(check.metric_after, 2) + " instead of " +
         report::format_percent(check.metric_before, 2);
}

}  // namespace cachet::tasks
