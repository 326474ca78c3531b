#include "cachet/metrics/chrf.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/metrics/text_metric_fixtures.h"
#include "tests/support/thrown_message.h"

namespace cachet::metrics {
namespace {

using test::allowed;
using Texts = std::vector<std::string>;

double one(std::string_view hypothesis, std::string_view reference, const ChrfOptions& options = {}) {
  return sentence_chrf(hypothesis, std::vector{reference}, options);
}

TEST(Chrf, IsSacreBleusOfSentencesAndCorpora) {
  const auto fixtures = test::sacrebleu_fixtures();
  const auto hypotheses = fixtures.at("hypotheses").get<Texts>();
  for (const auto& corpus : fixtures.at("corpora")) {
    const auto references = corpus.at("references").get<std::vector<Texts>>();
    for (const auto& expected : corpus.at("chrf")) {
      const ChrfOptions options{expected.at("order"), expected.at("beta"), expected.at("blanks")};
      const double score = corpus_chrf(hypotheses, references, options);
      EXPECT_NEAR(score, expected.at("score").get<double>(), allowed(expected.at("score")));
      EXPECT_EQ(chrf_text(score, options), expected.at("text").get<std::string>());
      EXPECT_EQ(chrf_signature(options, static_cast<int64_t>(references.size())),
                expected.at("signature").get<std::string>());
      for (size_t i = 0; i < hypotheses.size(); ++i) {
        std::vector<std::string_view> of_sentence;
        for (const Texts& stream : references) of_sentence.emplace_back(stream[i]);
        const double sentence = expected.at("sentences").at(i);
        EXPECT_NEAR(sentence_chrf(hypotheses[i], of_sentence, options), sentence, allowed(sentence)) << i;
      }
    }
  }
}

TEST(Chrf, CountsCodePointsAndStrayBytes) {
  EXPECT_EQ(one("\u1ec7\u0111", "\u1ec7\u0111"), 100);
  EXPECT_EQ(one("\u1ec7", "e\u0323\u0302"), 0);  // composed and decomposed stay what they are
  const std::vector<std::string_view> bytes{"\xFF",        "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80",
                                            "\xE0\x81\x81"};
  for (const std::string_view text : bytes) {
    EXPECT_EQ(one(text, text), 100);
    EXPECT_EQ(ChrfCounter().count(text, std::vector{text}).orders[0].hypothesis, static_cast<int64_t>(text.size()));
  }
  EXPECT_EQ(one("A", "\xE0\x81\x81"), 0);  // an overlong form is not the character
}

TEST(Chrf, IsSacreBleusOfVietnameseInEveryForm) {
  const auto cases = test::sacrebleu_fixtures().at("vietnamese");
  for (const auto& each : cases) {
    const std::vector<Texts> references{each.at("references").get<Texts>()};
    const double expected = each.at("chrf");
    EXPECT_NEAR(corpus_chrf(each.at("hypotheses").get<Texts>(), references), expected, allowed(expected))
        << each.at("name");
  }
}

TEST(Chrf, IsZeroWithoutCharacters) {
  EXPECT_EQ(one("", "a"), 0);
  EXPECT_EQ(one("a", ""), 0);
  EXPECT_EQ(one(" \u3000", " "), 0);
  EXPECT_EQ(one(" ", " ", {.blanks = true}), 100);
}

TEST(Chrf, SaysWhatCannotBeScored) {
  EXPECT_EQ(test::thrown_message<std::invalid_argument>([] { ChrfCounter(ChrfOptions{.character_order = 0}); }),
            "chrF: the n-grams must have 1 to 100 characters");
  EXPECT_EQ(test::thrown_message<std::invalid_argument>([] { ChrfCounter(ChrfOptions{.beta = 0}); }),
            "chrF: beta must be at least 1");
  EXPECT_EQ(test::thrown_message<std::invalid_argument>([] { sentence_chrf("a", {}); }),
            "chrF needs a reference for each sentence");
  EXPECT_EQ(test::thrown_message<std::invalid_argument>([] { corpus_chrf(Texts{"a"}, std::vector<Texts>{{}}); }),
            "there are 1 sentences, but reference 1 has 0 lines");
  EXPECT_EQ(chrf_signature({}, std::nullopt), "nrefs:var|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0");
}

}  // namespace
}  // namespace cachet::metrics
