#pragma once

#include "cachet/deploy/model_writers.h"
#include "cachet/runtime/export_manifest.h"

namespace cachet::tasks {

/// What the file of an exported model says of itself, for programs that read this file alone: the version of Cachet,
/// and of the manifest `model`, `task`, `source`, `precision`, `classes` and `image`, lists and objects as JSON.
deploy::ModelMetadata metadata_of(const runtime::ExportManifest& manifest);

}  // namespace cachet::tasks
