#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/io/files/growing_file.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

/// Two digests that cover all inputs of a record, each of 16 hexadecimal digits. A record stores `source` under the key
/// "source", and `sample` under the key "sample_digest".
struct RecordOrigin {
  std::string source;  // digest of model, recipe and options of predictions, and of all labels, texts and annotations
  std::string sample;  // digest of the sample's bytes; empty in records of version 0.1.0
  bool operator==(const RecordOrigin&) const = default;
};
/// A function that returns the origin that a new record with the index `index` would get.
using OriginOf = std::function<RecordOrigin(int64_t index)>;

/// Describes the source of records.
class RecordSource {
 public:
  /// `more` describes further options on which the records depend. Throws train::DamagedCheckpoint, and io::Error if
  /// the digest of the weights cannot be read.
  RecordSource(const SavedRun& saved, const AnswerOptions& options, const std::string& more = {});

  /// Returns the source of the records of a task's evaluation data.
  std::string of_evaluation(const train::TrainingTask& task) const;
  /// Returns the origin of a record of a user's sample. For an image file, `bytes` is the digest of the file's bytes.
  RecordOrigin of_given(const std::string& sample, SampleForm form, const std::string& bytes) const;

  /// Return the sources (RecordOrigin::source) that version 0.1.0 may have written into records.
  std::vector<std::string> old_sources_of_evaluation(const train::TrainingTask& task) const;
  std::vector<std::string> old_sources_of_given(const std::string& sample, SampleForm form) const;

 private:
  std::string model_;
  std::vector<std::string> old_models_;
};

/// Returns a copy of a record with another index.
Record with_index(const Record& record, int64_t index);

/// The treatment of existing records in a file.
enum class EarlierRecords { resumed, replaced };

/// The reason why a record of version 0.1.0 must be made again.
enum class WhyForgotten {
  unsaid_bytes,  // the record lacks the digest of its sample's bytes
  earlier_rule,  // another rule made the record
};

/// A file to which records are appended, numbered from 0. An interrupted process leaves complete records and an
/// incomplete last line, which is cut off when the file is opened again. Earlier versions let two processes write one
/// file at the same time, which left repeated and mixed lines. When the file is opened, repeated lines and lines that
/// mix several records are removed. If a record was lost, all later records are also removed.
class RecordFile {
 public:
  /// Locks the file until this object ends. Throws io::FileInUse if another process has locked the file. If the file
  /// has contents other than records, is a symbolic link, or cannot be written, leaves the file unchanged and throws
  /// std::runtime_error. If `earlier` is EarlierRecords::replaced, a symbolic link is not an error: a file replaces the
  /// link.
  RecordFile(std::filesystem::path path, EarlierRecords earlier);

  int64_t done() const { return static_cast<int64_t>(origins_.size()); }
  /// Returns the number of repeated and mixed lines that were removed when the file was opened.
  int64_t removed_lines() const { return removed_lines_; }

  /// Returns the origin of the record `index`, which must be below done().
  const RecordOrigin& origin(int64_t index) const { return origins_.at(static_cast<size_t>(index)); }
  bool is_of(int64_t index, const RecordOrigin& other) const { return origin(index) == other; }
  /// Throws std::runtime_error unless the record `index` has the origin `origin`. The error states what has changed
  /// since the record was made: the bytes of the sample, or another input.
  void require(int64_t index, const RecordOrigin& origin) const;
  /// Throws std::runtime_error if there are more than `samples` records.
  void require_at_most(int64_t samples) const;

  /// Whether record `index` (below done()) was written by version 0.1.0, without the digest of its sample's bytes. If a
  /// record lacks its sample's digest, forget_from() removes the record and all later records, so that they are made
  /// again. If `sources` does not contain the source of the record, require_old() throws the error of require().
  bool is_old(int64_t index) const { return origin(index).sample.empty(); }
  void require_old(int64_t index, const std::vector<std::string>& sources) const;
  void forget_from(int64_t index, WhyForgotten why = WhyForgotten::unsaid_bytes);
  /// Returns how many records forget_from() has removed for the reason `why`.
  int64_t forgotten(WhyForgotten why = WhyForgotten::unsaid_bytes) const {
    return forgotten_.at(static_cast<size_t>(why));
  }

  /// Adds a record, with its origin. Throws std::runtime_error if the record cannot be written, std::logic_error if the
  /// text of the record does not begin with `{"index":`.
  void append(const Record& record, const RecordOrigin& origin);

  /// Replaces the file atomically by a file with all records in another order: new record i is the former record
  /// order[i], with its new index. Then closes the file.
  void arrange(const std::vector<int64_t>& order);

 private:
  [[noreturn]] void refuse(int64_t index, const std::string& why) const;
  /// Reads the existing records. If lines must be removed, replaces the file by a repaired file and returns false.
  bool read_records();

  std::filesystem::path path_;
  std::vector<RecordOrigin> origins_;  // origins of the existing records
  std::vector<uint64_t> ends_;         // end of each record in the file
  int64_t removed_lines_ = 0;
  std::array<int64_t, 2> forgotten_{};  // number of forgotten records by reason
  std::unique_ptr<io::GrowingFile> file_;
};

/// Compares the origins of all records of a file with their present origins, and throws the error of
/// RecordFile::require() if they differ. Two kinds of records of version 0.1.0 are exceptions: records without the
/// digest of their sample's bytes, and records made by an earlier rule, whose origin equals `earlier`. After the
/// comparison, removes the first record of these two kinds, and all records after it.
void require_all(RecordFile& file, const OriginOf& origin, const std::function<std::vector<std::string>()>& old_sources,
                 const OriginOf& earlier = {});

/// Opens a file to append records. Removes the first record whose origin differs from `origin`, and all later records.
RecordFile records_of(const std::filesystem::path& file, const OriginOf& origin);

/// Returns the first `count` records of a file. Throws std::runtime_error if the file has fewer than `count` records.
NextRecord records_in(const std::filesystem::path& file, int64_t count);

}  // namespace cachet::tasks
