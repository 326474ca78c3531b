#include "cachet/data/text/encoders/subword_encoder.h"

#include "cachet/config/utf8.h"
#include "cachet/data/data_path.h"
#include "cachet/data/named_by.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"

namespace cachet::data {
namespace {

constexpr uint64_t kMaxModelBytes = uint64_t{1} << 26;

}  // namespace

std::string with_valid_utf8(std::string_view text, int64_t& replaced) {
  std::string valid;
  while (true) {
    const size_t wrong = config::first_invalid_utf8(text);
    valid += text.substr(0, wrong);
    if (wrong == std::string_view::npos) return valid;
    valid += "\uFFFD";
    ++replaced;
    text.remove_prefix(wrong + 1);
  }
}

SubwordModelFile read_subword_model(const TextOptions& options, const std::filesystem::path& working_folder) {
  const auto path = find_data_path("data.subword_model", options.subword_model, PathKind::file, working_folder,
                                   "`cachet data subwords` makes one");
  return {path, named_by({"data.subword_model"}, [&] { return io::read_text_file(path, kMaxModelBytes); })};
}

std::string replaced_bytes_text(int64_t replaced, const std::string& of) {
  return std::to_string(replaced) + (replaced == 1 ? " byte" : " bytes") + of +
         (replaced == 1 ? " that is not UTF-8 was" : " that are not UTF-8 were") +
         " read as U+FFFD. A subword model reads this character as a space, or as an unknown token if the model was "
         "made with --keep-characters";
}

std::unique_ptr<const TextEncoder> read_subword_encoder(const TextOptions& options,
                                                        const std::filesystem::path& working_folder) {
  const auto [path, model] = read_subword_model(options, working_folder);
  auto encoder =
      named_by({"data.subword_model"}, [&] { return std::make_unique<SubwordEncoder>(model, path.string()); });
  const Vocabulary found = encoder->vocabulary();
  if (found.size != options.vocabulary) {
    throw io::Error(path.string() + ": has a vocabulary of " + std::to_string(found.size) +
                    " tokens, but data.vocabulary is " + std::to_string(options.vocabulary) +
                    "; set data.vocabulary = " + std::to_string(found.size));
  }
  if (!options.vocabulary_hash.empty() && options.vocabulary_hash != found.fingerprint) {
    throw io::Error(path.string() + ": is not the subword model of the recipe: data.vocabulary_hash is " +
                    options.vocabulary_hash + ", but the hash of the file is " + found.fingerprint);
  }
  return encoder;
}

}  // namespace cachet::data
