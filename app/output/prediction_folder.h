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

/// A folder of predictions that -o names. It contains predictions.jsonl, which grows during the predictions and can be
/// resumed; pictures/ of given images; and files that are made from the complete predictions.
class PredictionFolder {
 public:
  /// Whether `path` means a folder: the folder exists, or the name has no suffix.
  static bool is_meant(const std::string& path);

  /// `inputs`: the inputs of the same command, which must not contain the folder. Throws UsageError if an input
  /// contains it, and for a folder with other contents. Does not create the folder.
  PredictionFolder(const OutputArgument& output, const std::vector<std::filesystem::path>& inputs);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path records() const { return path_ / "predictions.jsonl"; }
  /// Creates the folder and locks it for the lifetime of this object. With --overwrite, removes earlier predictions.
  /// Throws io::FileInUse if another process writes to the folder.
  tasks::RecordFile open_records();

  /// Write files into the folder. Throw io::Error.
  void write_picture(const std::string& name, const std::string& png) const;
  void write(const std::vector<tasks::NamedFile>& files) const;

 private:
  std::filesystem::path path_;
  bool overwrite_;
  std::optional<io::FolderLock> lock_;
};

/// Reports the earlier predictions in a file on standard error, if there are any: their number ("out.jsonl holds 3 of
/// 12 predictions; resuming"), the number of removed lines, and the number of predictions of version 0.1.0 that are
/// computed again.
void report_earlier_records(const std::filesystem::path& file, const tasks::RecordFile& records,
                            const std::string& of_all);

/// Unique names for pictures of given samples: the sample's file name with ".png", and with a number if an earlier
/// picture has the same name. Equal lists of samples get equal names. Can be used by several threads.
class PictureNames {
 public:
  /// Adds the name of the next sample, from sample 0 on.
  void add(const std::string& sample);
  std::string of(int64_t index) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> names_;
  std::set<std::string> taken_;
};

}  // namespace cachet::app
