#pragma once

#include "cachet/io/name_source.h"
#include "cachet/io/tensor_map.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

/// The weights of a model under a source's names, with the constants that the source saves: what import_weights takes
/// back bit for bit. Throws io::Error where the source has no such model (T2T's names for a PVT) or its parts do not
/// fit the source's form.
io::TensorMap export_weights(const SavedModel& saved, io::NameSource source);

/// Whose names are taken where nobody says: timm's of what looks at images, else ours.
io::NameSource usual_names(const models::ModelPlan& plan);

}  // namespace cachet::tasks
