#include "cachet/train/step/training_step.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/device_reads.h"
#include "tests/support/played_processes.h"
#include "tests/support/thrown_message.h"

namespace cachet::train {
namespace {

/// A linear layer in float64, and a memory that each forward pass in training moves: an order-dependent state.
class StepModel : public torch::nn::Module {
 public:
  StepModel() {
    at::manual_seed(4);
    weight_ = register_parameter("weight", at::randn({2, 3}, at::kDouble));
    memory_ = register_buffer("memory", at::zeros({3}, at::kDouble));
  }

  at::Tensor forward(const at::Tensor& rows) {
    const at::NoGradGuard no_grad;
    memory_.mul_(0.5).add_(rows.mean(0));
    const at::AutoGradMode grad(true);
    return at::linear(rows, weight_);
  }

  at::Tensor weight_, memory_;
};

/// Squared errors of 12 rows, cut into micro-batches of any sizes. A row weighs as much as `row_weights` has: tokens
/// of a sentence, objects of an image.
struct StepTask : TrainingTask {
  std::vector<int64_t> sizes{12};
  std::vector<double> row_weights = std::vector<double>(12, 1);
  double penalty = 0;
  double spoil_loss = 1;     // factor of the last micro-batch's loss
  double weight_factor = 1;  // of the weight of each micro-batch
  std::shared_ptr<StepModel> step_model = std::make_shared<StepModel>();
  at::Tensor rows = at::randn({12, 3}, at::kDouble), targets = at::randn({12, 2}, at::kDouble);

  torch::nn::Module& model() override { return *step_model; }
  int64_t batches_per_epoch() const override { return static_cast<int64_t>(sizes.size()); }
  Metrics evaluate(const EvaluationProgress&) override { return {}; }
  int64_t evaluation_size() const override { return 0; }
  RunDescription describe() override {
    RunDescription run;
    run.metrics = {{"loss", "loss", report::ValueForm::fixed, report::Better::lower, /*decides=*/true}};
    return run;
  }

