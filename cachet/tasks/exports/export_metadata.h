#pragma once

#include "cachet/deploy/model_writers.h"
#include "cachet/runtime/export_manifest.h"

namespace cachet::tasks {

/// Returns the metadata in the file of an exported model, for programs that read only this file: Cachet's version, and
/// `model`, `task`, `source`, `precision`, `classes` and `image` of the manifest, lists and objects as JSON.
deploy::ModelMetadata metadata_of(const runtime::ExportManifest& manifest);

}  // namespace cachet::tasks
