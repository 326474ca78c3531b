// Texts, pairs of them and expressions that a user gives: what is taken has tokens of its vocabulary, no more than
// asked for. The first byte chooses the kind.
#include <cstdlib>
#include <string_view>

#include "cachet/config/utf8.h"
#include "cachet/data/text/encoders/subword_encoder.h"
#include "cachet/data/text/sequences/given_sequence.h"
#include "cachet/io/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {
namespace {

constexpr int64_t kMaxTokens = 20;

void check_tokens(const std::vector<data::Token>& tokens, int64_t vocabulary) {
  if (tokens.empty() || tokens.size() > static_cast<size_t>(kMaxTokens)) std::abort();
  for (const data::Token token : tokens)
    if (token <= data::kPaddingToken || token >= vocabulary) std::abort();
}

void check_utf8(std::string_view text) {
  int64_t replaced = 0;
  const std::string valid = data::with_valid_utf8(text, replaced);
  if (config::first_invalid_utf8(valid) != std::string_view::npos) std::abort();
  if ((replaced == 0) != (valid == text) || valid.size() != text.size() + 2 * static_cast<size_t>(replaced))
    std::abort();
}

}  // namespace

void read(std::span<const uint8_t> input) {
  if (input.empty()) return;
  constexpr const data::SequenceKind* kKinds[] = {&data::kListOps, &data::kImdb, &data::kMatching};
  const data::SequenceDatasetOptions options{.kind = kKinds[input[0] % 3], .max_length = kMaxTokens};
  const std::string_view text(reinterpret_cast<const char*>(input.data()) + 1, input.size() - 1);
  check_utf8(text);
  try {
    const data::GivenSequence given = data::GivenSequenceReader(options).read(text);
    const int64_t vocabulary = data::sequence_traits(options).vocabulary;
    check_tokens(given.tokens, vocabulary);
    if (options.kind == &data::kMatching) check_tokens(given.second, vocabulary);
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  using namespace std::string_literals;
  return {"\0( ( ( [MIN 6 ) 7 ) ] )"s, "\0[MED 1 [SM 2 9 ] [MAX 3 ] ]"s, "\1caf\xc3\xa9 \xff\xe2\x82"s,
          "\2one text\tanother"s};
}

}  // namespace cachet::fuzz
