#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "cachet/data/text/encoders/text_encoder.h"

namespace cachet::data {

/// Pieces of words by a SentencePiece model (Kudo and Richardson 2018). Bytes that are not UTF-8 are read as U+FFFD and
/// counted: a model with NFKC reads that as a blank, and it may vanish; to others it is unknown.
class SubwordEncoder final : public TextEncoder {
 public:
  /// Takes the bytes of a model whose id 0 is padding, as `cachet data subwords` makes them. Throws io::Error that
  /// begins with `name`, also in a build without SentencePiece.
  SubwordEncoder(std::string_view model, const std::string& name);
  ~SubwordEncoder() override;

  /// Its fingerprint is the SHA-256 of the model; special ids are those of the model.
  Vocabulary vocabulary() const override { return vocabulary_; }
  EncodedText encode(std::string_view text, int64_t most) const override;

 private:
  std::string decode_known(const std::vector<Token>& tokens) const override;

  struct Model;
  std::unique_ptr<const Model> model_;
  Vocabulary vocabulary_;
};

/// The text with U+FFFD for each byte that begins no UTF-8 sequence; `replaced` grows by their number.
std::string with_valid_utf8(std::string_view text, int64_t& replaced);

/// What became of these bytes, for the user, without a full stop: "2 bytes that are not UTF-8 were read as U+FFFD, …".
/// `of` stands after the bytes: " of de".
std::string replaced_bytes_text(int64_t replaced, const std::string& of = "");

/// The model's file that the options name, looked for as the data's root is, and its bytes. Throws io::Error.
struct SubwordModelFile {
  std::filesystem::path path;
  std::string bytes;
};
SubwordModelFile read_subword_model(const TextOptions& options, const std::filesystem::path& working_folder);

/// Reads a model's file and holds it to the options: size of the vocabulary, hash. Throws io::Error.
std::unique_ptr<const TextEncoder> read_subword_encoder(const TextOptions& options,
                                                        const std::filesystem::path& working_folder);

}  // namespace cachet::data
