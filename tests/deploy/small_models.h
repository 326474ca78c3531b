#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cachet/models/model.h"

namespace cachet::deploy {

using Settings = std::vector<std::string>;

/// A model of the registry, made small.
struct SmallModel {
  std::string name;
  Settings settings;
  bool has_grid = true;
};

inline std::ostream& operator<<(std::ostream& out, const SmallModel& model) { return out << model.name; }

/// "cache.kind=grc norm.kind=un ", for messages.
std::string text_of(const Settings& settings);

/// Every backbone, with what changes how it is put together.
const std::vector<SmallModel>& small_models();

std::shared_ptr<models::Model> built(const SmallModel& model, const Settings& plug_ins);

/// In evaluation, with statistics and caches that training moved, and weights that are nowhere zero or one.
std::shared_ptr<models::Model> trained(const SmallModel& model, const Settings& plug_ins, at::ScalarType dtype);

}  // namespace cachet::deploy
