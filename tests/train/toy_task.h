#pragma once

#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cachet/data/order/equal_batches.h"
#include "cachet/data/vision/image_loader.h"
#include "cachet/train/training_task.h"

namespace cachet::test {

/// A small classifier with all that makes resuming hard: dropout, a state that each forward pass moves, a counter.
class ToyModel : public torch::nn::Module {
 public:
  ToyModel() {
    filter_ = register_parameter("filter", at::randn({4, 1, 3, 3}) * 0.3);
    weight_ = register_parameter("head_weight", at::randn({3, 4 * 6 * 6}) * 0.1);
    bias_ = register_parameter("head_bias", at::zeros({3}));
    memory_ = register_buffer("memory", at::zeros({4 * 6 * 6}));
    forwards_ = register_buffer("forwards", at::zeros({}, at::kLong));
  }

  at::Tensor forward(const at::Tensor& images) {
    at::Tensor features = at::relu(at::conv2d(images, filter_, {}, 1, 1)).flatten(1);
    features = at::dropout(features, 0.2, is_training()) + 0.1 * memory_;
    if (is_training()) {
      const at::NoGradGuard no_grad;
      memory_.mul_(0.9).add_(features.mean(0).to(at::kFloat), 0.1);
      forwards_.add_(1);
    }
    return at::linear(features, weight_, bias_);
  }

  at::Tensor filter_, weight_, bias_, memory_, forwards_;
};

struct ToyHooks {
  std::function<void(int64_t epoch, int64_t batch)> before_forward = [](int64_t, int64_t) {};
  std::function<void(at::Tensor& images, ToyModel& model)> spoil = [](at::Tensor&, ToyModel&) {};
  std::function<void()> before_evaluation = [] {};
  std::function<void()> after_evaluation = [] {};
  std::function<train::Metrics(train::Metrics)> metrics = [](train::Metrics metrics) { return metrics; };
  std::string details;  // other results of an evaluation
  std::function<at::Tensor(at::Tensor)> loss = [](at::Tensor loss) { return loss; };
  std::function<at::Tensor(const ToyModel& model)> penalty = [](const ToyModel&) { return at::Tensor(); };
  std::function<void(const train::Status&)> report = [](const train::Status&) {};
  /// The weight of a micro-batch of so many samples.
  std::function<double(int64_t samples, int64_t epoch, int64_t batch)> weight = [](int64_t samples, int64_t, int64_t) {
    return static_cast<double>(samples);
  };
};

/// 58 images of noise in three classes, by which third of the rows is brighter; 7 micro-batches of 8.
class ToyTask : public train::TrainingTask {
 public:
  explicit ToyTask(int64_t workers = 0, ToyHooks hooks = {}, int64_t batch_size = 8)
      : hooks_(std::move(hooks)),
        model_(std::make_shared<ToyModel>()),
        dataset_(images()),
        loader_(dataset_,
                data::ImageTransform(dataset_->images().shape(), {{0.5}, {0.3}}, {.flip = 0.5, .crop_padding = 1}),
                std::make_shared<data::EqualBatches>(dataset_->size(),
                                                     data::EqualBatchOptions{.batch_size = batch_size, .seed = 5}),
                {.workers = workers}) {}

  torch::nn::Module& model() override { return *model_; }
  ToyModel& toy() { return *model_; }
  int64_t batches_per_epoch() const override { return loader_.batches(); }
  int64_t evaluation_size() const override { return dataset_->size(); }
  train::RunDescription describe() override {
    using report::Better, report::ValueForm;
    return {"toy",
            {},
            "toy model",
            0,
            0,
            0,
            {{"loss", "loss", ValueForm::fixed, Better::lower},
             {"top1", "top-1", ValueForm::percent, Better::higher, /*decides=*/true}}};
  }

  std::unique_ptr<train::TrainingBatches> training_batches(int64_t epoch, int64_t first_batch) override {
    return std::make_unique<Stream>(*this, epoch, first_batch);
  }

