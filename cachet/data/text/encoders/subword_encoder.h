#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "cachet/data/text/encoders/text_encoder.h"

namespace cachet::data {

/// Splits text with a SentencePiece model (Kudo and Richardson 2018). Bytes that are not UTF-8 become U+FFFD and are
/// counted. A SentencePiece model with NFKC reads U+FFFD as a blank, which may vanish; any other SentencePiece model
/// reads U+FFFD as an unknown token.
class SubwordEncoder final : public TextEncoder {
 public:
  /// Takes the bytes of a SentencePiece model with id 0 as padding, such as a model of `cachet data subwords`. Throws
  /// io::Error, whose message begins with `name`, for an invalid model and in a build without SentencePiece.
  SubwordEncoder(std::string_view model, const std::string& name);
  ~SubwordEncoder() override;

  /// Returns the vocabulary. The fingerprint of the vocabulary is the SHA-256 of the SentencePiece model, and this
  /// model also defines the special ids.
  Vocabulary vocabulary() const override { return vocabulary_; }
  EncodedText encode(std::string_view text, int64_t most) const override;

 private:
  std::string decode_known(const std::vector<Token>& tokens) const override;

  struct Model;
  std::unique_ptr<const Model> model_;
  Vocabulary vocabulary_;
};

/// Replaces each byte that does not begin a UTF-8 sequence by U+FFFD. Increases `replaced` by the number of
/// replacements.
std::string with_valid_utf8(std::string_view text, int64_t& replaced);

/// Returns a note for the user about replaced bytes, without a full stop: "2 bytes that are not UTF-8 were read as
/// U+FFFD, …". The text `of`, such as " of de" for the German side, is inserted after the word "bytes".
std::string replaced_bytes_text(int64_t replaced, const std::string& of = "");

/// The path and the bytes of the subword model that the options name. The path of the model is found by the same rules
/// as the data root. Throws io::Error.
struct SubwordModelFile {
  std::filesystem::path path;
  std::string bytes;
};
SubwordModelFile read_subword_model(const TextOptions& options, const std::filesystem::path& working_folder);

/// Reads a subword model, and compares its vocabulary size and hash with the options. Throws io::Error.
std::unique_ptr<const TextEncoder> read_subword_encoder(const TextOptions& options,
                                                        const std::filesystem::path& working_folder);

}  // namespace cachet::data
