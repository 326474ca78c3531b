#pragma once

#include <ATen/ATen.h>

#include <memory>

#include "tests/support/small_models.h"

namespace cachet::deploy {

/// In evaluation, with statistics and caches that training moved, and weights that are nowhere zero or one.
inline std::shared_ptr<models::Model> trained(const test::SmallModel& small, const test::Settings& plug_ins,
                                              at::ScalarType dtype = at::kDouble) {
  const auto model = test::built(small, plug_ins);
  model->to(dtype);
  model->train();
  const at::NoGradGuard no_grad;
  for (int64_t step = 0; step < 3; ++step) model->trial(3, dtype).forward();
  for (at::Tensor& parameter : model->parameters()) parameter.add_(at::randn_like(parameter) / 8);
  model->eval();
  return model;
}

}  // namespace cachet::deploy
