#include "cachet/data/text/vocabulary.h"

#include "cachet/io/sha256.h"

namespace cachet::data {

std::string Vocabulary::fingerprint_of_tokens() const {
  if (normalization == TextNormalization::none) return fingerprint;
  return io::sha256_hex(std::string(to_string(normalization)) + " " + fingerprint);
}

}  // namespace cachet::data
