#include "cachet/data/text/encoders/normalizing_encoder.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "cachet/config/utf8.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

constexpr std::array<config::Choice<TextNormalization>, 3> kTextNormalizations{
    {{"none", TextNormalization::none}, {"nfc", TextNormalization::nfc}, {"nfkc", TextNormalization::nfkc}}};

class NormalizingEncoder final : public TextEncoder {
 public:
  NormalizingEncoder(std::unique_ptr<const TextEncoder> encoder, TextNormalization form)
      : encoder_(std::move(encoder)), form_(form) {}

  Vocabulary vocabulary() const override {
    Vocabulary vocabulary = encoder_->vocabulary();
    vocabulary.normalization = form_;
    return vocabulary;
  }
  EncodedText encode(std::string_view text, int64_t most) const override {
    return encoder_->encode(normalized(text, form_), most);
  }

 private:
  std::string decode_known(const std::vector<Token>& tokens) const override { return encoder_->decode(tokens); }

  std::unique_ptr<const TextEncoder> encoder_;
  TextNormalization form_;
};

// What is in a form has no part that is not.
void require_form(const TextEncoder& encoder, TextNormalization form, const std::string& name) {
  const Vocabulary vocabulary = encoder.vocabulary();
  for (Token token = 0; token < vocabulary.size; ++token) {
    if (token == vocabulary.special.unknown) continue;
    const std::string text = encoder.decode(std::vector<Token>{token});
    if (normalized(text, form) == text) continue;
    throw io::Error(name + ": its token " + std::to_string(token) + ", \"" + config::printable(text) +
                    "\", is not in the form of data.normalize, " + to_string(form) +
                    "; make the vocabulary with --normalize " + to_string(form));
  }
}

}  // namespace

TextNormalization read_normalization(const config::View& data) {
  return data.choice("normalize", TextNormalization::none, kTextNormalizations);
}

TextNormalization normalization_named(std::string_view name) {
  const auto found = std::ranges::find(kTextNormalizations, name, &config::Choice<TextNormalization>::word);
  if (found == kTextNormalizations.end()) throw std::invalid_argument("the form of a text must be none, nfc or nfkc");
  return found->value;
}

std::unique_ptr<const TextEncoder> with_normalization(std::unique_ptr<const TextEncoder> encoder,
                                                      TextNormalization form, const std::string& name) {
  if (form == TextNormalization::none) return encoder;
  require_form(*encoder, form, name);
  return std::make_unique<NormalizingEncoder>(std::move(encoder), form);
}

}  // namespace cachet::data
