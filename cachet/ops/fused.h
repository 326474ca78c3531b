#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <algorithm>

#include "cachet/kernels/bfloat16.h"

namespace cachet::ops {

/// Whether compositions of ATen operators stand for all fused kernels: CACHET_COMPOSITE=1 in the environment, or a
/// CompositeOnly.
bool composite_only();

/// Whether an operator may run its fused kernel on a tensor: on the CPU, float32 or bfloat16, unless composite_only().
bool may_fuse(const at::Tensor& x);

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

/// Pieces of at most `size` that make `count`.
inline int64_t chunks_of(int64_t count, int64_t size) { return (count + size - 1) / size; }

inline c10::SymInt chunks_of(const c10::SymInt& count, const c10::SymInt& size) { return (count + size - 1) / size; }

/// Splits [0, count) over ATen's threads, in pieces of at least about 16,384 of `work` numbers each.
template <class Body>
void parallel(int64_t count, int64_t work, const Body& body) {
  constexpr int64_t kLeastWork = 16'384;
  const int64_t grain = std::max<int64_t>(1, kLeastWork / std::max<int64_t>(1, work));
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

/// What the backward operator of a fused form says where it cannot run: a composition has gradients of its own there.
inline void check_fuses(const char* op, bool fuses) {
  TORCH_CHECK(fuses, op, "_backward: serves float32 and bfloat16 on the CPU; elsewhere ", op,
              " is a composition with gradients of its own");
}

}  // namespace cachet::ops
