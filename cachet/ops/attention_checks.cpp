#include "cachet/ops/attention_checks.h"

namespace cachet::ops {

using at::Tensor;

bool fits_batch(const Tensor& x, const Tensor& q) { return x.size(0) == q.size(0) || x.size(0) == 1; }

void check_attention_operands(const char* op, char width, const Tensor& q, const Tensor& k, const Tensor& v) {
  TORCH_CHECK(k.dim() == 4 && fits_batch(k, q) && k.size(1) == q.size(1) && k.size(3) == q.size(3), op,
              ": k must be (B or 1, H, Lk, ", width, ") with the B, H, ", width, " of q ", q.sizes(), ", got ",
              k.sizes());
  TORCH_CHECK(v.dim() == 4 && v.sizes().slice(0, 3) == k.sizes().slice(0, 3), op,
              ": v must be (B, H, Lk, e) with the B, H, Lk of k ", k.sizes(), ", got ", v.sizes());
  TORCH_CHECK(k.scalar_type() == q.scalar_type() && v.scalar_type() == q.scalar_type(), op, ": q is ", q.scalar_type(),
              ", k ", k.scalar_type(), ", v ", v.scalar_type());
}

}  // namespace cachet::ops
