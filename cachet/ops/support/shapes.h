#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/SymIntArrayRef.h>

#include <optional>

namespace cachet::ops {

// If a program may be traced for any batch and length (torch.export, torch.compile), sizes are SymInts. In a trace, a
// size has no fixed value; code that reads a size as an integer makes this integer a constant of the program. If a
// trace assumes that the condition of a check is true, the traced program checks the condition when it runs.

inline bool same_size(const c10::SymInt& a, const c10::SymInt& b) {
  return a.sym_eq(b).expect_true(__FILE__, __LINE__);
}
inline bool same_sizes(c10::SymIntArrayRef a, c10::SymIntArrayRef b) {
  return c10::sym_equals(a, b).expect_true(__FILE__, __LINE__);
}
/// Whether the size `a` equals the size `b` or is 1. Size 1 fits any `b`.
inline bool same_size_or_one(const c10::SymInt& a, const c10::SymInt& b) {
  return a.sym_eq(b).sym_or(a.sym_eq(1)).expect_true(__FILE__, __LINE__);
}
inline bool at_least(const c10::SymInt& size, int64_t least) {
  return size.sym_ge(least).expect_true(__FILE__, __LINE__);
}
inline bool divides(const c10::SymInt& divisor, const c10::SymInt& size) {
  return at_least(divisor, 1) && same_size(size % divisor, 0);
}
/// Whether a size equals `number`. The result can be used as the condition of an `if`. If the comparison cannot be
/// decided for a symbolic size, returns false.
inline bool is_size(const c10::SymInt& size, int64_t number) {
  return size.sym_eq(number).guard_or_false(__FILE__, __LINE__);
}
inline bool is_vector(const at::Tensor& x, const c10::SymInt& length) {
  return x.dim() == 1 && same_size(x.sym_size(0), length);
}

/// Throws c10::Error unless x is a vector of this length. The message begins with `op`. `dim` is the name of the length
/// in the message and in the documentation, such as "C". `name`: parts of the tensor's name, which are concatenated.
template <class... Name>
void check_vector(const char* op, const at::Tensor& x, const char* dim, const c10::SymInt& length,
                  const Name&... name) {
  TORCH_CHECK(is_vector(x, length), op, ": ", name..., " must be (", dim, ") = (", length, "), got ", x.sym_sizes());
}

/// Throws c10::Error unless the tensor has these sizes, is on the device of `like`, and has the dtype of `like` (or
/// `dtype` if it is given). The message begins with `op`.
void check_shape(const char* op, const char* name, const at::Tensor& tensor, c10::SymIntArrayRef sizes,
                 const at::Tensor& like, std::optional<at::ScalarType> dtype = {});

/// Returns a dense tensor with the sizes, dtype and device of x, for use as the result of a shape function.
inline at::Tensor empty_as(const at::Tensor& x) { return at::empty_symint(x.sym_sizes(), x.options()); }

/// Returns an uninitialized tensor (B, H, length, width), in which the heads of each token are contiguous. B and H are
/// the same as in x.
at::Tensor empty_side_by_side(const at::Tensor& x, const c10::SymInt& length, const c10::SymInt& width);

}  // namespace cachet::ops
