#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
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
/// refused by name. A new tensor whose values the host writes is refused, too: on a GPU this is an upload.
class ReplayedCalls {
 public:
  /// Calls `work` and records it.
  void record(const std::function<void()>& work) {
    static torch::Library library = fallback();  // stays for the rest of the process
    calls_.clear();
    own_.clear();
    alive_.clear();
    unwritten_.clear();
    const Recording recording(*this);
    const c10::impl::IncludeDispatchKeyGuard include(kKey);
    work();
    release_others();
  }

  /// Whether a recording fails at an operator; `index` counts the operators from 0.
  using FailsAt = std::function<bool(size_t index, const std::string& name)>;

  /// Records `work`, but fails at an operator, as a capture does if the memory is full. A capture that fails has
  /// calculated nothing, so all tensors and the random generator get their earlier values. If no operator fails, is the
  /// same as record().
  void record_until(const FailsAt& fails_at, const std::function<void()>& work) {
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    const at::Tensor random = [&] {
      const std::lock_guard<std::mutex> lock(generator.mutex());
      return generator.get_state();
    }();
    fails_at_ = fails_at;
    try {
      record(work);
    } catch (...) {
      for (auto& [storage, before] : before_)
        std::memcpy(storage->mutable_data(), before.bytes.data(), before.bytes.size());
      calls_.clear();
      fails_at_ = nullptr;
      before_.clear();
      const std::lock_guard<std::mutex> lock(generator.mutex());
      generator.set_state(random);
      throw;
    }
    fails_at_ = nullptr;
    before_.clear();
  }

  bool empty() const { return calls_.empty(); }
  size_t size() const { return calls_.size(); }

