// SentencePiece models: what is taken must split any text into ids of its vocabulary, and make a text of any such ids.
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "cachet/data/text/encoders/subword_encoder.h"
#include "cachet/data/text/encoders/subword_training.h"
#include "cachet/io/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {
namespace {

constexpr std::string_view kTexts[] = {"walking never", "WALK \xff\xfe stay", "\u212b \uFB01 \u3000 a\u0301 \U0001F600",
                                       std::string_view("\0 \t\n", 4)};

// Any ids of the vocabulary have a text; others are refused.
void decode_any(const data::SubwordEncoder& encoder, int64_t size) {
  const auto last = static_cast<data::Token>(size - 1);
  static_cast<void>(encoder.decode(std::vector<data::Token>{last, 0, last / 2, 1 % (last + 1), last}));
  for (const data::Token beyond : {static_cast<data::Token>(size), data::Token{-1}}) {
    try {
      static_cast<void>(encoder.decode(std::vector<data::Token>{0, beyond}));
      std::abort();
    } catch (const std::out_of_range&) {
    }
  }
}

}  // namespace

void read(std::span<const uint8_t> input) {
  try {
    const data::SubwordEncoder encoder({reinterpret_cast<const char*>(input.data()), input.size()}, "input");
    const int64_t size = encoder.vocabulary().size;
    if (size < 1 || size > data::kMaxTokens) std::abort();
    for (const std::string_view text : kTexts) {
      const std::vector<data::Token> tokens = encoder.encode(text, 100).tokens;
      for (const data::Token token : tokens)
        if (token < 0 || token >= size) std::abort();
      static_cast<void>(encoder.decode(tokens));
    }
    decode_any(encoder, size);
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const char* stem : {"walk", "talk", "play", "stay"})
    for (const char* ending : {"", "s", "ed", "ing", "er"})
      for (const char* more : {" often", " never", " again"}) texts.push_back(std::string(stem) + ending + more);
  return {data::train_subwords(texts, {.vocabulary = 40}),
          data::train_subwords(texts, {.vocabulary = 30, .kind = data::SubwordKind::unigram})};
}

}  // namespace cachet::fuzz
