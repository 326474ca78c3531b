#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cachet/io/growing_file.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

/// What records are made of: weights, recipe and what of an answer is told. A record carries it together with its
/// sample, in 16 hexadecimal digits under "source": records of another model, other data, other samples or other
/// options are told apart.
class RecordSource {
 public:
  /// `more`: options beside those of answers that what is kept depends on. Throws train::DamagedCheckpoint, io::Error
  /// where the weights' digest cannot be read.
  RecordSource(const SavedRun& saved, const AnswerOptions& options, const std::string& more = {});

  /// Of a task's evaluation data: as many, of the fingerprint that they have.
  std::string of_evaluation(const train::Task& task) const;
  /// Of an image file: its name and its bytes' number, so that the file itself is not read again.
  std::string of_given(const std::string& sample, SampleForm form) const;

 private:
  std::string model_;
};

/// What is done with records that a file holds already.
enum class EarlierRecords { gone_on_with, replaced };

/// Records in a file that grows, from index 0 on. An interrupted process leaves whole ones and a torn last line, which
/// is cut off when the file is opened again. Earlier versions let two processes write one file at the same time, which
/// left repeated and mixed lines: these are removed when the file is opened, and the records before the first one that
/// is lost stay.
class RecordFile {
 public:
  /// Locks the file until this object ends. Throws io::FileInUse if another process has it. Throws std::runtime_error
  /// for a file that holds something else, for a symbolic link, and for a file that cannot be written; it is left as it
  /// is then. With EarlierRecords::replaced, a symbolic link is replaced by a file.
  RecordFile(std::filesystem::path path, EarlierRecords earlier);

  int64_t done() const { return static_cast<int64_t>(sources_.size()); }
  /// How many repeated and mixed lines were removed when the file was opened.
  int64_t removed_lines() const { return removed_lines_; }

  /// Whether record `index` < done() is of that source.
  bool is_of(int64_t index, const std::string& source) const {
    return sources_.at(static_cast<size_t>(index)) == source;
  }
  /// Throws std::runtime_error unless it is.
  void require(int64_t index, const std::string& source) const;
  /// Throws std::runtime_error unless no more than `samples` records are there.
  void require_at_most(int64_t samples) const;

  /// Adds a record, with its source. Throws std::runtime_error where it cannot be written, std::logic_error for one
  /// that does not begin as records do.
  void append(const Record& record, const std::string& source);

 private:
  /// Reads the records that are there. Returns false if the file has been replaced by a repaired one.
  bool read_records();

  std::filesystem::path path_;
  std::vector<std::string> sources_;  // of the records that were there
  int64_t removed_lines_ = 0;
  std::unique_ptr<io::GrowingFile> file_;
};

/// Opens records that are all of one source, to go on with; begins anew where the file holds anything else.
RecordFile records_of(const std::filesystem::path& file, const std::string& source);

/// The first `count` records that a file holds. Throws std::runtime_error where there are fewer.
NextRecord records_in(const std::filesystem::path& file, int64_t count);

}  // namespace cachet::tasks