  struct Stream : TrainingBatches {
    explicit Stream(StepTask& owner) : task(owner) {}
    bool fetch() override { return ++number < static_cast<int64_t>(task.sizes.size()); }
    ForwardResult forward() override {
      const auto first = std::accumulate(task.sizes.begin(), task.sizes.begin() + number, int64_t{0});
      const int64_t size = task.sizes[static_cast<size_t>(number)];
      const at::Tensor rows = task.rows.narrow(0, first, size), targets = task.targets.narrow(0, first, size);
      const std::vector<double> weights(task.row_weights.begin() + first, task.row_weights.begin() + first + size);
      const at::Tensor errors = (task.step_model->forward(rows) - targets).square().sum(1);
      ForwardResult result;
      result.loss = (errors * at::tensor(weights, at::kDouble)).sum();
      if (number + 1 == static_cast<int64_t>(task.sizes.size())) result.loss = result.loss * task.spoil_loss;
      result.weight = std::accumulate(weights.begin(), weights.end(), 0.0) * task.weight_factor;
      if (task.penalty > 0) result.penalty = task.penalty * task.step_model->weight_.square().sum();
      result.samples = size;
      result.metrics.push_back({"rows", at::tensor(size), 1});
      return result;
    }
    StepTask& task;
    int64_t number = -1;
  };
  std::unique_ptr<TrainingBatches> training_batches(int64_t, int64_t) override {
    return std::make_unique<Stream>(*this);
  }
};

StepSummary take_step(StepTask& task, double clip_norm = 0,
                      std::shared_ptr<processes::ProcessGroup> processes = nullptr) {
  Options options;
  options.optimizer.kind = OptimizerOptions::Kind::sgd;
  options.optimizer.weight_decay = 0.01;
  options.train.clip_norm = clip_norm;
  TrainingStep step(task, options, std::move(processes));
  const auto batches = task.training_batches(0, 0);
  return step.run(*batches, task.batches_per_epoch(), {0.1});
}

double mean_of(const StepSummary& result, const std::string& name) { return means(result.sums).find(name).value(); }

// The bound on what is left of a different order of additions in float64: values of the size of one, a dozen of them.
constexpr double kRounding = 1e-12;

TEST(TrainingStep, CutsIntoMicroBatchesChangeNothing) {
  const std::vector<double> counts{1, 5, 2, 0, 7, 3, 3, 1, 9, 4, 2, 6};
  for (const bool weighted : {false, true}) {
    for (const double penalty : {0.0, 0.3}) {
      for (const double clip_norm : {0.0, 0.05}) {
        const auto run = [&](const std::vector<int64_t>& sizes, StepTask& task) {
          task.sizes = sizes;
          task.penalty = penalty;
          if (weighted) task.row_weights = counts;
          return take_step(task, clip_norm);
        };
        StepTask whole;
        const StepSummary expected = run({12}, whole);
        for (const std::vector<int64_t>& sizes :
             {std::vector<int64_t>{5, 7}, {1, 2, 9}, {3, 1, 8}, {11, 1}, {4, 4, 4}, {3, 3, 3, 3}}) {
          StepTask cut;
          const StepSummary result = run(sizes, cut);
          EXPECT_LT((cut.step_model->weight_ - whole.step_model->weight_).abs().max().item<double>(), kRounding);
          EXPECT_NEAR(result.gradient_norm, expected.gradient_norm, kRounding * expected.gradient_norm);
          EXPECT_NEAR(mean_of(result, "loss"), mean_of(expected, "loss"), kRounding * mean_of(expected, "loss"));
          EXPECT_EQ(result.samples, 12);
        }
      }
    }
  }
}

/// Squared errors as before, and absolute errors of some rows over the number of these in the whole step: losses of one
/// step with two divisors.
struct TwoDivisorsTask : StepTask {
  std::vector<double> counted{0, 0, 1, 0, 0, 0, 0, 3, 1, 0, 0, 2};
  std::vector<std::pair<int64_t, int64_t>> parts;  // rows of each micro-batch: the first, and how many

