#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <string_view>

#include "cachet/kernels/bfloat16.h"
#include "cachet/ops/support/function_transform.h"
#include "cachet/ops/support/optional_tensor.h"

namespace cachet::ops {

/// Whether unfused forms (ATen operators) replace all fused kernels, because of CACHET_COMPOSITE=1 in the
/// environment or because a CompositeOnly object exists.
bool composite_only();

/// The device whose fused kernel computes a call. none: the unfused form (ATen operators) computes it.
enum class FusedOn { none, cpu, cuda };

/// Returns the device on which the fused kernel of cachet::<op> runs for a tensor. Kernels read float32 and bfloat16.
/// Each operator that calls fused_on() has a CPU kernel. The operator also has a CUDA kernel if it registered a CUDA
/// form (Operator::cuda). CPU forms call fused_on() without `op`; the result is then never `cuda`. If composite_only()
/// or in_function_transform() is true, no kernel runs.
FusedOn fused_on(const at::Tensor& x, std::string_view op = {});

/// Records that the operator cachet::<op> has a CUDA form. Operator::cuda calls this function while the program starts.
void remember_cuda_form(std::string_view op);

/// Whether a tensor takes the code paths that were selected by timing on CPUs, for example another library for a matrix
/// product, or attention in blocks. Returns true on the CPU, in float32 or bfloat16, unless composite_only() returns
/// true.
bool tuned_for_cpu(const at::Tensor& x);

/// As long as an object of this class exists, no operator of this process runs a fused kernel. The class CompositeOnly
/// is for tests and debugging.
class CompositeOnly {
 public:
  CompositeOnly();
  ~CompositeOnly();
  CompositeOnly(const CompositeOnly&) = delete;
  CompositeOnly& operator=(const CompositeOnly&) = delete;
};

/// Calls `body` with a null pointer of the type T*, so that `body` knows T. T is the type in which kernels read the
/// elements of x, which must be float32 or bfloat16.
template <class Body>
void for_type_of(const at::Tensor& x, const Body& body) {
  if (x.scalar_type() == at::kBFloat16)
    body(static_cast<kernels::BFloat16*>(nullptr));
  else
    body(static_cast<float*>(nullptr));
}

/// Returns the data of a tensor as a pointer to the kernels' type.
template <class T>
const T* data(const at::Tensor& x) {
  return static_cast<const T*>(x.const_data_ptr());
}
template <class T>
T* mutable_data(const at::Tensor& x) {
  return static_cast<T*>(x.mutable_data_ptr());
}

/// Returns the data of a tensor, or null if the tensor is undefined.
template <class T>
const T* data_or_null(const at::Tensor& x) {
  return x.defined() ? data<T>(x) : nullptr;
}

/// Returns a vector of coefficients (such as a bias) for kernels: float32 and dense. Undefined if x is absent.
inline at::Tensor float_vector(const OptionalTensor& x) { return x ? x->to(at::kFloat).contiguous() : at::Tensor(); }

/// Returns how many chunks of at most `size` elements are needed for `count` elements.
inline int64_t chunks_of(int64_t count, int64_t size) { return (count + size - 1) / size; }

inline c10::SymInt chunks_of(const c10::SymInt& count, const c10::SymInt& size) { return (count + size - 1) / size; }

/// Splits [0, count) over ATen's threads. Each element has `work` numbers. A chunk (the elements for one thread) has at
/// least about 16,384 numbers.
template <class Body>
void parallel(int64_t count, int64_t work, const Body& body) {
  constexpr int64_t kMinWork = 16'384;
  const int64_t grain = std::max<int64_t>(1, kMinWork / std::max<int64_t>(1, work));
  at::parallel_for(0, count, grain, body);
}

/// Runs body(chunk, first row, number of rows) on `count` rows in chunks of at most `size` rows. ATen's threads
/// share the chunks. If a caller first sums in each chunk and then over the chunks in their order, the result does not
/// depend on the number of threads. work: number of elements in a row.
template <class Body>
void parallel_chunks(int64_t count, int64_t size, int64_t work, const Body& body) {
  parallel(chunks_of(count, size), size * work, [&](int64_t from, int64_t to) {
    for (int64_t chunk = from; chunk < to; ++chunk) body(chunk, chunk * size, std::min(size, count - chunk * size));
  });
}

/// Throws c10::Error unless a backward operator has its fused CPU form. If there is no fused form, autograd handles the
/// unfused form.
inline void check_fused_on_cpu(const char* op, FusedOn fused) {
  TORCH_CHECK(fused == FusedOn::cpu, op,
              "_backward: supports only float32 and bfloat16 on the CPU. For other tensors, use ", op,
              ", an unfused reference implementation whose gradients autograd computes");
}

}  // namespace cachet::ops
