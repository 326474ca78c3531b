#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty_like.h>
#include <ATen/record_function.h>
#include <c10/core/Device.h>
#include <torch/library.h>
#include <torch/nn/module.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cachet/train/step/host_copy.h"
#include "cachet/train/step/training_step.h"

namespace cachet::test {

/// Counts copies of tensors from the CPU to the meta device: on CUDA each would be an upload. Counts apart those that
/// wait: on CUDA the host would wait for all earlier work.
class UploadsCounted {
 public:
  UploadsCounted() {
    count() = waiting() = 0;
    handle_ =
        at::addGlobalCallback(at::RecordFunctionCallback(note).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  }
  UploadsCounted(const UploadsCounted&) = delete;
  UploadsCounted& operator=(const UploadsCounted&) = delete;
  ~UploadsCounted() { at::removeCallback(handle_); }

  static std::atomic<int64_t>& count() {
    static std::atomic<int64_t> count = 0;
    return count;
  }
  static std::atomic<int64_t>& waiting() {
    static std::atomic<int64_t> waiting = 0;
    return waiting;
  }

 private:
  static std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
    const std::string_view name = function.name();
    const auto inputs = function.inputs();
    const auto add = [&](size_t non_blocking) {
      ++count();
      if (!inputs[non_blocking].toBool()) ++waiting();
    };
    if (name == "aten::copy_" && inputs[0].toTensor().is_meta() && inputs[1].toTensor().is_cpu()) add(2);
    constexpr size_t kDevice = 3, kNonBlocking = 5;
    if (name == "aten::_to_copy" && inputs[0].toTensor().is_cpu() && inputs[kDevice].isDevice() &&
        inputs[kDevice].toDevice().is_meta())
      add(kNonBlocking);
    return nullptr;
  }

  at::CallbackHandle handle_;
};

/// Counts the calls of copy_to_host(): on CUDA the host would wait in each.
class HostCopiesCounted {
 public:
  HostCopiesCounted() {
    count() = 0;
    handle_ = at::addGlobalCallback(at::RecordFunctionCallback(note).scopes({at::RecordScope::FUNCTION}));
  }
  HostCopiesCounted(const HostCopiesCounted&) = delete;
  HostCopiesCounted& operator=(const HostCopiesCounted&) = delete;
  ~HostCopiesCounted() { at::removeCallback(handle_); }

  static std::atomic<int64_t>& count() {
    static std::atomic<int64_t> count = 0;
    return count;
  }

 private:
  static std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
    if (std::string_view(function.name()) == train::kHostCopy) ++count();
    return nullptr;
  }

  at::CallbackHandle handle_;
};

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

/// The same value with its tensors, which hold nothing, on another device.
inline c10::IValue moved(const c10::IValue& value, c10::Device device) {
  const auto move = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.device() == device) return tensor;
    const at::Tensor made = at::empty_like(tensor, tensor.options().device(device));
    return made.is_meta() ? made : made.zero_();
  };
  if (value.isTensor()) return move(value.toTensor());
  if (value.isDevice()) return device;
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(move(tensor));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorList())
      list.push_back(tensor ? std::optional(move(*tensor)) : std::nullopt);
    return list;
  }
  return value;
}

/// Runs an operator on the CPU, on zeros, for the shapes of what comes out.
inline void run_on_zeros(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = operation.schema();
  const std::vector<c10::IValue> given = torch::jit::pop(*stack, schema.arguments().size());
  torch::jit::Stack here;
  for (const c10::IValue& value : given) here.push_back(moved(value, at::kCPU));
  const torch::jit::Stack arguments = here;
  operation.callBoxed(here);
  const auto written = [&](const c10::Argument& result) -> std::optional<size_t> {
    if (result.alias_info() == nullptr || !result.alias_info()->isWrite()) return std::nullopt;
    for (size_t i = 0; i < given.size(); ++i) {
      const c10::AliasInfo* alias = schema.arguments()[i].alias_info();
      if (alias != nullptr && *alias == *result.alias_info()) return i;
    }
    return std::nullopt;
  };
  for (size_t i = 0; i < here.size(); ++i) {
    const std::optional<size_t> argument = written(schema.returns()[i]);
    if (!argument) {
      stack->push_back(moved(here[i], at::kMeta));
      continue;
    }
    at::Tensor same = given[*argument].toTensor();
    if (same.is_meta()) same.resize_(arguments[*argument].toTensor().sizes());
    stack->push_back(same);
  }
}