  /// Describes the first call that differs from the recording `first` of the same work: another operator, a tensor at
  /// another address, or another number of the host. Tensors of a recording itself are equal by their order.
  std::optional<std::string> difference_from(const ReplayedCalls& first) const {
    for (size_t i = 0; i < std::min(size(), first.size()); ++i)
      if (calls_[i].text != first.calls_[i].text)
        return "call " + std::to_string(i) + " was " + first.calls_[i].text + ", and is now " + calls_[i].text;
    if (size() == first.size()) return std::nullopt;
    return "there were " + std::to_string(first.size()) + " calls, and now there are " + std::to_string(size());
  }

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
                                             "aten::allclose",
                                             "aten::repeat_interleave",
                                             "aten::_assert_async"};
    return names;
  }

 private:
  // Below autograd, above the kernels; nothing else uses it.
  static constexpr c10::DispatchKey kKey = c10::DispatchKey::Fake;

  using Storages = std::set<const c10::StorageImpl*>;
  using NumberedStorages = std::map<const c10::StorageImpl*, size_t>;  // in the order of the calls that made them

  /// A tensor of the recording, or of others: then only its memory's address and shape are held, as in a graph.
  struct Held {
    at::Tensor own;
    c10::weak_intrusive_ptr<c10::StorageImpl> storage{c10::intrusive_ptr<c10::StorageImpl>()};
    std::vector<int64_t> sizes, strides;
    int64_t offset = 0;
    at::TensorOptions options;
    bool defined = false;

    explicit Held(const at::Tensor& tensor) : own(tensor), defined(tensor.defined()) {}

    void release(const NumberedStorages& owned) {
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
    std::string text{};    // the operator and its arguments
  };

  /// The values of a tensor of others before the recording wrote it.
  struct Before {
    c10::Storage storage;  // which stays
    std::vector<char> bytes;
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
    if (calls->fails_at_ && calls->fails_at_(calls->calls_.size(), name)) throw std::runtime_error("out of memory");
    const c10::FunctionSchema& schema = operation.schema();
    const size_t count = schema.arguments().size();
    Call call{name, operation, below, {}, {}, false};
    Storages given, read, written;
    for (size_t i = 0; i < count; ++i) {
      const c10::IValue& argument = (*stack)[stack->size() - count + i];
      call.arguments.emplace_back(argument);
      refuse_mask(call);
      const c10::AliasInfo* alias = schema.arguments()[i].alias_info();
      for (const Held& held : call.arguments.back().tensors) {
        if (!held.defined || !held.own.has_storage()) continue;
        const c10::StorageImpl* storage = held.own.storage().unsafeGetStorageImpl();
        given.insert(storage);
        const bool is_written = alias != nullptr && alias->isWrite();
        (is_written ? written : read).insert(storage);
        if (is_written && calls->fails_at_) calls->remember(held.own.storage());
      }
    }
    call.text = calls->text_of(call);
    operation.redispatchBoxed(below, stack);
    bool makes = false;
    const bool writes = std::ranges::any_of(schema.arguments(), [](const c10::Argument& argument) {
      return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    });
    for (auto result = stack->end() - static_cast<std::ptrdiff_t>(schema.returns().size()); result != stack->end();
         ++result) {
      call.results.emplace_back(*result);
      for (const Held& held : call.results.back().tensors) {
        if (!held.defined || !held.own.has_storage()) continue;
        const c10::StorageImpl* storage = held.own.storage().unsafeGetStorageImpl();
        if (given.contains(storage)) continue;
        makes = true;
        calls->own_.emplace(storage, calls->own_.size());
        calls->alive_.push_back(held.own.storage());
        if (name.starts_with("aten::empty") || name.starts_with("aten::new_empty"))
          if (held.own.numel() > 0) calls->unwritten_.insert(storage);
      }
    }
    call.is_view = !writes && !makes && !schema.returns().empty();
    const bool reads_no_value = call.is_view || name.ends_with("_like") || name.starts_with("aten::new_");
    for (const c10::StorageImpl* storage : written) calls->unwritten_.erase(storage);
    for (const c10::StorageImpl* storage : read)
      if (!reads_no_value && calls->unwritten_.contains(storage))
        throw std::runtime_error(name + " reads a new tensor whose values the host wrote");
    calls->calls_.push_back(std::move(call));
  }

  /// An index by a mask has a result whose size depends on values.
  static void refuse_mask(const Call& call) {
    if (!call.name.starts_with("aten::index") && !call.name.starts_with("aten::_index_put")) return;
    for (const Held& held : call.arguments.back().tensors)
      if (call.arguments.back().kind == Value::Kind::optional_list && held.defined &&
          (held.own.scalar_type() == at::kBool || held.own.scalar_type() == at::kByte))
        throw std::runtime_error(call.name + " with a mask reads a value on the host");
  }

  void remember(const c10::Storage& storage) {
    c10::StorageImpl* impl = storage.unsafeGetStorageImpl();
    if (own_.contains(impl) || before_.contains(impl)) return;
    const auto* bytes = static_cast<const char*>(impl->data());
    before_.emplace(impl, Before{storage, std::vector<char>(bytes, bytes + impl->nbytes())});
  }

  std::string text_of(const Call& call) const {
    std::ostringstream text;
    text << call.operation.operator_name() << "(";
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      if (i > 0) text << ", ";
      const Value& value = call.arguments[i];
      if (value.kind == Value::Kind::other) {
        if (value.other.isGenerator())
          text << "generator";
        else
          text << value.other;
        continue;
      }
      for (const Held& held : value.tensors) {
        if (!held.defined || !held.own.has_storage()) {
          text << "none ";
          continue;
        }
        const c10::StorageImpl* storage = held.own.storage().unsafeGetStorageImpl();
        const auto own = own_.find(storage);
        if (own != own_.end())
          text << "#" << own->second;
        else
          text << static_cast<const void*>(storage);
        text << "+" << held.own.storage_offset() << held.own.sizes() << " ";
      }
    }
    text << ")";
    return std::move(text).str();
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
  NumberedStorages own_;
  Storages unwritten_;  // new tensors without values
  std::vector<c10::Storage> alive_;
  FailsAt fails_at_;  // null: no operator fails
  std::map<c10::StorageImpl*, Before> before_;
};

}  // namespace cachet::test
