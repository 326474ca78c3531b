#pragma once

#include "cachet/deploy/model_writers.h"
#include "cachet/runtime/export_manifest.h"

namespace cachet::tasks {

/// The metadata in the file of an exported model, for programs that read this file alone: the version of Cachet,
/// and of the manifest `model`, `task`, `source`, `precision`, `classes` and `image`, lists and objects as JSON.
deploy::ModelMetadata metadata_of(const runtime::ExportManifest& manifest);

}  // namespace cachet::tasks
