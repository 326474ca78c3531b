#include "cachet/io/json/json_fields.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "cachet/io/json/parse_json.h"

namespace cachet::io {
namespace {

using FieldsJson = nlohmann::ordered_json;

constexpr size_t kMaxShownBytes = 60;

const FieldsJson& json_of(const void* value) { return *static_cast<const FieldsJson*>(value); }

std::string shown(const FieldsJson& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  const std::string text = value.dump(-1, ' ', true, FieldsJson::error_handler_t::replace);
  return text.size() > kMaxShownBytes ? text.substr(0, kMaxShownBytes) + "…" : text;
}

std::string range_text(const std::string& least, const std::string& most) {
  return "a whole number from " + least + " to " + most;
}

bool is_between(const FieldsJson& value, int64_t least, int64_t most) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) return false;
  return value.get<int64_t>() >= least && value.get<int64_t>() <= most;
}

bool is_at_most(const FieldsJson& value, uint64_t most) {
  return value.is_number_unsigned() && value.get<uint64_t>() <= most;
}

bool is_finite(const FieldsJson& value) { return value.is_number() && std::isfinite(value.get<double>()); }

bool is_finite_or_null(const FieldsJson& value) { return value.is_null() || is_finite(value); }

double value_or_nan(const FieldsJson& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

}  // namespace

struct JsonFields::Value {
  FieldsJson json;
};

JsonFields::JsonFields(std::string_view text, std::string name) : name_(std::move(name)) {
  auto document = std::make_shared<Value>();
  document->json = parse_json<FieldsJson>(text, /*throws=*/false);
  if (document->json.is_discarded()) fail("it is not valid JSON, or an object has the same key twice");
  if (!document->json.is_object()) fail("it is not a JSON object");
  value_ = &document->json;
  document_ = std::move(document);
}

JsonFields::JsonFields(std::shared_ptr<const Value> document, const void* value, std::string name, std::string place)
    : document_(std::move(document)), value_(value), name_(std::move(name)), place_(std::move(place)) {}

void JsonFields::fail(const std::string& what) const { throw Error(name_ + ": damaged: " + what); }

void JsonFields::fail_at(const std::string& place, const void* value, const std::string& wanted) const {
  fail(in_quotes(place) + " is " + shown(json_of(value)) + ", not " + wanted);
}

std::string JsonFields::place_of(const std::string& key) const { return place_.empty() ? key : place_ + "." + key; }

const void* JsonFields::at(const std::string& key) const {
  const FieldsJson& object = json_of(value_);
  const auto found = object.find(key);
  if (found == object.end()) fail("it has no " + in_quotes(place_of(key)));
  return &*found;
}

int64_t JsonFields::schema(int64_t newest) const {
  const int64_t schema = integer("schema", 1, std::numeric_limits<int64_t>::max());
  if (schema > newest)
    throw NewerSchema(name_ + ": its schema is " + std::to_string(schema) +
                      ", but this version of Cachet reads only schemas up to " + std::to_string(newest) +
                      "; use a newer version of Cachet");
  return schema;
}

bool JsonFields::has(const std::string& key) const { return json_of(value_).contains(key); }

bool JsonFields::is_null(const std::string& key) const { return has(key) && json_of(at(key)).is_null(); }

bool JsonFields::is_text(const std::string& key) const { return has(key) && json_of(at(key)).is_string(); }

std::vector<std::string> JsonFields::keys() const {
  std::vector<std::string> all;
  for (const auto& [key, value] : json_of(value_).items()) all.push_back(key);
  return all;
}

std::string JsonFields::text(const std::string& key) const {
  const void* value = at(key);
  if (!json_of(value).is_string()) fail_at(place_of(key), value, "a text");
  return json_of(value).get<std::string>();
}

bool JsonFields::flag(const std::string& key) const {
  const void* value = at(key);
  if (!json_of(value).is_boolean()) fail_at(place_of(key), value, "true or false");
  return json_of(value).get<bool>();
}

int64_t JsonFields::integer(const std::string& key, int64_t least, int64_t most) const {
  const void* value = at(key);
  if (!is_between(json_of(value), least, most))
    fail_at(place_of(key), value, range_text(std::to_string(least), std::to_string(most)));
  return json_of(value).get<int64_t>();
}

uint64_t JsonFields::unsigned_integer(const std::string& key, uint64_t most) const {
  const void* value = at(key);
  if (!is_at_most(json_of(value), most)) fail_at(place_of(key), value, range_text("0", std::to_string(most)));
  return json_of(value).get<uint64_t>();
}

double JsonFields::number(const std::string& key) const {
  const void* value = at(key);
  if (!is_finite(json_of(value))) fail_at(place_of(key), value, "a number");
  return json_of(value).get<double>();
}

double JsonFields::number_or_nan(const std::string& key) const {
  const void* value = at(key);
  if (!is_finite_or_null(json_of(value))) fail_at(place_of(key), value, "a number or null");
  return value_or_nan(json_of(value));
}

JsonFields JsonFields::object(const std::string& key) const {
  const void* value = at(key);
  if (!json_of(value).is_object()) fail_at(place_of(key), value, "an object");
  return {document_, value, name_, place_of(key)};
}

std::vector<JsonFields> JsonFields::objects(const std::string& key) const {
  const void* value = at(key);
  if (!json_of(value).is_array()) fail_at(place_of(key), value, "a list of objects");
  std::vector<JsonFields> all;
  for (const FieldsJson& each : json_of(value)) {
    const std::string place = place_of(key) + "[" + std::to_string(all.size()) + "]";
    if (!each.is_object()) fail_at(place, &each, "an object");
    all.push_back(JsonFields(document_, &each, name_, place));
  }
  return all;
}

std::vector<std::string> JsonFields::texts(const std::string& key) const {
  const void* value = at(key);
  if (!json_of(value).is_array()) fail_at(place_of(key), value, "a list of texts");
  std::vector<std::string> all;
  for (const FieldsJson& each : json_of(value)) {
    if (!each.is_string()) fail_at(place_of(key) + "[" + std::to_string(all.size()) + "]", &each, "a text");
    all.push_back(each.get<std::string>());
  }
  return all;
}

std::vector<uint64_t> JsonFields::unsigned_integers(const std::string& key, uint64_t most) const {
  const void* value = at(key);
  const std::string wanted = range_text("0", std::to_string(most));
  if (!json_of(value).is_array()) fail_at(place_of(key), value, "a list of whole numbers");
  std::vector<uint64_t> all;
  for (const FieldsJson& each : json_of(value)) {
    if (!is_at_most(each, most)) fail_at(place_of(key) + "[" + std::to_string(all.size()) + "]", &each, wanted);
    all.push_back(each.get<uint64_t>());
  }
  return all;
}

std::vector<double> JsonFields::numbers_or_nan(const std::string& key) const {
  const void* value = at(key);
  if (!json_of(value).is_array()) fail_at(place_of(key), value, "a list of numbers");
  std::vector<double> all;
  for (const FieldsJson& each : json_of(value)) {
    if (!is_finite_or_null(each))
      fail_at(place_of(key) + "[" + std::to_string(all.size()) + "]", &each, "a number or null");
    all.push_back(value_or_nan(each));
  }
  return all;
}

std::map<std::string, std::string> JsonFields::text_map(const std::string& key) const {
  const JsonFields fields = object(key);
  std::map<std::string, std::string> all;
  for (const std::string& name : fields.keys()) all.emplace(name, fields.text(name));
  return all;
}

std::string JsonFields::json(const std::string& key) const { return json_of(at(key)).dump(); }

}  // namespace cachet::io
