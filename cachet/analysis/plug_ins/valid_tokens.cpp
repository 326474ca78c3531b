#include "cachet/analysis/plug_ins/valid_tokens.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/index.h>

namespace cachet::analysis {

at::Tensor valid_tokens(const at::Tensor& x, const at::Tensor& padding) {
  if (!padding.defined()) return x;
  return at::index(x, {padding.logical_not()}).unsqueeze(0);
}

at::Tensor without_padding(const at::Tensor& x, const at::Tensor& padding) {
  return padding.defined() ? x.masked_fill(padding.unsqueeze(2), 0) : x;
}

}  // namespace cachet::analysis
