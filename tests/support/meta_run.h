#pragma once

#include <ATen/core/grad_mode.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty_like.h>
#include <ATen/record_function.h>
#include <torch/library.h>
#include <torch/nn/module.h>

#include <mutex>
#include <set>
#include <string>

#include "cachet/train/training_step.h"

namespace cachet::test {

/// While it lives, notes each operator that meets a tensor of the meta device together with one of the CPU: on CUDA it
/// would fail, or wait for a copy. Single numbers may lie on the CPU, and copies may go from one device to the other.
class DeviceMixes {
 public:
  DeviceMixes() {
    names().clear();
    handle_ =
        at::addGlobalCallback(at::RecordFunctionCallback(note).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  }
  DeviceMixes(const DeviceMixes&) = delete;
  DeviceMixes& operator=(const DeviceMixes&) = delete;
  ~DeviceMixes() { at::removeCallback(handle_); }

  static std::set<std::string>& names() {
    static std::set<std::string> names;
    return names;
  }

 private:
  static std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
    static const std::set<std::string> copies{"aten::copy_", "aten::to", "aten::_to_copy"};
    bool on_meta = false, on_cpu = false;
    const auto look = [&](const at::Tensor& tensor) {
      if (!tensor.defined()) return;
      on_meta = on_meta || tensor.is_meta();
      on_cpu = on_cpu || (tensor.is_cpu() && tensor.dim() > 0);
    };
    for (const c10::IValue& input : function.inputs()) {
      if (input.isTensor()) look(input.toTensor());
      if (input.isTensorList())
        for (const at::Tensor& tensor : input.toTensorVector()) look(tensor);
    }
    if (on_meta && on_cpu && !copies.contains(function.name())) {
      static std::mutex mutex;
      const std::lock_guard<std::mutex> lock(mutex);
      names().insert(function.name());
    }
    return nullptr;
  }

  at::CallbackHandle handle_;
};

/// Moves parameters and buffers to the meta device, which Module::to refuses to.
inline void put_on_meta(torch::nn::Module& model) {
  const at::NoGradGuard no_grad;
  const auto move = [](const at::Tensor& tensor) {
    const at::Tensor shape = at::empty_like(tensor, tensor.options().device(at::kMeta));
    tensor.unsafeGetTensorImpl()->shallow_copy_from(shape.getIntrusivePtr());
  };
  for (const at::Tensor& parameter : model.parameters()) move(parameter);
  for (const at::Tensor& buffer : model.buffers()) move(buffer);
}

inline void do_nothing(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  torch::jit::drop(*stack, operation.schema().arguments().size());
}

/// Takes a training step and an evaluation of a task whose model is put on the meta device: shapes without values. What
/// comes back is empty where all tensors follow the model: operators that met two devices, and what an operator
/// refused.
inline std::set<std::string> left_on_the_cpu(train::Task& task, const train::Options& options) {
  // The optimizers' fused operators have no form without values.
  torch::Library updates(torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__, __LINE__);
  for (const char* name : {"_fused_adamw_", "_fused_sgd_"})
    updates.impl(name, torch::CppFunction::makeFromBoxedFunction<&do_nothing>());
  put_on_meta(task.model());
  const DeviceMixes mixes;
  std::set<std::string> refused;
  try {
    train::TrainingStep step(task, options);
    task.model().train();
    const auto stream = task.training_stream(0, 0);
    step.run(*stream, 1, /*learning_rate=*/0.1);
    const at::NoGradGuard no_grad;
    task.model().eval();
    task.evaluate([](int64_t, int64_t) {});
  } catch (const c10::Error& error) {
    refused.insert(error.what_without_backtrace());
  }
  refused.merge(std::set(DeviceMixes::names()));
  return refused;
}

}  // namespace cachet::test
