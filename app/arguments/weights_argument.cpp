#include "app/arguments/weights_argument.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "app/output/counted_progress.h"

namespace cachet::app {

hub::DownloadOptions download_options(const std::string& progress) {
  struct Shown {
    std::unique_ptr<CountedProgress> progress{};
    std::string file{};
  };
  const auto shown = std::make_shared<Shown>();
  hub::DownloadOptions options;
  options.progress = [shown, progress](const hub::DownloadProgress& download) {
    if (std::exchange(shown->file, download.file) != download.file)
      shown->progress = std::make_unique<CountedProgress>("download", progress);
    if (download.total > 0)
      shown->progress->show(static_cast<int64_t>(download.done >> 10), static_cast<int64_t>(download.total >> 10));
    else
      shown->progress->show(static_cast<int64_t>(download.done >> 10), "kB");
    if (download.done == download.total) {
      shown->progress->log("downloaded " + download.file + " (" + hub::size_text(download.total) + ")");
      shown->progress->finish();
    }
  };
  options.note = [progress](const std::string& line) { CountedProgress("download", progress).log(line); };
  return options;
}

hub::FetchedWeights fetched_weights(const std::string& name) {
  if (!hub::is_remote(name)) return {name, name};
  return hub::fetch_weights(name, hub::hub_settings(), download_options("auto"));
}

}  // namespace cachet::app
