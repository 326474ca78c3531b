#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cachet/tasks/abilities.h"

namespace cachet::tasks {

/// A record of an evaluation that is read back from a file, which may have been changed. If it lacks a requested value,
/// throws std::runtime_error with the record's number.
class ReadRecord {
 public:
  /// Throws for what is not record number `index`.
  ReadRecord(const Record& record, int64_t index);
  ~ReadRecord();

  /// A number from 0 up to but not with `end`.
  int64_t integer(const char* key, int64_t end) const;
  std::vector<int64_t> integers(const char* key, int64_t end) const;
  /// NaN for one that was not finite when it was written.
  double number(const char* key) const;
  std::vector<double> numbers(const char* key) const;
  bool is_true(const char* key) const;  // false where it is not there

 private:
  struct Json;
  [[noreturn]] void refuse() const;

  int64_t index_;
  std::unique_ptr<const Json> json_;
};

/// Holds records to being of each of so many samples once.
class SamplesOfRecords {
 public:
  explicit SamplesOfRecords(int64_t samples) : seen_(static_cast<size_t>(samples), false) {}
  /// The next record is of sample 0 ≤ `sample` < samples. Throws std::runtime_error for one that was there.
  void add(int64_t sample);
  /// Throws std::runtime_error where samples are missing; `many` is what they are called: "images".
  void require_all(const std::string& many) const;
  int64_t records() const { return records_; }

 private:
  std::vector<bool> seen_;
  int64_t records_ = 0;
};

}  // namespace cachet::tasks
