#include "cachet/models/detection/detection_sample.h"

#include <ATen/TensorOperators.h>

namespace cachet::models {

at::Tensor DetectionLosses::sum() const {
  at::Tensor all;
  for (const NamedValue& loss : losses) all = all.defined() ? all + loss.value : loss.value;
  return all;
}

}  // namespace cachet::models
