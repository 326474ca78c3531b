#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "app/output.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/records.h"

namespace cachet::app {

/// Where -o names a folder for predictions: predictions.jsonl, which grows as they are made and is gone on with,
/// pictures/ of given images, and files that are made of the predictions once they are whole.
class PredictionFolder {
 public:
  /// Whether the name is one of a folder: it is there as one, or has no suffix.
  static bool is_meant(const std::string& path);

  /// `inputs` are what the same command reads, which must not hold the folder. Throws UsageError for them, and for a
  /// folder that holds something else. Nothing is made yet.
  PredictionFolder(const OutputArgument& output, const std::vector<std::filesystem::path>& inputs);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path records() const { return path_ / "predictions.jsonl"; }
  /// Makes the folder; with --overwrite, what it holds of predictions goes.
  tasks::RecordFile open_records() const;

  /// Throws io::Error.
  void write_picture(const std::string& name, const std::string& png) const;
  void write(const std::vector<tasks::NamedFile>& files) const;

 private:
  std::filesystem::path path_;
  bool overwrite_;
};

/// Says on standard error that a folder's predictions are gone on with, if there are some.
void say_gone_on_with(const PredictionFolder& folder, int64_t done, const std::string& of_all);

/// Names for pictures of given samples, each once: a file's own name with ".png", and with its number where an earlier
/// one has that name. Of one list of samples they are always the same. Safe from several threads.
class PictureNames {
 public:
  /// Of sample 0, then of 1, and so on.
  void add(const std::string& sample);
  std::string of(int64_t index) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> names_;
  std::set<std::string> taken_;
};

}  // namespace cachet::app