/// While it lives, operators of ATen that have no form for the meta device run on zeros, and copies from it to the CPU
/// give zeros and are counted. A program that registers meta kernels of its own does that before.
class MetaDeviceCompleted {
 public:
  MetaDeviceCompleted() : library_(torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__, __LINE__) {
    copies() = 0;
    library_.impl("_to_copy", to_copy);
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
      const auto operation = c10::Dispatcher::singleton().findOp(name);
      if (!name.name.starts_with("aten::") || !operation || !lacks_shapes(*operation)) continue;
      const std::string full = name.name.substr(6) + (name.overload_name.empty() ? "" : "." + name.overload_name);
      library_.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&run_on_zeros>());
    }
  }

  /// From the meta device to the CPU: the host would wait for each.
  static int64_t& copies() {
    static int64_t copies = 0;
    return copies;
  }

 private:
  /// Whether it has no form for the meta device, though what it gives has a shape that no value decides.
  static bool lacks_shapes(const c10::OperatorHandle& operation) {
    using c10::DispatchKey;
    static const std::set<std::string> by_value{"aten::nonzero", "aten::masked_select", "aten::_unique2"};
    if (!operation.hasSchema() || by_value.contains(operation.operator_name().name)) return false;
    for (const c10::Argument& result : operation.schema().returns())
      if (result.type()->kind() != c10::TypeKind::TensorType && result.type()->kind() != c10::TypeKind::ListType)
        return false;
    for (const DispatchKey key :
         {DispatchKey::Meta, DispatchKey::CompositeExplicitAutograd, DispatchKey::CompositeImplicitAutograd,
          DispatchKey::CompositeExplicitAutogradNonFunctional})
      if (operation.hasKernelForDispatchKey(key)) return false;
    return operation.hasKernelForDispatchKey(DispatchKey::CPU);
  }

  static at::Tensor to_copy(const at::Tensor& self, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                            std::optional<at::Device> device, std::optional<bool>, bool,
                            std::optional<at::MemoryFormat>) {
    const at::Device target = device.value_or(self.device());
    const at::Tensor made =
        at::empty_like(self, self.options().dtype(dtype.value_or(self.scalar_type())).device(target));
    if (target.is_meta()) return made;
    ++copies();
    return made.zero_();
  }

  torch::Library library_;
};

/// A task's stream whose forward passes upload and read nothing after the first, or report what they did. The first may
/// make tables that later ones remember.
class WatchedForward : public train::TrainingBatches {
 public:
  explicit WatchedForward(std::unique_ptr<train::TrainingBatches> stream) : stream_(std::move(stream)) {}

  void fill_state(int64_t micro_batches) override { stream_->fill_state(micro_batches); }
  bool fetch_step(int64_t micro_batches) override { return stream_->fetch_step(micro_batches); }
  void count_step(const train::SumOverProcesses& sum) override { stream_->count_step(sum); }
  bool fetch() override { return stream_->fetch(); }
  bool has_samples() const override { return stream_->has_samples(); }
  void prepare() override {
    const UploadsCounted uploads;
    stream_->prepare();
    if (UploadsCounted::waiting() > 0) faults.insert("prepare() waits for an upload");
  }
  train::ForwardResult forward() override {
    const UploadsCounted uploads;
    const int64_t reads_before = MetaDeviceCompleted::copies();
    train::ForwardResult result = stream_->forward();
    if (UploadsCounted::count() > 0 && passes_ > 0) faults.insert("forward() uploaded a tensor");
    if (MetaDeviceCompleted::copies() > reads_before) faults.insert("forward() read a tensor of the device");
    ++passes_;
    return result;
  }

  std::set<std::string> faults;

 private:
  std::unique_ptr<train::TrainingBatches> stream_;
  int64_t passes_ = 0;
};

/// Takes two training steps of a task whose model is on the meta device, and observes it. Returns the faults of a step
/// that left_on_the_cpu() looks for. past: the task's state is as large as after so many micro-batches.
inline std::set<std::string> faults_of_step(train::TrainingTask& task, const train::Options& options,
                                            int64_t past = 0) {
  const DeviceMixes mixes;
  const HostCopiesCounted reads;
  std::set<std::string> faults;
  try {
    train::TrainingStep step(task, options);
    task.model().train();
    WatchedForward stream(task.training_batches(0, 0));
    stream.fill_state(past);
    constexpr int kSteps = 2;
    for (int i = 0; i < kSteps; ++i) step.run(stream, 1, {.learning_rate = 0.1});
    faults = std::move(stream.faults);
    if (MetaDeviceCompleted::copies() > 0 || HostCopiesCounted::count() != kSteps)
      faults.insert("the training step read a tensor of the device");
    HostCopiesCounted::count() = 0;
    const auto copies_of_steps = MetaDeviceCompleted::copies();
    task.observe();
    if (MetaDeviceCompleted::copies() > copies_of_steps || HostCopiesCounted::count() > 1)
      faults.insert("observe() read the device more than once");
  } catch (const c10::Error& error) {
    faults.insert(error.what_without_backtrace());
  }
  faults.merge(std::set(DeviceMixes::names()));
  return faults;
}

/// Takes a training step and an evaluation of a task whose model is put on the meta device: shapes without values. What
/// comes back is empty where all tensors follow the model: operators that met two devices, what an operator refused,
/// values that the host waited for (in a training step any, in an evaluation more than one tensor a batch), and what
/// the forward pass of the step read or uploaded.
inline std::set<std::string> left_on_the_cpu(train::TrainingTask& task, const train::Options& options) {
  const MetaDeviceCompleted completed;
  put_on_meta(task.model());
  std::set<std::string> refused = faults_of_step(task, options);
  const DeviceMixes mixes;
  try {
    const at::NoGradGuard no_grad;
    task.model().eval();
    MetaDeviceCompleted::copies() = 0;
    int64_t batches = 0;
    task.evaluate([&](int64_t, int64_t) { ++batches; });
    if (MetaDeviceCompleted::copies() > batches) refused.insert("the evaluation read more than a tensor a batch");
  } catch (const c10::Error& error) {
    refused.insert(error.what_without_backtrace());
  }
  refused.merge(std::set(DeviceMixes::names()));
  return refused;
}

}  // namespace cachet::test
