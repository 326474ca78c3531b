#pragma once

#include <ATen/core/grad_mode.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "cachet/data/order/equal_batches.h"
#include "cachet/train/options.h"
#include "cachet/train/training_task.h"

namespace cachet::test {

/// A linear layer in float64 on rows without what a memory holds. Each pass of training moves the memory by the mean of
/// its rows and counts itself.
class PartsModel : public torch::nn::Module {
 public:
  PartsModel() {
    at::manual_seed(4);
    weight = register_parameter("weight", at::randn({2, 3}, at::kDouble));
    memory = register_buffer("memory", at::zeros({3}, at::kDouble));
    passes = register_buffer("passes", at::zeros({}, at::kLong));
  }

  at::Tensor forward(const at::Tensor& rows, double dropout = 0) {
    const at::Tensor held = memory.clone();
    if (is_training()) {
      const at::NoGradGuard no_grad;
      memory.mul_(0.5).add_(rows.mean(0));
      passes.add_(1);
    }
    return at::linear(at::dropout(rows - held, dropout, dropout > 0 && is_training()), weight);
  }

  at::Tensor weight, memory, passes;
};

/// Squared errors of 17 rows, of which an epoch has batches as the options ask; the last one is smaller.
class PartsTask : public train::TrainingTask {
 public:
  static constexpr int64_t kRows = 17;

  explicit PartsTask(const train::TrainOptions& training, double dropout = 0)
      : model_(std::make_shared<PartsModel>()),
        rows(at::randn({kRows, 3}, at::kDouble)),
        targets(at::randn({kRows, 2}, at::kDouble)),
        order(std::make_shared<data::EqualBatches>(
            kRows, data::EqualBatchOptions{.batch_size = training.shared_batch(), .drop_last = false, .seed = 3},
            training.shard)),
        dropout_(dropout) {}

  PartsModel& parts_model() { return *model_; }
  torch::nn::Module& model() override { return *model_; }
  int64_t batches_per_epoch() const override { return order->read_batches(); }
  train::Metrics evaluate(const train::EvaluationProgress&) override {
    return {{"loss", model_->memory.sum().item<double>()}};
  }
  int64_t evaluation_size() const override { return 1; }
  train::RunDescription describe() override {
    train::RunDescription run;
    run.metrics = {{"loss", "loss", report::ValueForm::fixed, report::Better::lower, /*decides=*/true}};
    return run;
  }
  std::unique_ptr<train::TrainingBatches> training_batches(int64_t epoch, int64_t first_batch) override {
    return std::make_unique<Stream>(*this, epoch, first_batch);
  }

 private:
  class Stream : public train::TrainingBatches {
   public:
    Stream(PartsTask& task, int64_t epoch, int64_t first)
        : task_(task), epoch_(task.order->epoch(epoch)), number_(first - 1) {}
    bool fetch() override {
      if (++number_ >= epoch_.batches()) return false;
      indices_ = at::tensor(epoch_.place(number_).indices(), at::kLong);
      return true;
    }
    bool has_samples() const override { return indices_.numel() > 0; }
    train::ForwardResult forward() override {
      const at::Tensor rows = task_.rows.index_select(0, indices_);
      train::ForwardResult result;
      result.loss =
          (task_.model_->forward(rows, task_.dropout_) - task_.targets.index_select(0, indices_)).square().sum();
      result.weight = static_cast<double>(indices_.numel());
      result.samples = indices_.numel();
      result.metrics.push_back({"rows", at::full({}, indices_.numel()), 1});
      return result;
    }

   private:
    PartsTask& task_;
    data::EpochOrder epoch_;
    int64_t number_;
    at::Tensor indices_;
  };

  std::shared_ptr<PartsModel> model_;

 public:
  at::Tensor rows, targets;
  std::shared_ptr<data::EqualBatches> order;

 private:
  double dropout_;
};

}  // namespace cachet::test
