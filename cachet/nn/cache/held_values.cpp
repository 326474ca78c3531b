#include "cachet/nn/cache/held_values.h"

#include <ATen/TracerMode.h>

namespace cachet::nn {
namespace {

bool read_whether_any(const torch::Tensor& tensor) {
  const at::tracer::impl::NoTracerDispatchMode no_step_of_a_graph;
  return tensor.any().item<bool>();
}

}  // namespace

bool HeldValues::of(const torch::Tensor& tensor) const {
  if (tensor.is_meta()) return true;
  if (tensor.is_inference()) return read_whether_any(tensor);  // its writes are not counted
  const c10::TensorImpl* own = tensor.unsafeGetTensorImpl();
  const auto version = static_cast<uint32_t>(tensor._version());
  return answer_
      .get([&](const Answer& kept) { return kept.tensor == own && kept.version == version; },
           [&] {
             return Answer{own, version, read_whether_any(tensor)};
           })
      ->holds;
}

void HeldValues::set(const torch::Tensor& tensor, bool holds) {
  if (tensor.is_meta() || tensor.is_inference()) return;
  answer_.get([](const Answer&) { return false; },
              [&] {
                return Answer{tensor.unsafeGetTensorImpl(), static_cast<uint32_t>(tensor._version()), holds};
              });
}

}  // namespace cachet::nn
