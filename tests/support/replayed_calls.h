#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cachet::test {

/// A recording of the operators that a function calls below autograd, which replays them as a CUDA graph does: on the
/// same memory, with the same host numbers, without the function. It shows on the CPU what a graph would do.
///
/// A tensor of the function that is freed after the recording makes the replay fail: a graph would read memory of
/// another tensor. Operators that read a value on the host, or whose result has a size that depends on values, are
/// refused by name.
class ReplayedCalls {
 public:
  /// Calls `work` and records it.
  void record(const std::function<void()>& work) {
    static torch::Library library = fallback();  // stays for the rest of the process
    calls_.clear();
    own_.clear();
    const Recording recording(*this);
    const c10::impl::IncludeDispatchKeyGuard include(kKey);
    work();
    release_others();
  }

  bool empty() const { return calls_.empty(); }
  size_t size() const { return calls_.size(); }

  void replay() {
    const at::NoGradGuard no_grad;
    const at::AutoDispatchBelowADInplaceOrView below;
    for (Call& call : calls_) {
      if (call.is_view) continue;
      torch::jit::Stack stack;
      for (const Value& value : call.arguments) stack.push_back(value.get(call.name));
      call.operation.redispatchBoxed(call.keys, &stack);
      for (size_t i = 0; i < stack.size(); ++i) write(call, call.results[i], stack[i]);
    }
  }

  /// What the recording refuses, by the name of the operator.
  static const std::set<std::string>& refused() {
    static const std::set<std::string> names{"aten::_local_scalar_dense",
                                             "aten::nonzero",
                                             "aten::masked_select",
                                             "aten::equal",
                                             "aten::is_nonzero",
                                             "aten::_unique2",
                                             "aten::unique_dim",
                                             "aten::unique_consecutive",
                                             "aten::bincount",
                                             "aten::nonzero_numpy",
                                             "aten::_assert_async"};
    return names;
  }

 private:
  // Below autograd, above the kernels; nothing else uses it.
  static constexpr c10::DispatchKey kKey = c10::DispatchKey::Fake;

  using Storages = std::set<const c10::StorageImpl*>;

  /// A tensor of the recording, or of others: then only its memory's address and shape are held, as in a graph.
  struct Held {
    at::Tensor own;
    c10::weak_intrusive_ptr<c10::StorageImpl> storage{c10::intrusive_ptr<c10::StorageImpl>()};
    std::vector<int64_t> sizes, strides;
    int64_t offset = 0;
    at::TensorOptions options;
    bool defined = false;

    explicit Held(const at::Tensor& tensor) : own(tensor), defined(tensor.defined()) {}

    void release(const Storages& owned) {
      if (!defined || owned.contains(own.storage().unsafeGetStorageImpl())) return;
      sizes = own.sizes().vec();
      strides = own.strides().vec();
      offset = own.storage_offset();
      options = own.options().requires_grad(false);
      storage = own.storage().getWeakStorageImpl();
      own.reset();
    }

    at::Tensor get(const std::string& name) const {
      if (!defined || own.defined()) return own;
      const c10::intrusive_ptr<c10::StorageImpl> alive = storage.lock();
      if (!alive) throw std::runtime_error(name + " reads a tensor that was freed after the recording");
      return at::empty({0}, options).set_(c10::Storage(alive), offset, sizes, strides);
    }
  };

  /// An argument or a result: tensors, or anything else.
  struct Value {
    explicit Value(const c10::IValue& value) : other(value) {
      if (value.isTensor()) {
        kind = Kind::tensor;
        tensors.emplace_back(value.toTensor());
      } else if (value.isTensorList()) {
        kind = Kind::list;
        for (const at::Tensor& tensor : value.toTensorVector()) tensors.emplace_back(tensor);
      } else if (value.isOptionalTensorList()) {
        kind = Kind::optional_list;
        for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector())
          tensors.emplace_back(tensor.value_or(at::Tensor()));
      }
      if (kind != Kind::other) other = c10::IValue();
    }

