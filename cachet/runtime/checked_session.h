#pragma once

#include <memory>

#include "cachet/runtime/export_manifest.h"
#include "cachet/runtime/session.h"

namespace cachet::runtime {

/// Returns a session that compares its inputs with a manifest before each call: number, elements, shapes, one batch
/// size, equal lengths of ids and padding, the longest sequence, and ids below the vocabulary. After each call,
/// compares the numbers of samples and classes with the manifest. If a compared value differs, run() throws
/// std::runtime_error with a one-line message for the user.
std::unique_ptr<Session> checked(std::unique_ptr<Session> session, const ExportManifest& manifest);

}  // namespace cachet::runtime
