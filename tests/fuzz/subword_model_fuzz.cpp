// SentencePiece models: what is taken must split any text into ids of its vocabulary.
#include <cstdlib>
#include <string_view>

#include "cachet/data/text/subword_encoder.h"
#include "cachet/data/text/subword_training.h"
#include "cachet/io/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {
namespace {

constexpr std::string_view kTexts[] = {"walking never", "WALK \xff\xfe stay", "\u212b \uFB01 \u3000 a\u0301 \U0001F600",
                                       std::string_view("\0 \t\n", 4)};

}  // namespace

void read(std::span<const uint8_t> input) {
  try {
    const data::SubwordEncoder encoder({reinterpret_cast<const char*>(input.data()), input.size()}, "input");
    const int64_t size = encoder.vocabulary().size;
    if (size < 1 || size > data::kMostTokens) std::abort();
    for (const std::string_view text : kTexts)
      for (const data::Token token : encoder.encode(text, 100).tokens)
        if (token >= size) std::abort();
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
