#pragma once

#include <cstdint>
#include <string>

#include "cachet/tasks/abilities.h"
#include "cachet/tasks/classification/classification_evaluation.h"
#include "cachet/tasks/samples/read_record.h"

namespace cachet::tasks {

/// Writes a measured sample as a record: {"index":0,"sample":17,"label":3,"predicted":3,"probability":0.98,"loss":0.02}
/// and "among_five" if there are more than five classes. The record of a skipped sample has "error" instead of the
/// values of the prediction. `index` is the sample's position in the order of the
/// evaluation. When a record is read, its numbers have exactly the bits with which they were written.
Record measured_record(const MeasuredSample& measured, int64_t place, int64_t classes);

/// Reads records that measured_record() made, one after the other.
class MeasuredRecords {
 public:
  MeasuredRecords(int64_t classes, int64_t samples) : classes_(classes), samples_(samples), seen_(samples) {}
  /// Reads the next record. Throws std::runtime_error for a repeated record, or for the record of another sample.
  MeasuredSample read(const Record& record);
  /// If samples lack a record, throws the error of SamplesOfRecords::require_all().
  void require_all(const std::string& many) const { seen_.require_all(many); }

 private:
  int64_t classes_, samples_;
  SamplesOfRecords seen_;
};

}  // namespace cachet::tasks
