#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cachet/tasks/abilities.h"

namespace cachet::tasks {

/// A record of an evaluation from a file that may have been edited. If the record lacks a requested value, throws
/// std::runtime_error with the number of the record.
class ReadRecord {
 public:
  /// Reads the record. Throws an exception if the text is not the record with the index `index`.
  ReadRecord(const Record& record, int64_t index);
  ~ReadRecord();

  /// Returns the integer of a key, from 0 to `end` − 1.
  int64_t integer(const char* key, int64_t end) const;
  std::vector<int64_t> integers(const char* key, int64_t end) const;
  /// Returns the number that the record stores under the key `key`. Returns NaN if the number was not finite when it
  /// was written.
  double number(const char* key) const;
  std::vector<double> numbers(const char* key) const;
  bool is_true(const char* key) const;      // false if the key is missing
  std::string text(const char* key) const;  // empty if the key is missing

 private:
  struct Json;
  [[noreturn]] void refuse() const;

  int64_t index_;
  std::unique_ptr<const Json> json_;
};

/// Checks that each sample has exactly one record.
class SamplesOfRecords {
 public:
  explicit SamplesOfRecords(int64_t samples) : seen_(static_cast<size_t>(samples), false) {}
  /// Adds a record of the sample with the index `sample`, from 0 to samples − 1. Throws std::runtime_error if the
  /// sample already has a record.
  void add(int64_t sample);
  /// Throws std::runtime_error if a sample has no record. `many` is the plural noun for the samples: "images".
  void require_all(const std::string& many) const;
  int64_t records() const { return records_; }

 private:
  std::vector<bool> seen_;
  int64_t records_ = 0;
};

}  // namespace cachet::tasks
