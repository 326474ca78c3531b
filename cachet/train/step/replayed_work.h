#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cachet/ops/support/host_flag.h"
#include "cachet/ops/support/retained_values.h"
#include "cachet/train/step/fixed_tensors.h"
#include "cachet/train/step/flagged_modules.h"
#include "cachet/train/step/step_executor.h"

namespace cachet::train {

/// Work with a model that a StepExecutor runs or replays. The work reads tensors at fixed addresses, one set of
/// addresses for each combination of shapes. A Result has tensors and host numbers; a replay returns the Result of the
/// last run, whose tensors then have the values of the replay.
template <class Result>
class ReplayedWork {
 public:
  /// If a new combination of shapes exceeds a limit of `tensors`, its work runs directly.
  ReplayedWork(const torch::nn::Module& model, std::shared_ptr<StepExecutor> executor, FixedTensors tensors)
      : executor_(std::move(executor)), tensors_(std::move(tensors)), flagged_(flagged_modules(model)) {}

  /// Runs or replays `work`. With equal keys and equal shapes of `tensors`, `work` makes the same calls. `tensors` are
  /// all tensors that `work` reads, except the tensors of the model. They are replaced by equal tensors at fixed
  /// addresses, and after the work by the tensors that `work` leaves there. The next call may overwrite the tensors of
  /// the Result.
  Result run(const std::string& key, const std::vector<at::Tensor*>& tensors, const std::function<Result()>& work) {
    const std::optional<std::string> layout = tensors_.place(tensors);
    std::vector<at::Tensor> placed;
    for (const at::Tensor* tensor : tensors) placed.push_back(*tensor);
    const std::string flags = host_flags();
    const std::string whole_key = key + flags + ";" + layout.value_or("");
    Recorded unique;
    Recorded& recorded = layout ? recorded_[whole_key] : unique;
    // If a recording failed, the same work runs again, from the same facts on the host.
    const auto launch = [&] {
      for (size_t i = 0; i < placed.size(); ++i) *tensors[i] = placed[i];
      set_host_flags(flags);
      ops::RetainedValues retained(recorded.retained);
      recorded.result = work();
      recorded.host_flags = host_flags();
      recorded.retained = retained.take();
      recorded.left.clear();
      for (const at::Tensor* tensor : tensors) recorded.left.push_back(*tensor);
    };
    if (layout)
      executor_->run(whole_key, launch);
    else
      executor_->run_directly(launch);
    for (size_t i = 0; i < tensors.size(); ++i) *tensors[i] = recorded.left[i];
    set_host_flags(recorded.host_flags);
    return recorded.result;
  }

  StepExecutor& executor() { return *executor_; }

 private:
  /// What the work of one key leaves.
  struct Recorded {
    Result result;
    std::vector<at::Tensor> left;
    std::string host_flags;                            // of the modules after the work
    std::vector<ops::RetainedValues::Value> retained;  // memoized values that the work reads
  };

  /// The facts that modules store on the host. They decide which operations the work calls.
  std::string host_flags() const {
    std::string flags;
    for (const ops::HostFlag* module : flagged_) flags += module->host_flag() ? '1' : '0';
    return flags;
  }
  void set_host_flags(const std::string& flags) {
    for (size_t i = 0; i < flagged_.size(); ++i) flagged_[i]->set_host_flag(flags[i] == '1');
  }

  std::shared_ptr<StepExecutor> executor_;
  FixedTensors tensors_;
  std::vector<ops::HostFlag*> flagged_;
  std::map<std::string, Recorded> recorded_;
};

}  // namespace cachet::train
