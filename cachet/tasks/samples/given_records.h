#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cachet/tasks/samples/given_samples.h"
#include "cachet/tasks/samples/records.h"

namespace cachet::tasks {

/// The possible positions of a saved record's sample among the user's samples.
enum class SampleLocations {
  same,  // the sample is at the index of the record
  any,   // the sample is anywhere: samples may have been inserted, and their order may have changed
};

/// The records of a user's samples in a file. Each record is matched with its sample by its origin: the model, the
/// options, the sample's name and its bytes.
class GivenRecords {
 public:
  /// Compares all records with the samples, before the first prediction, and then removes later records of version
  /// 0.1.0. For a record without a sample, throws std::runtime_error as RecordFile::require() does, and leaves the file
  /// unchanged. With SampleLocations::any, reads all samples if one is not at the index of its record.
  GivenRecords(RecordFile& file, NextSample next, SampleForm form, const RecordSource& source,
               SampleLocations locations);

  /// Returns a function that gives all samples, each once.
  NextSample samples();
  /// Whether the file has the record of this sample.
  bool has(int64_t sample) const {
    return sample < static_cast<int64_t>(lines_.size()) && lines_[static_cast<size_t>(sample)];
  }
  /// Appends the record of a sample without a record, as the next line of the file.
  void append(const Record& record, int64_t sample, const RecordOrigin& origin);
  /// If some lines are not in the order of the `samples` samples, replaces the whole file by one in this order. No
  /// record may be appended after this call.
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
  std::vector<GivenSample> first_;             // samples that were read for the comparison
  std::vector<std::optional<int64_t>> lines_;  // line of each sample's record, if any; the reading thread uses it
  std::map<int64_t, int64_t> appended_;        // line of each appended sample
};

}  // namespace cachet::tasks
