#pragma once

#include "cachet/deploy/model_writers.h"
#include "cachet/runtime/export_manifest.h"

namespace cachet::tasks {

/// Returns the metadata of an exported model's file, for programs that read only this file: Cachet's version, and the
/// manifest's `model`, `task`, `source`, `precision`, `classes` and `image`. Lists and objects are JSON.
deploy::ModelMetadata metadata_of(const runtime::ExportManifest& manifest);

}  // namespace cachet::tasks
