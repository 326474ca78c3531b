#include "cachet/ops/attention/attention_checks.h"

#include "cachet/ops/support/shapes.h"

namespace cachet::ops {

using at::Tensor;

void check_attention_operands(const char* op, char width, const Tensor& q, const Tensor& k, const Tensor& v) {
  TORCH_CHECK(k.dim() == 4 && same_size_or_one(k.sym_size(0), q.sym_size(0)) &&
                  same_size(k.sym_size(1), q.sym_size(1)) && same_size(k.sym_size(3), q.sym_size(3)),
              op, ": k must be (B or 1, H, Lk, ", width, ") with the B, H, ", width, " of q ", q.sym_sizes(), ", got ",
              k.sym_sizes());
  TORCH_CHECK(v.dim() == 4 && same_sizes(v.sym_sizes().slice(0, 3), k.sym_sizes().slice(0, 3)), op,
              ": v must be (B, H, Lk, e) with the B, H, Lk of k ", k.sym_sizes(), ", got ", v.sym_sizes());
  TORCH_CHECK(k.scalar_type() == q.scalar_type() && v.scalar_type() == q.scalar_type(), op, ": q is ", q.scalar_type(),
              ", k ", k.scalar_type(), ", v ", v.scalar_type());
}

}  // namespace cachet::ops
