#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cachet/tasks/samples/given_samples.h"
#include "cachet/tasks/samples/records.h"

namespace cachet::tasks {

/// The possible indices, among a user's present samples, of a sample whose record was saved earlier.
enum class SampleLocations {
  same,  // the sample is at the index of the record
  any,   // the sample is anywhere: samples may have been inserted, and their order may have changed
};

/// A file with the records of a user's samples. Each record is matched with its sample by the record's origin: the
/// model, the options, the sample's name and bytes.
class GivenRecords {
 public:
  /// Compares all records with the samples before the first prediction. If version 0.1.0 wrote some of the records,
  /// removes the first of these records, and all records after it. If a record has no matching sample, throws the error
  /// of RecordFile::require(), and leaves the file unchanged. If `locations` is SampleLocations::any and a sample is
  /// not at the index of its record, reads all samples.
  GivenRecords(RecordFile& file, NextSample next, SampleForm form, const RecordSource& source,
               SampleLocations locations);

  /// Returns a function that gives the user's samples one after the other, each sample once.
  NextSample samples();
  /// Whether the file has a record of the sample with the index `sample`.
  bool has(int64_t sample) const {
    return sample < static_cast<int64_t>(lines_.size()) && lines_[static_cast<size_t>(sample)];
  }
  /// Appends a record to the file as its next line. The file must not have a record of `sample` yet.
  void append(const Record& record, int64_t sample, const RecordOrigin& origin);
  /// If some lines of the file are not in the order of the samples, replaces the whole file by a file in the order of
  /// the samples. `samples` is the number of samples. After finish(), no record may be appended.
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
  std::vector<std::optional<int64_t>> lines_;  // line of each sample's record, if any; for the reading thread
  std::map<int64_t, int64_t> appended_;        // line of each appended sample
};

}  // namespace cachet::tasks
