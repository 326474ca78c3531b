#include "cachet/data/text/sequences/matching.h"

#include <unordered_map>

#include "cachet/data/text/sequences/sequence_kinds.h"
#include "cachet/io/digests/sha256.h"

namespace cachet::data {
namespace {

constexpr TsvLayout kMatchingLayout{.header = {}, .columns = 5};
constexpr int kMatchingClasses = 2;

/// Reads rows, each text encoded once.
class MatchingReader {
 public:
  MatchingReader(const TextEncoder& encoder, const SequenceRules& rules)
      : encoder_(encoder), rules_(rules), builder_(encoder.vocabulary(), rules) {}

  TakeRow rows() {
    return [this](std::span<const std::string_view> fields) {
      for (const std::string_view field : fields) builder_.add_text(field);
      const int label = parse_label(fields[0], kMatchingClasses);
      const auto first = sequence(fields[3]), second = sequence(fields[4]);
      ++line_;
      first&& second ? builder_.add_sample({*first, *second, label, line_}) : builder_.skip_sample();
    };
  }

  std::shared_ptr<const SequenceDataset> finish(const std::string& name) {
    return builder_.finish(name, kMatching.class_names(), {.before_place = name + ":"});
  }

 private:
  using Number = std::optional<int64_t>;  // of a sequence; none of an empty one

  Number sequence(std::string_view text) {
    const auto digest = io::sha256(std::as_bytes(std::span(text)));
    const auto [found, is_new] = numbers_.try_emplace(std::string(digest.begin(), digest.end()));
    if (!is_new) return found->second;
    EncodedText encoded = encoder_.encode(text, rules_.max_length);
    builder_.count_replaced(encoded.replaced);
    return found->second = builder_.add_sequence(std::move(encoded.tokens), text_key(text, rules_));
  }

  const TextEncoder& encoder_;
  SequenceRules rules_;
  SequenceBuilder builder_;
  std::unordered_map<std::string, Number> numbers_;  // by the text's SHA-256
  int64_t line_ = 0;
};

}  // namespace

std::shared_ptr<const SequenceDataset> read_matching(const io::ByteSource& source, const std::string& name,
                                                     const TextEncoder& encoder, const SequenceRules& rules) {
  MatchingReader reader(encoder, rules);
  read_tsv(source, name, kMatchingLayout, reader.rows());
  return reader.finish(name);
}

TsvFileName matching_file_name(const std::string& files, SequenceSplit split) {
  const char* part = split == SequenceSplit::train ? ".train" : split == SequenceSplit::test ? ".test" : ".eval";
  return {files, std::string(part) + ".tsv"};
}

std::shared_ptr<const SequenceDataset> read_matching_file(const std::filesystem::path& folder, const std::string& files,
                                                          SequenceSplit split, const TextEncoder& encoder,
                                                          const SequenceRules& rules) {
  MatchingReader reader(encoder, rules);
  return reader.finish(
      read_tsv_file(folder, matching_file_name(files, split), kMatchingLayout, reader.rows()).string());
}

}  // namespace cachet::data