  struct Stream : TrainingBatches {
    explicit Stream(TwoDivisorsTask& owner) : task(owner) {}
    std::vector<double> counts_of(const std::pair<int64_t, int64_t>& part) const {
      const auto first = task.counted.begin() + part.first;
      return {first, first + part.second};
    }
    bool fetch_step(int64_t micro_batches) override {
      fetched = micro_batches;
      return micro_batches <= std::ssize(task.parts);
    }
    void count_step(const SumOverProcesses& sum) override {
      std::vector<double> totals{0, 0};
      for (int64_t i = 0; i < fetched; ++i) {
        const std::vector<double> counts = counts_of(task.parts[static_cast<size_t>(i)]);
        totals[0] += std::accumulate(counts.begin(), counts.end(), 0.0);
        totals[1] += static_cast<double>(counts.size());
      }
      sum(totals);
      scale = totals[0] > 0 ? totals[1] / totals[0] : 0;
    }
    bool fetch() override { return ++number < fetched; }
    ForwardResult forward() override {
      const std::pair<int64_t, int64_t>& part = task.parts[static_cast<size_t>(number)];
      const at::Tensor rows = task.rows.narrow(0, part.first, part.second),
                       errors = task.step_model->forward(rows) - task.targets.narrow(0, part.first, part.second);
      ForwardResult result;
      const at::Tensor counted = (errors.abs().sum(1) * at::tensor(counts_of(part), at::kDouble)).sum() * scale;
      result.loss = errors.square().sum() + counted;
      result.weight = static_cast<double>(part.second);
      result.metrics.push_back({"counted", counted.detach(), result.weight});
      return result;
    }
    TwoDivisorsTask& task;
    int64_t fetched = 0, number = -1;
    double scale = 0;
  };
  std::unique_ptr<TrainingBatches> training_batches(int64_t, int64_t) override {
    return std::make_unique<Stream>(*this);
  }
  int64_t batches_per_epoch() const override { return std::ssize(parts); }
};

TEST(TrainingStep, ADivisorThatIsCountedAheadIsTheWholeSteps) {
  TwoDivisorsTask whole;
  whole.parts = {{0, 12}};
  const StepSummary expected = take_step(whole);
  double absolute = 0;
  {
    StepTask fresh;  // the weights before the step
    const at::Tensor errors = (fresh.step_model->forward(whole.rows) - whole.targets).abs().sum(1);
    absolute = (errors * at::tensor(whole.counted, at::kDouble)).sum().item<double>() / 7;
  }
  EXPECT_NEAR(mean_of(expected, "counted"), absolute, kRounding);
  const auto expect_whole = [&](const TwoDivisorsTask& cut, const StepSummary& result) {
    EXPECT_LT((cut.step_model->weight_ - whole.step_model->weight_).abs().max().item<double>(), kRounding);
    EXPECT_NEAR(result.gradient_norm, expected.gradient_norm, kRounding * expected.gradient_norm);
    for (const char* name : {"loss", "counted"}) EXPECT_NEAR(mean_of(result, name), mean_of(expected, name), kRounding);
  };
  using Parts = std::vector<std::pair<int64_t, int64_t>>;
  for (const Parts& parts : {Parts{{0, 2}, {2, 10}}, {{0, 4}, {4, 4}, {8, 4}}, {{0, 1}, {1, 6}, {7, 5}}}) {
    TwoDivisorsTask cut;
    cut.parts = parts;
    expect_whole(cut, take_step(cut));
  }
  // Two processes of unequal parts; one has micro-batches without a row that counts.
  std::array<TwoDivisorsTask, 2> of_processes;
  of_processes[0].parts = {{0, 2}, {3, 4}};
  of_processes[1].parts = {{2, 1}, {7, 5}};
  test::play_well(2, [&](const std::shared_ptr<processes::ProcessGroup>& own) {
    TwoDivisorsTask& task = of_processes[static_cast<size_t>(own->rank())];
    expect_whole(task, take_step(task, /*clip_norm=*/0, own));
  });
}

TEST(TrainingStep, AStepThatHasFewerMicroBatchesEnds) {
  TwoDivisorsTask task;
  task.parts = {{0, 12}};
  Options options;
  TrainingStep step(task, options);
  const auto batches = task.training_batches(0, 0);
  EXPECT_EQ(test::thrown_message<std::runtime_error>([&] { step.run(*batches, 2, {0.1}); }),
            "the training data ended before the end of the epoch");
}

TEST(TrainingStep, ThePenaltyCountsOnceAStepAndStandsBesideTheLoss) {
  StepTask plain, with_penalty;
  plain.sizes = with_penalty.sizes = {2, 9, 1};
  with_penalty.penalty = 0.3;
  const at::Tensor before = plain.step_model->weight_.detach().clone();
  const StepSummary without = take_step(plain), with = take_step(with_penalty);
  const at::Tensor difference = with_penalty.step_model->weight_ - plain.step_model->weight_;
  // The gradient of 0.3·|w|² is 0.6·w; a first step of SGD at rate 0.1.
  EXPECT_LT((difference + 0.1 * 0.6 * before).abs().max().item<double>(), kRounding);
  EXPECT_EQ(mean_of(with, "loss"), mean_of(without, "loss"));
  EXPECT_NEAR(mean_of(with, "penalty"), 0.3 * before.square().sum().item<double>(), kRounding);
  EXPECT_EQ(means(without.sums).find("penalty"), std::nullopt);
  EXPECT_EQ(mean_of(with, "rows"), 4);
}

TEST(TrainingStep, MicroBatchesWithoutATargetCountForNothing) {
  StepTask whole, cut;
  whole.row_weights = cut.row_weights = {0, 0, 0, 1, 2, 1, 0, 0, 3, 1, 1, 2};
  whole.penalty = cut.penalty = 0.3;
  cut.sizes = {3, 3, 2, 4};  // the first and the third have no weight
  take_step(whole);
  const StepSummary result = take_step(cut);
  EXPECT_LT((cut.step_model->weight_ - whole.step_model->weight_).abs().max().item<double>(), kRounding);
  EXPECT_EQ(result.samples, 12);
}

TEST(TrainingStep, AStepWithoutATargetUpdatesNoParameter) {
  StepTask task;
  task.sizes = {6, 6};
  task.row_weights.assign(12, 0);
  task.penalty = 0.3;
  const at::Tensor before = task.step_model->weight_.detach().clone();
  const StepSummary result = take_step(task, /*clip_norm=*/1);
  EXPECT_TRUE(task.step_model->weight_.equal(before));
  EXPECT_NE(task.step_model->memory_.abs().sum().item<double>(), 0) << "forward passes count in the model's state";
  EXPECT_EQ(result.gradient_norm, 0);
  EXPECT_EQ(means(result.sums).find("loss"), std::nullopt);
}

TEST(TrainingStep, RefusesWeightsThatAreNone) {
  for (const double factor :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    StepTask task;
    task.weight_factor = factor;
    const at::Tensor before = task.step_model->weight_.detach().clone();
    EXPECT_THROW(take_step(task), std::logic_error);
    EXPECT_TRUE(task.step_model->weight_.equal(before));
  }
}

TEST(TrainingStep, EachMicroBatchIsOneUpdateOfTheModelsStateInOrder) {
  const auto memory_after = [](const std::vector<int64_t>& sizes) {
    StepTask task;
    task.sizes = sizes;
    take_step(task);
    return task.step_model->memory_;
  };
  StepTask task;
  at::Tensor expected = at::zeros({3}, at::kDouble);
  for (const auto& [first, size] : {std::pair{0, 2}, {2, 7}, {9, 3}})
    expected = expected * 0.5 + task.rows.narrow(0, first, size).mean(0);
  EXPECT_TRUE(memory_after({2, 7, 3}).equal(expected));
  EXPECT_FALSE(memory_after({3, 7, 2}).equal(expected));
  EXPECT_FALSE(memory_after({12}).allclose(expected)) << "three updates are not one";
}

TEST(TrainingStep, ReadsNoNumberByItself) {
  // Each is a wait for the device: a step reads all of its numbers in one copy.
  test::DeviceReads reads;
  StepTask task;
  task.sizes = {5, 7};
  task.penalty = 0.3;
  reads.taken();
  take_step(task, /*clip_norm=*/0.05);
  EXPECT_EQ(reads.taken(), 0);
  at::ones({}).item<float>();
  EXPECT_EQ(reads.taken(), 1) << "the counter counts nothing";
}

TEST(TrainingStep, NamesTheMicroBatchWhoseLossIsNotFinite) {
  const auto refusal = [](const std::vector<int64_t>& sizes, double factor, double penalty) {
    StepTask task;
    task.sizes = sizes;
    task.spoil_loss = factor;
    task.penalty = penalty;
    const at::Tensor before = task.step_model->weight_.detach().clone();
    const std::string message = test::thrown_message<NotFinite>([&] { take_step(task); });
    EXPECT_TRUE(task.step_model->weight_.equal(before));
    return message;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal({12}, nan, 0), "the loss is NaN");
  EXPECT_EQ(refusal({2, 9, 1}, nan, 0), "the loss of micro-batch 3 of 3 is NaN");
  EXPECT_EQ(refusal({6, 6}, infinity, 0.1), "the loss of micro-batch 2 of 2 is infinite");
  EXPECT_EQ(refusal({6, 6}, 1, infinity), "the penalty of micro-batch 1 of 2 is infinite");
}

}  // namespace
}  // namespace cachet::train
