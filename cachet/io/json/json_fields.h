#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/io/error.h"

namespace cachet::io {

/// The error for a file of a newer version of Cachet, whose schema this version does not know.
class NewerSchema : public Error {
 public:
  using Error::Error;
};

/// Reads the fields of a JSON object that Cachet wrote, and checks them like fields of unknown origin. Each value must
/// have its exact type and lie in its range, no key may occur twice, and no value is rounded or converted. The object
/// may have unknown keys, because newer versions add fields. All functions of this class throw Error, which names the
/// file and the field: `run/state.json: damaged: 'step' is 1.5, not a whole number from 0 to 9007199254740992`.
class JsonFields {
 public:
  static constexpr int64_t kMaxCount = int64_t{1} << 53;  // largest count; every JSON reader represents it exactly

  /// `name` is the name of the file that messages show.
  JsonFields(std::string_view text, std::string name);

  /// Returns the field "schema", which is at least 1. Throws NewerSchema if the field "schema" is greater than
  /// `newest`.
  int64_t schema(int64_t newest) const;

  bool has(const std::string& key) const;      // whether the field exists, even as null
  bool is_null(const std::string& key) const;  // whether the field exists and is null
  bool is_text(const std::string& key) const;  // whether the field exists and is a text
  std::vector<std::string> keys() const;

  std::string text(const std::string& key) const;
  bool flag(const std::string& key) const;
  int64_t integer(const std::string& key, int64_t least, int64_t most) const;
  int64_t count(const std::string& key) const { return integer(key, 0, kMaxCount); }
  uint64_t unsigned_integer(const std::string& key, uint64_t most = std::numeric_limits<uint64_t>::max()) const;
  double number(const std::string& key) const;         // a finite number
  double number_or_nan(const std::string& key) const;  // NaN if the value is null
  JsonFields object(const std::string& key) const;
  std::vector<JsonFields> objects(const std::string& key) const;  // a list of objects
  std::vector<std::string> texts(const std::string& key) const;
  std::vector<uint64_t> unsigned_integers(const std::string& key, uint64_t most) const;
  std::vector<double> numbers_or_nan(const std::string& key) const;
  std::map<std::string, std::string> text_map(const std::string& key) const;  // a JSON object whose values are texts
  std::string json(const std::string& key) const;                             // JSON text of a value of any type

  /// Returns the value of `key`, or `missing` if there is no such field, for example in a file of an older version.
  std::string text(const std::string& key, std::string missing) const {
    return has(key) ? text(key) : std::move(missing);
  }
  bool flag(const std::string& key, bool missing) const { return has(key) ? flag(key) : missing; }
  int64_t count(const std::string& key, int64_t missing) const { return has(key) ? count(key) : missing; }

  /// Throws an Error which reports that the file is damaged, and gives the reason `what`.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  struct Value;
  JsonFields(std::shared_ptr<const Value> document, const void* value, std::string name, std::string place);
  std::string place_of(const std::string& key) const;
  [[noreturn]] void fail_at(const std::string& place, const void* value, const std::string& wanted) const;
  const void* at(const std::string& key) const;

  std::shared_ptr<const Value> document_;  // owns the memory that `value_` points into
  const void* value_ = nullptr;
  std::string name_, place_;
};

}  // namespace cachet::io
