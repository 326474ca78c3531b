#pragma once

#include <string>

#include "cachet/hub/fetch.h"

namespace cachet::app {

/// Returns options of downloads that show progress and notes on standard error. `progress`: the value of --progress.
hub::DownloadOptions download_options(const std::string& progress);

/// Returns the file of weights on a command line: a path, or weights of the hub or of an https address. Downloads
/// remote weights unless the cache has them. Throws io::Error.
hub::FetchedWeights fetched_weights(const std::string& name);

}  // namespace cachet::app
