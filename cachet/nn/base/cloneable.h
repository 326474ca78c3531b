#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <typeinfo>

#include "cachet/nn/base/cloning.h"

namespace cachet::nn {

// How a module gets clone(): it derives from Cloneable, keeps what it registers in an RegisteredTensor or a Part, and
// has a copy constructor, which the compiler writes. There is nothing else to do.

/// A module whose copy constructor registers, while clone() copies it, copies of all that the original has registered,
/// under the same names and in the same order. Outside of clone() a copy refers to the same ones, as a copy of any
/// module of LibTorch does.
class CopyableModule : public torch::nn::Module {
 public:
  using torch::nn::Module::Module;
  CopyableModule() = default;

  /// A copy on its own: parameters, buffers, parts, options, training flags and what requires a gradient, on `device`
  /// or where the original is; what is shared within the original is shared within the copy. Nobody listens to it, and
  /// no gradients are copied. No random number is drawn. Throws c10::Error for a class that is not Cloneable.
  std::shared_ptr<torch::nn::Module> clone(const std::optional<torch::Device>& device = std::nullopt) const override;

 protected:
  CopyableModule(const CopyableModule& other);
  CopyableModule& operator=(const CopyableModule&) = default;
};

/// A `Base`, which is a CopyableModule, with clone() for its last derived class `Self`. Constructors are Base's.
template <class Self, class Base = CopyableModule>
class Cloneable : public Base {
 public:
  using Base::Base;

  std::shared_ptr<torch::nn::Module> clone(const std::optional<torch::Device>& device = std::nullopt) const override {
    if (typeid(*this) != typeid(Self)) return CopyableModule::clone(device);  // a class that derives from Self
    const auto& self = static_cast<const Self&>(*this);
    return Cloning::clone(self, device, [&self] { return std::make_shared<Self>(self); });
  }

 private:
  // A module of LibTorch that holds this one and clones itself has made a new one and wants it to be a copy of `other`.
  void clone_(torch::nn::Module& other, const std::optional<torch::Device>& device) override {
    static_cast<Self&>(*this) = dynamic_cast<const Self&>(*other.clone(device));
  }
};

/// Parameters and parts under a name, without arithmetic of their own.
class ModuleGroup final : public Cloneable<ModuleGroup> {
 public:
  using Cloneable::Cloneable;
};

}  // namespace cachet::nn
