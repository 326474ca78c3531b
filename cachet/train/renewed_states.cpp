#include "cachet/train/renewed_states.h"

#include <c10/core/GradMode.h>

#include <stdexcept>
#include <vector>

#include "cachet/io/state_dict.h"
#include "cachet/train/device.h"
#include "cachet/train/gradients.h"
#include "cachet/train/micro_batches.h"
#include "cachet/train/runtime.h"
#include "cachet/train/training_step.h"

namespace cachet::train {

void renew_states(Task& task, Precision precision, int64_t micro_batches, const std::function<void(int64_t)>& passed) {
  checked_batches(task);
  torch::nn::Module& model = task.model();
  const std::vector<io::NamedTensor> states = io::distinct_buffers(model);
  std::vector<at::Tensor> before, after;
  for (const io::NamedTensor& state : states) before.push_back(state.tensor.clone());
  {
    const at::NoGradGuard no_grad;
    const PrecisionScope in_precision(precision, device_of(model).type());
    model.train();
    over_micro_batches(task, micro_batches, [&](TrainingStream& stream, int64_t done) {
      stream.forward();
      if (passed) passed(done);
    });
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
