#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace cachet::nn {

/// One call of clone() on a tree of modules: a map from each tensor and module to its copy. Each object is copied only
/// once: an object with two names is one object in the copy.
class Cloning {
 public:
  /// Returns the clone of `original`; `copy` calls the copy constructor of the class. If a module that contains
  /// `original` is being cloned, returns the copy of `original` inside the new clone. Throws c10::Error if a LibTorch
  /// module and another module share a tensor, because the LibTorch module makes a copy of its own.
  static std::shared_ptr<torch::nn::Module> clone(const torch::nn::Module& original,
                                                  const std::optional<torch::Device>& device,
                                                  const std::function<std::shared_ptr<torch::nn::Module>()>& copy);

  /// If this thread runs a clone(), returns the copy of `original` in this clone(). Otherwise, returns `original`. A
  /// null pointer and an undefined tensor are returned unchanged.
  static torch::Tensor copied(const torch::Tensor& original);
  static std::shared_ptr<torch::nn::Module> copied(const std::shared_ptr<torch::nn::Module>& original);

 private:
  explicit Cloning(const std::optional<torch::Device>& device) : device_(device) {}
  ~Cloning() { current_ = nullptr; }
  Cloning(const Cloning&) = delete;
  Cloning& operator=(const Cloning&) = delete;

  void copy_leaves(const torch::nn::Module& root);
  std::shared_ptr<torch::nn::Module> copy_of(const torch::nn::Module& original);
  torch::Tensor copy_of(const torch::Tensor& original);

  static thread_local Cloning* current_;
  std::optional<torch::Device> device_;
  std::unordered_map<const c10::TensorImpl*, torch::Tensor> tensors_;
  std::unordered_map<const torch::nn::Module*, std::shared_ptr<torch::nn::Module>> modules_;
};

/// A tensor that a module, or a part of the module, has registered as parameter or buffer. If the module is copied, the
/// RegisteredTensor of the copy refers to the copied tensor.
class RegisteredTensor : public torch::Tensor {
 public:
  RegisteredTensor() = default;
  RegisteredTensor(const RegisteredTensor& other) : torch::Tensor(Cloning::copied(other)) {}
  RegisteredTensor(RegisteredTensor&&) = default;
  RegisteredTensor& operator=(const RegisteredTensor&) = default;
  RegisteredTensor& operator=(RegisteredTensor&&) = default;
  RegisteredTensor& operator=(torch::Tensor tensor) {  // not a constructor, so that `a ? own : other` is a plain tensor
    torch::Tensor::operator=(std::move(tensor));
    return *this;
  }
};

/// A module that another module has registered as a part. If the outer module is copied, the Submodule of the copy
/// refers to the copied part. May be null.
template <class Module>
class Submodule : public std::shared_ptr<Module> {
 public:
  using Pointer = std::shared_ptr<Module>;

  Submodule() = default;
  Submodule(std::nullptr_t) {}
  template <class Derived>
  requires std::is_convertible_v<Derived*, Module*> Submodule(std::shared_ptr<Derived> module)
      : Pointer(std::move(module)) {}
  Submodule(const Submodule& other) : Pointer(std::dynamic_pointer_cast<Module>(Cloning::copied(other))) {}
  Submodule(Submodule&&) = default;
  Submodule& operator=(const Submodule&) = default;
  Submodule& operator=(Submodule&&) = default;
};

template <class Module>
using Part [[deprecated("Submodule")]] = Submodule<Module>;

using OwnTensor [[deprecated("RegisteredTensor")]] = RegisteredTensor;

}  // namespace cachet::nn
