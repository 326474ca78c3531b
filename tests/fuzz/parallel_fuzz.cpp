// Pairs of sentences: two texts (a zero byte between them), tables, and files of sentences as tokens: what is taken
// must be pairs of tokens of its vocabulary. The first byte chooses the reader.
#include <algorithm>
#include <cstdlib>
#include <span>

#include "cachet/data/text/encoders/word_vocabulary.h"
#include "cachet/data/text/parallel/parallel_files.h"
#include "cachet/data/text/parallel/parallel_sentences.h"
#include "cachet/io/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {
namespace {

const data::SentenceEncoder& encoder() {
  static const data::SentenceEncoder words{
      std::make_shared<const data::WordEncoder>("<eos>\t3\na\t2\nb\t1\n<unk>\t1\n", "words"), {0, 0}};
  return words;
}

void check_sentence(std::string_view text) {
  if (text.find('\n') != std::string_view::npos) std::abort();
  for (const data::Token token : encoder().encode(text).tokens)
    if (token < 1 || token > 3) std::abort();
}

void read_two_texts(std::string_view input) {
  const size_t end = std::min(input.find('\0'), input.size());
  const std::string_view left = input.substr(0, end), right = input.substr(std::min(end + 1, input.size()));
  int64_t lines = 0;
  data::read_pair_lines(io::MemorySource(std::as_bytes(std::span(left))), "left",
                        io::MemorySource(std::as_bytes(std::span(right))), "right",
                        [&](std::string_view source, std::string_view target) {
                          check_sentence(source);
                          check_sentence(target);
                          ++lines;
                        });
  if (lines != std::ranges::count(left, '\n') + (!left.empty() && left.back() != '\n')) std::abort();
}

void read_sentences(std::span<const uint8_t> bytes) {
  const data::Vocabulary vocabulary = encoder().texts->vocabulary();
  data::Vocabulary named = vocabulary;
  named.fingerprint = "words";
  const data::SentencesInFile sentences(
      data::TokenFile(std::make_unique<io::MemorySource>(std::as_bytes(bytes)), "input"), named, 0);
  int64_t tokens = 0;
  for (int64_t i = 0; i < sentences.size(); ++i) {
    for (const data::Token token : sentences.tokens(i))
      if (token < 1 || token > 3) std::abort();
    tokens += sentences.length(i) + 1;
  }
  if (tokens != sentences.file().size()) std::abort();
}

}  // namespace

void read(std::span<const uint8_t> input) {
  if (input.empty()) return;
  const auto bytes = input.subspan(1);
  data::ParallelOptions options;
  options.source = "de";
  options.target = "en";
  options.columns = {"en", "-", "de"};
  try {
    switch (input[0] % 3) {
      case 0:
        return read_two_texts({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      case 1:
        return data::read_pair_rows(io::MemorySource(std::as_bytes(bytes)), "input", options,
                                    [](std::string_view source, std::string_view target) {
                                      check_sentence(source);
                                      check_sentence(target);
                                    });
      default:
        return read_sentences(bytes);
    }
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  using namespace std::string_literals;
  std::string header = "CACHTOK1\2\0\0\0\200\0\0\0\4\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0"s + std::string(16, '\0') + "words";
  header.resize(128, '\0');
  return {"\0a b\nc\r\n\0b\na <eos>\n"s, "\1a\tx\tb\n\t\ta a\n"s, "\2"s + header + "\1\0\0\0\0\0"s};
}

}  // namespace cachet::fuzz
