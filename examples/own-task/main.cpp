// A task of your own: how large is the disc in an image? The library trains it, resumes, evaluates, compares and
// reports.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <cachet/command_line.h>
#include <cachet/layers.h>
#include <cachet/training.h>

#include <optional>

namespace {

using namespace cachet;

constexpr int64_t kSide = 16, kPatch = 4, kPatches = (kSide / kPatch) * (kSide / kPatch);
constexpr int64_t kBatchesAnEpoch = 32, kEvaluated = 512;

struct Discs {
  at::Tensor images, radii;  // (B, 16, 16), (B)
};

Discs draw_discs(int64_t count, uint64_t seed) {
  const auto random = at::make_generator<at::CPUGeneratorImpl>(seed);  // not torch's own, which belongs to the trainer
  const at::Tensor radii = 1 + 5 * at::rand({count}, random), centre = 5 + 6 * at::rand({2, count, 1, 1}, random);
  const at::Tensor y = at::arange(kSide).view({1, kSide, 1}) - centre[0],
                   x = at::arange(kSide).view({1, 1, kSide}) - centre[1];
  const at::Tensor inside = (y * y + x * x <= radii.view({-1, 1, 1}).square()).to(at::kFloat);
  return {inside + 0.3 * at::randn({count, kSide, kSide}, random), radii};
}

class DiscNet : public nn::Cloneable<DiscNet, models::Model> {
 public:
  explicit DiscNet(int64_t dim) {
    embed_ = register_module("embed", std::make_shared<nn::Linear>(kPatch * kPatch, dim));
    attention_ = register_module(
        "attention", nn::make_self_attention(
                         {.dim = dim, .num_heads = 2, .tokens = kPatches, .cache = nn::GatedRecurrentCacheOptions{}}));
    head_ = register_module("head", std::make_shared<nn::Linear>(dim, 1));
  }

  at::Tensor forward(const at::Tensor& images) {
    constexpr int64_t n = kSide / kPatch;
    const at::Tensor patches = images.reshape({-1, n, kPatch, n, kPatch}).transpose(2, 3).flatten(3).flatten(1, 2);
    const at::Tensor x = embed_->forward(patches);
    return head_->forward((x + attention_->forward(x, x, {})).relu().mean(1)).squeeze(1);
  }

  models::Trial trial(int64_t batch, const torch::TensorOptions& options) override {
    const at::Tensor images = at::rand({batch, kSide, kSide}, options);
    return {[this, images] { return forward(images); }, [this, images] { return forward(images).square().mean(); }};
  }

 private:
  nn::Submodule<nn::Linear> embed_, head_;
  nn::Submodule<nn::Attention> attention_;
};

class DiscTask : public tasks::Task {
 public:
  DiscTask(tasks::TaskProfile profile, const train::TrainOptions& training)
      : Task(std::move(profile)), training_(training), model_(this->profile().model.build()) {}

  torch::nn::Module& model() override { return *model_; }
  int64_t batches_per_epoch() const override { return whole_batches() * training_.shard.parts; }
  int64_t evaluation_size() const override { return kEvaluated; }

  std::unique_ptr<train::TrainingBatches> training_batches(int64_t epoch, int64_t first_batch) override {
    return std::make_unique<Batches>(*this, epoch, first_batch);
  }

  train::Metrics evaluate(const train::EvaluationProgress& progress) override {
    const Discs discs = draw_discs(kEvaluated, /*seed=*/0);
    const at::Tensor difference = net().forward(discs.images) - discs.radii;
    progress(1, 1);
    return {{"error", difference.abs().mean().item<double>()}, {"loss", difference.square().mean().item<double>()}};
  }

 private:
  struct Batches : train::TrainingBatches {
    Batches(DiscTask& task, int64_t epoch, int64_t first)
        : task(task), next(epoch * task.batches_per_epoch() + first), end((epoch + 1) * task.batches_per_epoch()) {}
    bool fetch() override {
      if (next == end) return false;
      const data::Shard& shard = task.training_.shard;
      const int64_t whole = next / shard.parts;  // the batch that is shared out
      const data::Shard own = shard.alone(next % shard.parts);
      const Discs all = draw_discs(task.training_.shared_batch(),
                                   (task.training_.seed + 1) * 1'000'003 + static_cast<uint64_t>(whole));
      // If several processes train together, each has every world_size-th sample of a batch, from its rank on.
      const auto part = [own](const at::Tensor& rows) { return rows.slice(0, own.rank, std::nullopt, own.world_size); };
      ++next;
      discs = {part(all.images), part(all.radii)};
      return true;
    }
    train::ForwardResult forward() override {
      const at::Tensor difference = task.net().forward(discs.images) - discs.radii;
      const int64_t count = difference.size(0);
      const auto weight = static_cast<double>(count);
      return {difference.square().sum(), weight, {}, count, 0, {{"error", difference.detach().abs().sum(), weight}}};
    }
    DiscTask& task;
    int64_t next, end;
    Discs discs;
  };

  /// If the parts of a step have states of their own (train.state), a batch is that of a whole step.
  int64_t whole_batches() const { return kBatchesAnEpoch / training_.shard.parts; }
  DiscNet& net() { return dynamic_cast<DiscNet&>(*model_); }

  train::TrainOptions training_;
  std::shared_ptr<models::Model> model_;
};

class DiscPlan : public tasks::TaskPlan {
 public:
  explicit DiscPlan(int64_t dim) : dim_(dim) {}
  std::unique_ptr<tasks::TaskPlan> copy() const override { return std::make_unique<DiscPlan>(*this); }
  tasks::TaskProfile profile() const override {
    using report::Better, report::ValueForm;
    return {
        "disc_radius",
        {"image", "images", "img/s", "drawn"},
        {{"error", "mean error", ValueForm::fixed, Better::lower, /*decides=*/true, "pixels"},
         {"loss", "loss", ValueForm::fixed, Better::lower}},
        {"disc_net", {"image", {{"side", kSide}}, "16 x 16"}, [dim = dim_] { return std::make_shared<DiscNet>(dim); }}};
  }
  std::unique_ptr<tasks::Task> build(const train::TrainOptions& training, tasks::Splits) const override {
    return std::make_unique<DiscTask>(profile(), training);
  }

 private:
  int64_t dim_;
};

}  // namespace

int main(int argc, char** argv) {
  tasks::register_task_kind({"disc_radius", [](const config::View& root, data::DataRoot) {
                               return std::make_unique<DiscPlan>(root.table("model").integer("dim", 32, {2, 1024}));
                             }});
  return run_command_line(argc, argv);
}
