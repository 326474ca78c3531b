#include "cachet/analysis/cost/meta_model.h"

#include <ATen/ops/empty_like.h>
#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>

#include <memory>

#include "cachet/analysis/cost/meta_kernels.h"
#include "cachet/nn/base/initialization.h"

namespace cachet::analysis {
namespace {

/// Gives large tensors address space alone: only what is written to takes memory.
class ReservingAllocator final : public c10::Allocator {
 public:
  explicit ReservingAllocator(c10::Allocator* before) : before_(before) {}

  c10::DataPtr allocate(size_t bytes) override {
    constexpr size_t kLarge = size_t{1} << 20;
    if (bytes < kLarge) return before_->allocate(bytes);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return before_->allocate(bytes);  // its error has the number of missing bytes
    return {memory, new Piece{memory, bytes}, &release, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }

 private:
  struct Piece {
    void* memory;
    size_t bytes;
  };
  static void release(void* context) {
    const std::unique_ptr<Piece> piece(static_cast<Piece*>(context));
    munmap(piece->memory, piece->bytes);
  }

  c10::Allocator* before_;
};

/// While it lives, LibTorch's tensors of the CPU come from a ReservingAllocator.
class ReservedMemory {
 public:
  ReservedMemory() { c10::SetCPUAllocator(&reserving(before_)); }
  ~ReservedMemory() { c10::SetCPUAllocator(before_); }
  ReservedMemory(const ReservedMemory&) = delete;
  ReservedMemory& operator=(const ReservedMemory&) = delete;

 private:
  /// It is never destroyed: a tensor asks the allocator that it came from whenever it grows.
  static ReservingAllocator& reserving(c10::Allocator* before) {
    static auto* const only = new ReservingAllocator(before);
    return *only;
  }

  c10::Allocator* before_ = c10::GetCPUAllocator();
};

}  // namespace

void move_to_meta(torch::nn::Module& module) {
  at::NoGradGuard no_grad;
  const auto move = [](const torch::Tensor& tensor) {
    if (!tensor.defined() || tensor.is_meta()) return;
    const at::Tensor shape = at::empty_like(tensor, tensor.options().device(at::kMeta));
    tensor.unsafeGetTensorImpl()->shallow_copy_from(shape.getIntrusivePtr());
  };
  for (const auto& parameter : module.parameters()) move(parameter);
  for (const auto& buffer : module.buffers()) move(buffer);
}

std::shared_ptr<models::Model> build_on_meta(const models::ModelPlan& plan) {
  register_meta_kernels();
  const nn::WithoutInitialization no_values;
  const ReservedMemory no_memory;
  auto model = plan.build();
  move_to_meta(*model);
  return model;
}

void use_shapes_of(const models::Model& model, const UseCopy& use) {
  const at::NoGradGuard no_grad;
  register_meta_kernels();
  const auto use_on = [&](at::DeviceType device) {
    const auto copy = std::dynamic_pointer_cast<models::Model>(model.clone(device));
    const auto parameters = copy->parameters();
    use(*copy, at::TensorOptions(device).dtype(parameters.empty() ? at::kFloat : parameters.front().scalar_type()));
  };
  try {
    use_on(at::kMeta);
  } catch (const c10::NotImplementedError&) {
    use_on(at::kCPU);
  }
}

}  // namespace cachet::analysis
