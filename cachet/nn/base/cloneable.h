#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <typeinfo>

#include "cachet/nn/base/cloning.h"

namespace cachet::nn {

// A module with clone() derives from Cloneable, stores registered objects as RegisteredTensor or Submodule,
// and has the compiler's implicit copy constructor.

/// A module with clone(). During clone(), the copy constructor registers copies of all registered objects of the
/// original, under the same names and in the same order. Outside clone(), a copied module refers to the original's
/// tensors and modules, like a copy of any LibTorch module.
class CopyableModule : public torch::nn::Module {
 public:
  using torch::nn::Module::Module;
  CopyableModule() = default;

  /// Returns an independent copy of parameters, buffers, parts, options, training flags and requires_grad flags, on
  /// `device` or the original's device. If the original uses one object twice, the copy also uses one object twice.
  /// Copies have no listener and no gradients. clone() draws no random number. Throws c10::Error for a class that is
  /// not Cloneable.
  std::shared_ptr<torch::nn::Module> clone(const std::optional<torch::Device>& device = std::nullopt) const override;

 protected:
  CopyableModule(const CopyableModule& other);
  CopyableModule& operator=(const CopyableModule&) = default;
};

/// Adds clone() to `Base` (a CopyableModule) for the most derived class `Self`. The constructors of Cloneable are those
/// of `Base`.
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
  // Makes this new module a copy of `other`. LibTorch calls clone_() if it clones a LibTorch module that contains
  // `other`.
  void clone_(torch::nn::Module& other, const std::optional<torch::Device>& device) override {
    static_cast<Self&>(*this) = dynamic_cast<const Self&>(*other.clone(device));
  }
};

/// A module without computations, which groups parameters and parts under a name.
class ModuleGroup final : public Cloneable<ModuleGroup> {
 public:
  using Cloneable::Cloneable;
};

}  // namespace cachet::nn