    c10::IValue get(const std::string& name) const {
      if (kind == Kind::tensor) return tensors.front().get(name);
      if (kind == Kind::list) {
        c10::List<at::Tensor> list;
        for (const Held& held : tensors) list.push_back(held.get(name));
        return list;
      }
      if (kind == Kind::optional_list) {
        c10::List<std::optional<at::Tensor>> list;
        for (const Held& held : tensors) list.push_back(held.defined ? std::optional(held.get(name)) : std::nullopt);
        return list;
      }
      return other;
    }

    enum class Kind { other, tensor, list, optional_list } kind = Kind::other;
    std::vector<Held> tensors;
    c10::IValue other;
  };

  struct Call {
    std::string name;
    c10::OperatorHandle operation;
    c10::DispatchKeySet keys;
    std::vector<Value> arguments, results;
    bool is_view = false;  // calculates nothing
  };

  class Recording {
   public:
    explicit Recording(ReplayedCalls& calls) { now() = &calls; }
    ~Recording() { now() = nullptr; }
    static ReplayedCalls*& now() {
      thread_local ReplayedCalls* calls = nullptr;
      return calls;
    }
  };

  static torch::Library fallback() {
    torch::Library library(torch::Library::IMPL, "_", kKey, __FILE__, __LINE__);
    library.fallback(torch::CppFunction::makeFromBoxedFunction<&note>());
    return library;
  }

  static void note(const c10::OperatorHandle& operation, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
    const c10::impl::ExcludeDispatchKeyGuard exclude(kKey);
    const c10::DispatchKeySet below = keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kKey);
    ReplayedCalls* calls = Recording::now();
    if (calls == nullptr) return operation.redispatchBoxed(below, stack);
    const std::string name = operation.operator_name().name;
    if (refused().contains(name)) throw std::runtime_error(name + " reads a value on the host");
    const c10::FunctionSchema& schema = operation.schema();
    const size_t count = schema.arguments().size();
    Call call{name, operation, below, {}, {}, false};
    Storages given;
    for (auto argument = stack->end() - static_cast<std::ptrdiff_t>(count); argument != stack->end(); ++argument) {
      call.arguments.emplace_back(*argument);
      for (const Held& held : call.arguments.back().tensors)
        if (held.defined && held.own.has_storage()) given.insert(held.own.storage().unsafeGetStorageImpl());
    }
    operation.redispatchBoxed(below, stack);
    bool writes = false, makes = false;
    for (const c10::Argument& argument : schema.arguments())
      writes = writes || (argument.alias_info() != nullptr && argument.alias_info()->isWrite());
    for (auto result = stack->end() - static_cast<std::ptrdiff_t>(schema.returns().size()); result != stack->end();
         ++result) {
      call.results.emplace_back(*result);
      for (const Held& held : call.results.back().tensors) {
        if (!held.defined || !held.own.has_storage()) continue;
        const c10::StorageImpl* storage = held.own.storage().unsafeGetStorageImpl();
        if (given.contains(storage)) continue;
        makes = true;
        calls->own_.insert(storage);
        calls->alive_.push_back(held.own.storage());
      }
    }
    call.is_view = !writes && !makes && !schema.returns().empty();
    calls->calls_.push_back(std::move(call));
  }

  void release_others() {
    for (Call& call : calls_) {
      for (std::vector<Value>* values : {&call.arguments, &call.results})
        for (Value& value : *values)
          for (Held& held : value.tensors)
            if (held.defined && held.own.has_storage()) held.release(own_);
    }
  }

  void write(const Call& call, const Value& recorded, const c10::IValue& value) const {
    const Value now(value);
    for (size_t i = 0; i < recorded.tensors.size(); ++i) {
      const Held& held = recorded.tensors[i];
      if (!held.own.defined() || !now.tensors[i].own.defined()) continue;
      const at::Tensor& from = now.tensors[i].own;
      if (from.storage().is_alias_of(held.own.storage())) continue;
      if (from.sizes() != held.own.sizes())
        throw std::runtime_error(call.name + " has a result of another size in the replay");
      held.own.copy_(from);
    }
  }

  std::vector<Call> calls_;
  Storages own_;
  std::vector<c10::Storage> alive_;
};

}  // namespace cachet::test
