#pragma once

#include <string>

#include "cachet/hub/fetch.h"

namespace cachet::app {

/// How downloads report: how far they are, and notes, on standard error. `progress` is the word of --progress.
hub::DownloadOptions download_options(const std::string& progress);

/// The file that a command line means: a path as it is, or weights of the hub or of an https address, which are
/// downloaded unless the cache has them. Throws io::Error.
hub::FetchedWeights fetched_weights(const std::string& name);

}  // namespace cachet::app
