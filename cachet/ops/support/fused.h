#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <string_view>

#include "cachet/kernels/bfloat16.h"
#include "cachet/ops/support/function_transform.h"
#include "cachet/ops/support/optional_tensor.h"

namespace cachet::ops {

/// Whether unfused forms of ATen operators replace all fused kernels: CACHET_COMPOSITE=1 in the environment, or a
/// CompositeOnly.
bool composite_only();

/// The device on which a fused kernel serves a call; none if the unfused form of ATen operators does.
enum class FusedOn { none, cpu, cuda };

/// Where the fused kernel of the operator cachet::<op> runs for a tensor. Kernels read float32 and bfloat16. Each
/// operator that asks has a kernel for the CPU; on CUDA it has one if it registered a form for it (Operator::cuda).
/// Without `op` no form for CUDA counts: the form for the CPU asks so. Under composite_only() and for an autograd form
/// in_function_transform() no kernel runs.
FusedOn fused_on(const at::Tensor& x, std::string_view op = {});

/// Operator::cuda calls this for the operator cachet::<op>, while the program starts.
void remember_cuda_form(std::string_view op);

/// Whether choices that were measured on CPUs hold for a tensor, such as a product by another library or attention in
/// blocks: it lies on the CPU, in float32 or bfloat16, and composite_only() does not ask for the plain way.
bool tuned_for_cpu(const at::Tensor& x);

/// While it lives, no operator of this process runs a fused kernel: for tests and debugging.
class CompositeOnly {
 public:
  CompositeOnly();
  ~CompositeOnly();
  CompositeOnly(const CompositeOnly&) = delete;
  CompositeOnly& operator=(const CompositeOnly&) = delete;
};

/// Calls body with a null pointer of the kernels' type for a float32 or bfloat16 tensor: body(T*).
template <class Body>
void for_type_of(const at::Tensor& x, const Body& body) {
  if (x.scalar_type() == at::kBFloat16)
    body(static_cast<kernels::BFloat16*>(nullptr));
  else
    body(static_cast<float*>(nullptr));
}

/// The data of a tensor, as kernels see them.
template <class T>
const T* data(const at::Tensor& x) {
  return static_cast<const T*>(x.const_data_ptr());
}
template <class T>
T* mutable_data(const at::Tensor& x) {
  return static_cast<T*>(x.mutable_data_ptr());
}

/// A null pointer for an undefined tensor.
template <class T>
const T* data_or_null(const at::Tensor& x) {
  return x.defined() ? data<T>(x) : nullptr;
}

/// A vector of coefficients, such as a bias, as kernels read it: float32 and dense. Undefined if it is absent.
inline at::Tensor float_vector(const OptionalTensor& x) { return x ? x->to(at::kFloat).contiguous() : at::Tensor(); }

/// Pieces of at most `size` that make `count`.
inline int64_t chunks_of(int64_t count, int64_t size) { return (count + size - 1) / size; }

inline c10::SymInt chunks_of(const c10::SymInt& count, const c10::SymInt& size) { return (count + size - 1) / size; }

/// Splits [0, count) over ATen's threads, in pieces of at least about 16,384 of `work` numbers each.
template <class Body>
void parallel(int64_t count, int64_t work, const Body& body) {
  constexpr int64_t kMinWork = 16'384;
  const int64_t grain = std::max<int64_t>(1, kMinWork / std::max<int64_t>(1, work));
  at::parallel_for(0, count, grain, body);
}

/// Walks `count` rows in chunks of at most `size`: body(chunk, first row, rows in it), chunks split over ATen's
/// threads. What is summed up a chunk at a time, and over the chunks in their order, does not depend on the number of
/// threads. work: numbers of a row.
template <class Body>
void parallel_chunks(int64_t count, int64_t size, int64_t work, const Body& body) {
  parallel(chunks_of(count, size), size * work, [&](int64_t from, int64_t to) {
    for (int64_t chunk = from; chunk < to; ++chunk) body(chunk, chunk * size, std::min(size, count - chunk * size));
  });
}

/// What the CPU form of a backward operator asks first: elsewhere autograd computes the unfused form's gradients.
inline void check_fused_on_cpu(const char* op, FusedOn fused) {
  TORCH_CHECK(fused == FusedOn::cpu, op, "_backward: serves float32 and bfloat16 on the CPU; elsewhere ", op,
              " is an unfused reference implementation, whose gradients autograd computes");
}

}  // namespace cachet::ops
