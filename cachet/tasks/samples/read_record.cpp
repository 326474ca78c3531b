#include "cachet/tasks/samples/read_record.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cachet/io/json/parse_json.h"

namespace cachet::tasks {

struct ReadRecord::Json {
  nlohmann::json record;

  /// Null where there is none.
  const nlohmann::json* find(const char* key) const {
    const auto found = record.find(key);
    return found == record.end() ? nullptr : &*found;
  }
};

namespace {

bool is_below(const nlohmann::json& value, int64_t end) {
  return value.is_number_integer() && value.get<int64_t>() >= 0 && value.get<int64_t>() < end;
}

bool is_number_or_null(const nlohmann::json& value) { return value.is_number() || value.is_null(); }

double number_or_nan(const nlohmann::json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

}  // namespace

ReadRecord::ReadRecord(const Record& record, int64_t index)
    : index_(index), json_(new Json{io::parse_json<nlohmann::json>(record, /*throws=*/false)}) {
  const auto* number = json_->record.is_object() ? json_->find("index") : nullptr;
  if (number == nullptr || !number->is_number_integer() || number->get<int64_t>() != index) refuse();
}

ReadRecord::~ReadRecord() = default;

void ReadRecord::refuse() const {
  throw std::runtime_error("record " + std::to_string(index_) + " does not belong to this evaluation: " +
                           json_->record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(0, 60));
}

int64_t ReadRecord::integer(const char* key, int64_t end) const {
  const auto* value = json_->find(key);
  if (value == nullptr || !is_below(*value, end)) refuse();
  return value->get<int64_t>();
}

std::vector<int64_t> ReadRecord::integers(const char* key, int64_t end) const {
  const auto* values = json_->find(key);
  if (values == nullptr || !values->is_array()) refuse();
  std::vector<int64_t> all;
  for (const nlohmann::json& value : *values) {
    if (!is_below(value, end)) refuse();
    all.push_back(value.get<int64_t>());
  }
  return all;
}

double ReadRecord::number(const char* key) const {
  const auto* value = json_->find(key);
  if (value == nullptr || !is_number_or_null(*value)) refuse();
  return number_or_nan(*value);
}

std::vector<double> ReadRecord::numbers(const char* key) const {
  const auto* values = json_->find(key);
  if (values == nullptr || !values->is_array()) refuse();
  std::vector<double> all;
  for (const nlohmann::json& value : *values) {
    if (!is_number_or_null(value)) refuse();
    all.push_back(number_or_nan(value));
  }
  return all;
}

bool ReadRecord::is_true(const char* key) const {
  const auto* value = json_->find(key);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::string ReadRecord::text(const char* key) const {
  const auto* value = json_->find(key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

void SamplesOfRecords::add(int64_t sample) {
  std::vector<bool>::reference seen = seen_[static_cast<size_t>(sample)];
  if (seen)
    throw std::runtime_error("record " + std::to_string(records_) + " repeats sample " + std::to_string(sample) +
                             " of an earlier record");
  seen = true;
  ++records_;
}

void SamplesOfRecords::require_all(const std::string& many) const {
  if (records_ != static_cast<int64_t>(seen_.size()))
    throw std::runtime_error("the evaluation is incomplete: there are records of " + std::to_string(records_) + " of " +
                             std::to_string(seen_.size()) + " " + many);
}

}  // namespace cachet::tasks
