// Files of tokens, vocabularies of words, and texts read with one: what is taken must be tokens of its vocabulary. The
// first byte chooses the reader.
#include <cstdlib>
#include <span>

#include "cachet/data/text/corpora/corpus.h"
#include "cachet/data/text/corpora/token_file.h"
#include "cachet/data/text/encoders/word_vocabulary.h"
#include "cachet/io/digests/crc32.h"
#include "cachet/io/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {
namespace {

void read_tokens(std::span<const uint8_t> bytes) {
  const data::TokenFile file(std::make_unique<io::MemorySource>(std::as_bytes(bytes)), "input");
  std::vector<int64_t> ids(static_cast<size_t>(file.size()));
  file.read(0, file.size(), ids.data());
  for (const int64_t id : ids)
    if (id < 0 || id >= file.facts().vocabulary) std::abort();
}

// The vocabulary ends at the first zero byte; the text stands after it.
void read_text(std::string_view input) {
  const size_t end = std::min(input.find('\0'), input.size());
  const data::WordEncoder encoder(input.substr(0, end), "input");
  if (data::parse_words(data::words_text(encoder.words()), "again") != encoder.words()) std::abort();
  const auto text = input.substr(std::min(end + 1, input.size()));
  const data::EncodedCorpus encoded =
      data::encode_corpus(text, encoder, data::CorpusTokens::words, data::CountCoded::yes);
  for (const data::Token token : encoded.tokens)
    if (token < 0 || token >= encoder.vocabulary().size) std::abort();
  // Known words in their order: blanks are what it may lose.
  if (encoded.coded.unknown == 0 &&
      data::encode_corpus(encoder.decode(encoded.tokens), encoder, data::CorpusTokens::words, data::CountCoded::no)
              .tokens != encoded.tokens)
    std::abort();
}

}  // namespace

void read(std::span<const uint8_t> input) {
  if (input.empty()) return;
  const auto bytes = input.subspan(1);
  try {
    if (input[0] % 2 == 0) return read_tokens(bytes);
    read_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  using namespace std::string_literals;
  const auto number = [](uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
    return text;
  };
  const auto file = [&](uint64_t width, uint64_t vocabulary, const std::string& ids) {
    std::string header = "CACHTOK1" + number(width, 4) + number(128, 4) + number(vocabulary, 8) +
                         number(ids.size() / width, 8) + number(9, 8) + number(9, 8) + "words";
    header.resize(128, '\0');
    return "\0"s + header + ids;
  };
  // The same with checksums, of one block.
  const auto checked = [&](const std::string& first_version) {
    const auto crc = [&](const std::string& bytes) { return number(io::crc32(std::as_bytes(std::span(bytes))), 4); };
    const std::string table = crc(first_version.substr(129));
    std::string header = "CACHTOK2" + first_version.substr(9, 4) + number(160, 4) + first_version.substr(17, 96) +
                         number(65536, 4) + crc(table) + number(1, 8) + number(7, 8) + number(7, 8) + number(1, 8) +
                         number(0, 4);
    header += crc(header);
    return "\0"s + header + first_version.substr(129) + table;
  };
  const std::string narrow = file(2, 300, "\1\0\2\0\3\1"s), wide = file(4, 70000, "\1\0\1\0"s);
  return {narrow, wide, checked(narrow), checked(wide), "\1<eos>\t2\nthe\t2\n<unk>\t1\n\0the cat\n the\n"s};
}

}  // namespace cachet::fuzz