  train::Metrics evaluate(const train::EvaluationProgress& progress) override {
    hooks_.before_evaluation();
    double right = 0, loss = 0;
    const int64_t size = dataset_->size();
    for (int64_t i = 0; i < size; ++i) {
      progress(i, size);
      const at::Tensor image = dataset_->images().image(i).to(at::kFloat).div(255).sub(0.5).div(0.3).unsqueeze(0);
      const at::Tensor scores = model_->forward(image).to(at::kFloat);
      const at::Tensor label = at::zeros({1}, at::kLong) + dataset_->labels()[i];
      loss += at::cross_entropy_loss(scores, label).item<double>();
      right += scores.argmax().item<int64_t>() == dataset_->labels()[i] ? 1 : 0;
      at::rand({3});  // an evaluation that draws must not shift training's dropout
    }
    hooks_.after_evaluation();
    const auto count = static_cast<double>(size);
    return hooks_.metrics({{"loss", loss / count}, {"top1", right / count}});
  }
  std::string evaluation_details() const override { return hooks_.details; }

  std::vector<train::Series> observe() override {
    return {{"memory", {model_->memory_.sum().item<double>(), model_->memory_.abs().max().item<double>()}}};
  }

  std::vector<report::Section> report_sections(const std::vector<train::Event>&, const train::Status& status) override {
    hooks_.report(status);
    return {};
  }

 private:
  static std::shared_ptr<const data::LabelledImages> images() {
    // Its own generator: the data must not depend on what was drawn before.
    std::vector<uint8_t> pixels;
    data::CounterRandom random(1, data::RandomStream::subset, 0, 0);
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < 58; ++i) {
      labels.push_back(i % 3);
      for (int64_t pixel = 0; pixel < 36; ++pixel) {
        pixels.push_back(static_cast<uint8_t>(random.below(128) + (pixel / 12 == i % 3 ? 100 : 0)));
      }
    }
    at::Tensor tensor = at::zeros({58, 1, 6, 6}, at::kByte);
    std::copy(pixels.begin(), pixels.end(), tensor.data_ptr<uint8_t>());
    return std::make_shared<data::LabelledImages>(std::make_shared<data::StoredImages>(tensor),
                                                  data::ClassLabels(labels, {"a", "b", "c"}));
  }

  class Stream : public train::TrainingBatches {
   public:
    Stream(ToyTask& task, int64_t epoch, int64_t first)
        : task_(task), epoch_(epoch), stream_(task.loader_.iterate(epoch, first)) {}

    bool fetch() override {
      batch_ = stream_.next();
      return batch_.has_value();
    }

    void prepare() override {
      weight_ = task_.hooks_.weight(batch_->labels.numel(), epoch_, batch_->number);
      task_.hooks_.before_forward(epoch_, batch_->number);
      task_.hooks_.spoil(batch_->images, *task_.model_);
    }

    std::optional<train::PreparedBatch> prepared() override {
      const int64_t samples = batch_->labels.numel();
      const auto count = static_cast<double>(samples);
      return train::PreparedBatch{{&batch_->images, &batch_->labels}, weight_, samples, 0, {count}};
    }

    train::ForwardResult forward() override {
      const at::Tensor scores = task_.model_->forward(batch_->images);
      const at::Tensor loss = at::cross_entropy_loss(scores.to(at::kFloat), batch_->labels, {}, at::Reduction::Sum);
      const auto count = static_cast<double>(batch_->labels.numel());
      return {.loss = task_.hooks_.loss(loss),
              .weight = weight_,
              .penalty = task_.hooks_.penalty(*task_.model_),
              .samples = batch_->labels.numel(),
              .metrics = {{"top1", scores.argmax(1).eq(batch_->labels).sum(), count}}};
    }

   private:
    ToyTask& task_;
    int64_t epoch_;
    data::BatchIterator<data::ImageBatch> stream_;
    std::optional<data::ImageBatch> batch_;
    double weight_ = 0;
  };

  ToyHooks hooks_;
  std::shared_ptr<ToyModel> model_;
  std::shared_ptr<const data::LabelledImages> dataset_;
  data::ImageLoader loader_;
};

}  // namespace cachet::test
