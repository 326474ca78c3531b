#pragma once

#include <string>

#include "cachet/models/model.h"

namespace cachet::tasks {

/// Throws ops::NotFinite, whose line begins with `name`, if a classifier in evaluation mode returns NaN or infinity for
/// synthetic inputs. Reading weights refuses such values, but products of large finite values can overflow.
void require_finite_answers(models::Model& model, const std::string& name);

}  // namespace cachet::tasks
