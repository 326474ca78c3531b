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

/// Digests of all that a record is made of, each of 16 hexadecimal digits. A record has them under "source" and
/// "sample_digest".
struct RecordOrigin {
  std::string source;  // the model, the recipe, the options of predictions; all labels, texts and annotations
  std::string sample;  // the sample's bytes; empty in records of version 0.1.0
  bool operator==(const RecordOrigin&) const = default;
};
/// The origin that a record would have now.
using OriginOf = std::function<RecordOrigin(int64_t index)>;

/// Describes the source of records.
class RecordSource {
 public:
  /// `more`: other options that saved records depend on. Throws train::DamagedCheckpoint, io::Error if the weights'
  /// digest cannot be read.
  RecordSource(const SavedRun& saved, const AnswerOptions& options, const std::string& more = {});

  /// The source of records of a task's evaluation data.
  std::string of_evaluation(const train::TrainingTask& task) const;
  /// The origin of a record of a given sample. Of an image file, `bytes` is the digest of its bytes.
  RecordOrigin of_given(const std::string& sample, SampleForm form, const std::string& bytes) const;

  /// The sources that version 0.1.0 may have written.
  std::vector<std::string> old_sources_of_evaluation(const train::TrainingTask& task) const;
  std::vector<std::string> old_sources_of_given(const std::string& sample, SampleForm form) const;

 private:
  std::string model_;
  std::vector<std::string> old_models_;
};

/// The same record as that of another index.
Record with_index(const Record& record, int64_t index);

/// What is done with records that a file holds already.
enum class EarlierRecords { resumed, replaced };

/// Why a record of version 0.1.0 is made again.
enum class WhyForgotten {
  unsaid_bytes,  // it does not have the digest of its sample's bytes
  earlier_rule,  // it was made by another rule
};

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

  int64_t done() const { return static_cast<int64_t>(origins_.size()); }
  /// How many repeated and mixed lines were removed when the file was opened.
  int64_t removed_lines() const { return removed_lines_; }

  /// Of record `index` < done().
  const RecordOrigin& origin(int64_t index) const { return origins_.at(static_cast<size_t>(index)); }
  bool is_of(int64_t index, const RecordOrigin& other) const { return origin(index) == other; }
  /// Throws std::runtime_error unless it is. The error states whether the bytes of the sample or something else
  /// differs.
  void require(int64_t index, const RecordOrigin& origin) const;
  /// Throws std::runtime_error unless no more than `samples` records are there.
  void require_at_most(int64_t samples) const;

  /// Whether record `index` < done() is of version 0.1.0, without the digest of its sample's bytes. It and those
  /// after it are made again: require_old() throws as require() does unless it is of one of those sources, and
  /// forget_from() cuts them off.
  bool is_old(int64_t index) const { return origin(index).sample.empty(); }
  void require_old(int64_t index, const std::vector<std::string>& sources) const;
  void forget_from(int64_t index, WhyForgotten why = WhyForgotten::unsaid_bytes);
  /// How many records were cut off so.
  int64_t forgotten(WhyForgotten why = WhyForgotten::unsaid_bytes) const {
    return forgotten_.at(static_cast<size_t>(why));
  }

  /// Adds a record, with its origin. Throws std::runtime_error where it cannot be written, std::logic_error for one
  /// that does not begin as records do.
  void append(const Record& record, const RecordOrigin& origin);

  /// Replaces the file by one with all its records in another order, in one step: record i becomes what record order[i]
  /// was, with its new index. Afterwards the file is closed.
  void arrange(const std::vector<int64_t>& order);

 private:
  [[noreturn]] void refuse(int64_t index, const std::string& why) const;
  /// Reads the records that are there. Returns false if the file has been replaced by a repaired one.
  bool read_records();

  std::filesystem::path path_;
  std::vector<RecordOrigin> origins_;  // of the records that were there
  std::vector<uint64_t> ends_;         // of each of them, in the file
  int64_t removed_lines_ = 0;
  std::array<int64_t, 2> forgotten_{};  // by reason
  std::unique_ptr<io::GrowingFile> file_;
};

/// Compares all records of a file with what they would be now, then forgets all records from the first one on that is
/// of version 0.1.0 without the digest of its sample's bytes, or has the origin `earlier` of a record made by another
/// rule. Throws as RecordFile::require(), before anything is forgotten.
void require_all(RecordFile& file, const OriginOf& origin, const std::function<std::vector<std::string>()>& old_sources,
                 const OriginOf& earlier = {});

/// Opens records for those to come: what is there up to the first that is of another origin stays.
RecordFile records_of(const std::filesystem::path& file, const OriginOf& origin);

/// The first `count` records that a file holds. Throws std::runtime_error where there are fewer.
NextRecord records_in(const std::filesystem::path& file, int64_t count);

}  // namespace cachet::tasks
