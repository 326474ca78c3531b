#include "cachet/train/renewed_states.h"

#include <c10/core/GradMode.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "cachet/io/state_dict.h"
#include "cachet/train/device.h"
#include "cachet/train/gradients.h"
#include "cachet/train/runtime.h"
#include "cachet/train/training_step.h"

namespace cachet::train {
namespace {

void pass(Task& task, int64_t micro_batches, const std::function<void(int64_t)>& passed) {
  std::unique_ptr<TrainingStream> stream = task.training_stream(0, 0);
  for (int64_t done = 0, epoch = 0; done < micro_batches;) {
    if (!stream->fetch()) {
      stream = task.training_stream(++epoch, 0);
      continue;
    }
    stream->forward();
    ++done;
    if (passed) passed(done);
  }
}

}  // namespace

void renew_states(Task& task, Precision precision, int64_t micro_batches, const std::function<void(int64_t)>& passed) {
  torch::nn::Module& model = task.model();
  const std::vector<io::NamedTensor> states = io::distinct_buffers(model);
  std::vector<at::Tensor> before, after;
  for (const io::NamedTensor& state : states) before.push_back(state.tensor.clone());
  {
    const at::NoGradGuard no_grad;
    const PrecisionScope in_precision(precision, device_of(model).type());
    model.train();
    pass(task, micro_batches, passed);
    model.eval();
  }
  bool changed = false;
  for (size_t i = 0; i < states.size(); ++i) {
    after.push_back(states[i].tensor);
    changed = changed || !after[i].equal(before[i]);
  }
  if (!changed)
    throw std::runtime_error("the model keeps nothing of its data: it has no running statistics and no cache to renew");
  if (const auto index = first_non_finite(after)) throw NotFinite(states[*index].name() + " is not finite");
}

}  // namespace cachet::train
