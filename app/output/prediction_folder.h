#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/output/output.h"
#include "cachet/io/files/folder_lock.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/samples/records.h"

namespace cachet::app {

/// Where -o names a folder for predictions: predictions.jsonl, which grows as they are made and is resumed,
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
  /// Makes the folder and locks it until this object ends; with --overwrite, what it holds of predictions goes. Throws
  /// io::FileInUse if another process writes to it.
  tasks::RecordFile open_records();

  /// Throws io::Error.
  void write_picture(const std::string& name, const std::string& png) const;
  void write(const std::vector<tasks::NamedFile>& files) const;

 private:
  std::filesystem::path path_;
  bool overwrite_;
  std::optional<io::FolderLock> lock_;
};

/// Reports on standard error how many of how many predictions a file holds, if it holds some, how many lines were
/// removed from it, and how many predictions of version 0.1.0 are computed again: "out.jsonl holds 3 of 12 predictions;
/// resuming".
void report_earlier_records(const std::filesystem::path& file, const tasks::RecordFile& records,
                            const std::string& of_all);

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
