#include "cachet/io/json/sealed_json.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cachet/io/digests/sha256.h"
#include "cachet/io/json/parse_json.h"

namespace cachet::io {
namespace {

using SealedJson = nlohmann::ordered_json;

constexpr const char* kDigestKey = "digest";

std::string sealed_text(SealedJson object) {
  object[kDigestKey] = sha256_hex(object.dump());
  return object.dump(2) + "\n";
}

}  // namespace

std::string sealed_json(std::string_view object) {
  SealedJson json = parse_json<SealedJson>(object, /*throws=*/false);
  if (!json.is_object() || json.contains(kDigestKey))
    throw std::invalid_argument("only a JSON object without a digest can be sealed");
  return sealed_text(std::move(json));
}

bool is_sealed_json(std::string_view text) {
  SealedJson json = parse_json<SealedJson>(text, /*throws=*/false);
  return json.is_object() && json.erase(kDigestKey) == 1 && sealed_text(std::move(json)) == text;
}

}  // namespace cachet::io
