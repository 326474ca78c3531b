#include "cachet/nn/base/cloning.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include <vector>

#include "cachet/nn/base/cloneable.h"

namespace cachet::nn {
namespace {

bool is_ours(const torch::nn::Module& module) { return dynamic_cast<const CopyableModule*>(&module) != nullptr; }

using UsePair = std::function<void(const torch::nn::Module& original, torch::nn::Module& copy)>;

// Each module of a tree with its copy, parents first.
void for_each_pair(const torch::nn::Module& original, torch::nn::Module& copy, const UsePair& use) {
  use(original, copy);
  const auto before = original.children(), after = copy.children();
  TORCH_CHECK(before.size() == after.size(), original.name(), " cannot be cloned: its copy has different submodules");
  for (size_t i = 0; i < before.size(); ++i) for_each_pair(*before[i], *after[i], use);
}

using UseTensors = std::function<void(const torch::Tensor& original, const torch::Tensor& copy)>;

// Each registered tensor with its copy; one that two modules share, twice.
void for_each_tensor(const torch::nn::Module& original, torch::nn::Module& copy, const UseTensors& use) {
  for_each_pair(original, copy, [&](const torch::nn::Module& ours, torch::nn::Module& theirs) {
    const auto each = [&](const std::vector<torch::Tensor>& before, const std::vector<torch::Tensor>& after) {
      for (size_t i = 0; i < before.size(); ++i) use(before[i], after.at(i));
    };
    each(ours.parameters(/*recurse=*/false), theirs.parameters(/*recurse=*/false));
    each(ours.buffers(/*recurse=*/false), theirs.buffers(/*recurse=*/false));
  });
}

// What two modules share, two copies share. Modules of LibTorch may break that, since each copies its own tensors.
void check_shared(const torch::nn::Module& original, torch::nn::Module& copy) {
  std::unordered_map<const c10::TensorImpl*, const c10::TensorImpl*> copies;
  for_each_tensor(original, copy, [&](const torch::Tensor& before, const torch::Tensor& after) {
    const auto* made = after.unsafeGetTensorImpl();
    TORCH_CHECK(copies.try_emplace(before.unsafeGetTensorImpl(), made).first->second == made, original.name(),
                " cannot be cloned: a LibTorch module shares a tensor with another module, but its copy would not");
  });
}

// LibTorch's own modules draw weights when they are cloned, before these are copied over.
class GeneratorKept {
 public:
  GeneratorKept() : generator_(at::detail::getDefaultCPUGenerator()), state_(generator_.get_state()) {}
  ~GeneratorKept() { generator_.set_state(state_); }
  GeneratorKept(const GeneratorKept&) = delete;
  GeneratorKept& operator=(const GeneratorKept&) = delete;

 private:
  at::Generator generator_;
  torch::Tensor state_;
};

}  // namespace

thread_local Cloning* Cloning::current_ = nullptr;

std::shared_ptr<torch::nn::Module> Cloning::clone(const torch::nn::Module& original,
                                                  const std::optional<torch::Device>& device,
                                                  const std::function<std::shared_ptr<torch::nn::Module>()>& copy) {
  if (current_ != nullptr) {
    if (const auto known = current_->modules_.find(&original); known != current_->modules_.end()) return known->second;
    return current_->modules_[&original] = copy();
  }
  Cloning cloning(device);
  current_ = &cloning;
  const at::NoGradGuard no_grad;
  const GeneratorKept generator;
  cloning.copy_leaves(original);
  const auto made = cloning.modules_[&original] = copy();
  for_each_pair(original, *made, [](const torch::nn::Module& before, torch::nn::Module& after) {
    after.train(before.is_training());  // and all below it, which come after
  });
  check_shared(original, *made);
  return made;
}

torch::Tensor Cloning::copied(const torch::Tensor& original) {
  return current_ == nullptr || !original.defined() ? original : current_->copy_of(original);
}

std::shared_ptr<torch::nn::Module> Cloning::copied(const std::shared_ptr<torch::nn::Module>& original) {
  return current_ == nullptr || !original ? original : current_->copy_of(*original);
}

// What a module of LibTorch has copied can be given to ours, not the other way round: these are copied first.
void Cloning::copy_leaves(const torch::nn::Module& root) {
  for (const auto& child : root.children()) {
    if (is_ours(root) && !is_ours(*child) && child->children().empty())
      copy_of(*child);
    else
      copy_leaves(*child);
  }
}

std::shared_ptr<torch::nn::Module> Cloning::copy_of(const torch::nn::Module& original) {
  if (const auto known = modules_.find(&original); known != modules_.end()) return known->second;
  const auto copy = original.clone(device_);
  modules_[&original] = copy;
  if (!is_ours(original))
    for_each_tensor(original, *copy, [&](const torch::Tensor& before, const torch::Tensor& after) {
      after.set_requires_grad(before.requires_grad());
      tensors_.try_emplace(before.unsafeGetTensorImpl(), after);
    });
  return copy;
}

torch::Tensor Cloning::copy_of(const torch::Tensor& original) {
  torch::Tensor& copy = tensors_[original.unsafeGetTensorImpl()];
  if (!copy.defined()) {
    copy = original.detach().to(device_.value_or(original.device()), original.scalar_type(), /*non_blocking=*/false,
                                /*copy=*/true);
    copy.set_requires_grad(original.requires_grad());
  }
  return copy;
}

}  // namespace cachet::nn
