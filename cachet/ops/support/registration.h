#pragma once

#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cachet/ops/support/compositions.h"
#include "cachet/ops/support/second_derivative.h"

namespace cachet::ops {

/// The autocast form of an operator. An autocast form converts the arguments with the indices `narrowed` (tensors,
/// optional tensors or lists of tensors) to the autocast dtype, passes the other arguments unchanged, and calls `call`
/// without autocast.
template <auto call, size_t... narrowed>
struct AutocastForm;

template <class Result, class... Arguments, Result (*call)(Arguments...), size_t... narrowed>
struct AutocastForm<call, narrowed...> {
  template <c10::DeviceType device, c10::DispatchKey key>
  static Result run(Arguments... arguments) {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(key);
    return [&]<size_t... indices>(std::index_sequence<indices...>) {
      return call(argument<device, indices>(arguments)...);
    }
    (std::index_sequence_for<Arguments...>());
  }

 private:
  template <c10::DeviceType device, size_t place, class Argument>
  static decltype(auto) argument(const Argument& value) {
    if constexpr (((place == narrowed) || ...))
      return at::autocast::cached_cast(at::autocast::get_autocast_dtype(device), value, device);
    else
      return static_cast<const Argument&>(value);
  }
};

/// Defines one operator and registers its forms, each under its dispatch key:
///   TORCH_LIBRARY_FRAGMENT(cachet, m) {
///     Operator(m, "twice(Tensor x) -> Tensor").composite(twice_composite).cpu(twice_cpu).meta(twice_meta);
///   }
class Operator {
 public:
  Operator(torch::Library& library, const char* schema)
      : library_(library), name_(std::string_view(schema).substr(0, std::string_view(schema).find('('))) {
    library_.def(schema);
  }

  /// Registers `form` as the operator's implementation for all devices. The operator's autograd form computes the
  /// gradient of `form`. `form` either consists of LibTorch's operators or chooses CPU kernels itself.
  template <class Form>
  Operator& composite(Form* form) {
    remember(form);
    return add(c10::DispatchKey::CompositeExplicitAutograd, form);
  }
  /// Registers `form`, an implementation for all devices that is not fused into one kernel. Autograd computes the
  /// gradient of `form` through the operators of `form`.
  template <class Form>
  Operator& differentiable_composite(Form* form) {
    remember(form);
    return add(c10::DispatchKey::CompositeImplicitAutograd, form);
  }
  template <class Form>
  Operator& cpu(Form* form) {
    return add(c10::DispatchKey::CPU, form);
  }
  /// Registers `form` as the operator's CUDA implementation, which calls kernels or throws. After this call, fused_on()
  /// returns `cuda` for this operator.
  template <class Form>
  Operator& cuda(Form* form) {
    remember_cuda_form(name_);
    return add(c10::DispatchKey::CUDA, form);
  }
  /// Adds the Meta form, which computes only the shapes and dtypes of the results.
  template <class Form>
  Operator& meta(Form* form) {
    return add(c10::DispatchKey::Meta, form);
  }
  template <class Form>
  Operator& autograd(Form* form) {
    return add(c10::DispatchKey::Autograd, form);
  }
  /// Marks a backward operator, which has no gradient. If the gradient of a backward operator is requested, the
  /// operator throws the error "`of`: no second derivative `why`".
  Operator& without_gradient(const std::string& of, const char* why) {
    library_.impl(name_.c_str(), torch::dispatch(c10::DispatchKey::Autograd,
                                                 refuse_second_derivative(of + ": no second derivative " + why)));
    return *this;
  }
  /// Registers an AutocastForm, which converts the arguments with the indices `narrowed`.
  template <auto call, size_t... narrowed>
  Operator& autocast() {
    using Form = AutocastForm<call, narrowed...>;
    add(c10::DispatchKey::AutocastCPU, &Form::template run<at::kCPU, c10::DispatchKey::AutocastCPU>);
    return add(c10::DispatchKey::AutocastCUDA, &Form::template run<at::kCUDA, c10::DispatchKey::AutocastCUDA>);
  }
  /// Registers `form`, which has the signature of the operator, as the operator's implementation under autocast.
  template <class Form>
  Operator& autocast(Form* form) {
    add(c10::DispatchKey::AutocastCPU, form);
    return add(c10::DispatchKey::AutocastCUDA, form);
  }

 private:
  template <class Form>
  void remember(Form* form) {
    remember_composition(name_, [form](torch::Library& library, const char* name) {
      library.impl(name, torch::dispatch(c10::DispatchKey::Tracer, form));
    });
  }
  template <class Form>
  Operator& add(c10::DispatchKey key, Form* form) {
    library_.impl(name_.c_str(), torch::dispatch(key, form));
    return *this;
  }

  torch::Library& library_;
  std::string name_;
};

}  // namespace cachet::ops
