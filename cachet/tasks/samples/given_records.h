#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cachet/tasks/samples/given_samples.h"
#include "cachet/tasks/samples/records.h"

namespace cachet::tasks {

/// Where the sample of a saved record may stand among the samples that are given.
enum class SampleLocations {
  same,  // at the index of the record
  any,   // anywhere: samples may have been inserted, and their order may have changed
};

/// The records of given samples that a file holds. Each record is matched with its sample by its origin: the model, the
/// options, the sample's name and its bytes.
class GivenRecords {
 public:
  /// Compares all records with the samples, before the first is answered; later records of version 0.1.0 are removed
  /// then. Throws std::runtime_error for a record without a sample, as RecordFile::require(); the file is left as it is
  /// then. With SampleLocations::any, all samples are asked for if one is not at the index of its record.
  GivenRecords(RecordFile& file, NextSample next, SampleForm form, const RecordSource& source,
               SampleLocations locations);

  /// All the samples, each once.
  NextSample samples();
  /// Whether the file holds the record of this sample.
  bool has(int64_t sample) const {
    return sample < static_cast<int64_t>(lines_.size()) && lines_[static_cast<size_t>(sample)];
  }
  /// Adds the record of a sample that has none, as the next line of the file.
  void append(const Record& record, int64_t sample, const RecordOrigin& origin);
  /// If some lines are not in the order of their `samples` samples, puts them into this order: the file is replaced as
  /// a whole. Nothing is appended afterwards.
  void finish(int64_t samples);

 private:
  const GivenSample* sample(int64_t index);
  bool is_of(int64_t line, const GivenSample& sample) const;
  bool match_in_place(SampleLocations locations);
  void match_anywhere();
  RecordOrigin origin_of(const GivenSample& sample) const;

  RecordFile& file_;
  NextSample next_;
  SampleForm form_;
  const RecordSource& source_;
  std::vector<GivenSample> first_;             // that were asked for to compare them
  std::vector<std::optional<int64_t>> lines_;  // of samples that have a record in the file; a reader of samples asks
  std::map<int64_t, int64_t> appended_;        // sample: line
};

}  // namespace cachet::tasks
