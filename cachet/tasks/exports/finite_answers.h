#pragma once

#include <string>

#include "cachet/models/model.h"

namespace cachet::tasks {

/// If a classifier in evaluation mode returns NaN or infinity for synthetic inputs, throws ops::NotFinite, whose
/// message begins with `name`. Weights are finite when they are read, but products of large values can overflow.
void require_finite_answers(models::Model& model, const std::string& name);

}  // namespace cachet::tasks
