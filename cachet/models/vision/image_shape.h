#pragma once

#include <cstdint>

#include "cachet/models/model_plan.h"

namespace cachet::models {

/// What images a model is made for.
struct ImageShape {
  int64_t channels = 3, height = 224, width = 224;
};

ModelInput input_of(const ImageShape& image);

}  // namespace cachet::models
