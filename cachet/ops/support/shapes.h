#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/SymIntArrayRef.h>

#include <optional>

namespace cachet::ops {

// Sizes are SymInts wherever a program may be traced for any batch and length (torch.export, torch.compile). A size
// has no number there, and reading one would make it a constant of the program. A check that holds by assumption in a
// trace is checked when the program runs.

inline bool same_size(const c10::SymInt& a, const c10::SymInt& b) {
  return a.sym_eq(b).expect_true(__FILE__, __LINE__);
}
inline bool same_sizes(c10::SymIntArrayRef a, c10::SymIntArrayRef b) {
  return c10::sym_equals(a, b).expect_true(__FILE__, __LINE__);
}
/// Whether `a` is `b`, or 1, which fits any `b`.
inline bool same_size_or_one(const c10::SymInt& a, const c10::SymInt& b) {
  return a.sym_eq(b).sym_or(a.sym_eq(1)).expect_true(__FILE__, __LINE__);
}
inline bool at_least(const c10::SymInt& size, int64_t least) {
  return size.sym_ge(least).expect_true(__FILE__, __LINE__);
}
inline bool divides(const c10::SymInt& divisor, const c10::SymInt& size) {
  return at_least(divisor, 1) && same_size(size % divisor, 0);
}
/// Whether a size is this number, for a branch. False for a size without a number that could be any number.
inline bool is_size(const c10::SymInt& size, int64_t number) {
  return size.sym_eq(number).guard_or_false(__FILE__, __LINE__);
}
inline bool is_vector(const at::Tensor& x, const c10::SymInt& length) {
  return x.dim() == 1 && same_size(x.sym_size(0), length);
}

/// Throws c10::Error that begins with the operator's name unless x is a vector of this length. `dim`: the letter for
/// the length in the operator's documentation. The parts of the name are concatenated.
template <class... Name>
void check_vector(const char* op, const at::Tensor& x, const char* dim, const c10::SymInt& length,
                  const Name&... name) {
  TORCH_CHECK(is_vector(x, length), op, ": ", name..., " must be (", dim, ") = (", length, "), got ", x.sym_sizes());
}

/// Throws c10::Error that begins with the operator's name unless the tensor has these sizes, is on the device of
/// `like`, and has its dtype (or `dtype` if it is given).
void check_shape(const char* op, const char* name, const at::Tensor& tensor, c10::SymIntArrayRef sizes,
                 const at::Tensor& like, std::optional<at::ScalarType> dtype = {});

/// Returns the result of a shape function: dense, with the sizes, dtype and device of x.
inline at::Tensor empty_as(const at::Tensor& x) { return at::empty_symint(x.sym_sizes(), x.options()); }

/// Returns heads (B, H, length, width), contiguous for each token in memory, with the B and H of x.
at::Tensor empty_side_by_side(const at::Tensor& x, const c10::SymInt& length, const c10::SymInt& width);

}  // namespace cachet::ops
