#include "cachet/data/text/encoders/vocabulary.h"

#include "cachet/io/digests/sha256.h"

namespace cachet::data {

std::string Vocabulary::fingerprint_of_tokens() const {
  if (normalization == TextNormalization::none) return fingerprint;
  return io::sha256_hex(std::string(to_string(normalization)) + " " + fingerprint);
}

}  // namespace cachet::data
