#include "cachet/train/step/recalibration.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "cachet/io/tensors/state_dict.h"
#include "cachet/ops/support/recalibrated.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/step/gradients.h"
#include "cachet/train/step/micro_batches.h"
#include "cachet/train/step/training_step.h"

namespace cachet::train {

namespace {

/// Until the end of the scope.
class Renewal {
 public:
  explicit Renewal(const torch::nn::Module& model) : modules_(model.modules()) {
    for_each([](ops::Recalibrated& part) { part.begin_renewal(); });
  }
  Renewal(const Renewal&) = delete;
  Renewal& operator=(const Renewal&) = delete;
  ~Renewal() {
    for_each([](ops::Recalibrated& part) { part.end_renewal(); });
  }

 private:
  template <class Function>
  void for_each(const Function& function) {
    for (const auto& module : modules_)
      if (auto* part = dynamic_cast<ops::Recalibrated*>(module.get())) function(*part);
  }

  std::vector<std::shared_ptr<torch::nn::Module>> modules_;
};

std::vector<at::Tensor> copies(const std::vector<io::NamedTensor>& states) {
  std::vector<at::Tensor> tensors;
  for (const io::NamedTensor& state : states) tensors.push_back(state.tensor.clone());
  return tensors;
}

}  // namespace

bool has_states(const torch::nn::Module& model) {
  return std::ranges::any_of(model.modules(), [](const std::shared_ptr<torch::nn::Module>& module) {
    return dynamic_cast<const ops::Recalibrated*>(module.get()) != nullptr;
  });
}

void pass_for_states(TrainingTask& task, Precision precision, int64_t micro_batches,
                     const std::function<void(int64_t)>& passed, int64_t own_parts) {
  checked_batches(task);
  torch::nn::Module& model = task.model();
  {
    const at::NoGradGuard no_grad;
    const PrecisionScope in_precision(precision, device_of(model).type());
    const Renewal renewal(model);
    model.train();
    const auto pass = [&](TrainingBatches& batches, int64_t done) {
      batches.forward();
      if (passed) passed(done);
    };
    for_each_micro_batch(task, micro_batches, pass, own_parts);
    model.eval();
  }
  const std::vector<io::NamedTensor> states = io::distinct_buffers(model);
  std::vector<at::Tensor> tensors;
  for (const io::NamedTensor& state : states) tensors.push_back(state.tensor);
  if (const auto index = first_non_finite(tensors)) throw NotFinite(states[*index].name() + " is not finite");
}

void recalibrate(TrainingTask& task, Precision precision, int64_t micro_batches,
                 const std::function<void(int64_t)>& passed, int64_t own_parts) {
  const std::vector<io::NamedTensor> states = io::distinct_buffers(task.model());
  const std::vector<at::Tensor> before = copies(states);
  pass_for_states(task, precision, micro_batches, passed, own_parts);
  for (size_t i = 0; i < states.size(); ++i)
    if (!states[i].tensor.equal(before[i])) return;
  if (!has_states(task.model()))
    throw std::runtime_error("the model has no running statistics and no cache to recalibrate");
}

}  // namespace cachet::train
