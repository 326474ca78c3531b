#include "cachet/metrics/bleu.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <stdexcept>

#include "tests/metrics/text_metric_fixtures.h"
#include "tests/support/oracle_folder.h"
#include "tests/support/thrown_message.h"

namespace cachet::metrics {
namespace {

using test::expect_bleu;
using Texts = std::vector<std::string>;

std::vector<std::string_view> views(const Texts& texts) { return {texts.begin(), texts.end()}; }

std::vector<std::string_view> of_sentence(const std::vector<Texts>& streams, size_t sentence) {
  std::vector<std::string_view> references;
  for (const Texts& stream : streams) references.emplace_back(stream.at(sentence));
  return references;
}

TEST(Bleu, IsSacreBleusOfTheOracle) {
  const std::vector<std::pair<const char*, BleuOptions>> kinds{
      {"sacrebleu", {}},
      {"tokenized_exp", {.tokens = BleuTokens::blanks}},
      {"tokenized", {.tokens = BleuTokens::blanks, .smoothing = BleuSmoothing::none}}};
  const auto corpora = test::json_of(test::oracle_folder() / "bleu.json").at("corpora");
  EXPECT_EQ(corpora.size(), 6u);
  for (const auto& [name, corpus] : corpora.items()) {
    const auto references = corpus.at("references").get<std::vector<Texts>>();
    for (const auto& [kind, options] : kinds) {
      SCOPED_TRACE(name + " " + kind);
      expect_bleu(corpus_bleu(corpus.at("hypotheses").get<Texts>(), references, options), corpus.at(kind));
      EXPECT_EQ(bleu_signature(options, static_cast<int64_t>(references.size())),
                corpus.at(kind).at("signature").get<std::string>());
    }
  }
}

TEST(Bleu, TokensAreThoseOf13aInTheOracle) {
  BleuTokenizer tokenizer;
  size_t seen = 0;
  const auto corpora = test::json_of(test::oracle_folder() / "bleu.json").at("corpora");
  for (const auto& [name, corpus] : corpora.items()) {
    if (!corpus.contains("hypotheses_13a")) continue;
    for (size_t i = 0; i < corpus.at("hypotheses").size(); ++i, ++seen)
      EXPECT_EQ(tokenizer.text(corpus["hypotheses"][i].get<std::string>()),
                corpus["hypotheses_13a"].at(i).get<std::string>());
  }
  EXPECT_EQ(seen, 40u);
}

TEST(Bleu, TokensOfWhateverStandsInATextAreThoseOf13a) {
  BleuTokenizer tokenizer;
  const auto fixtures = test::sacrebleu_fixtures();
  for (const auto& pair : fixtures.at("tokens"))
    EXPECT_EQ(tokenizer.text(pair[0].get<std::string>()), pair[1].get<std::string>()) << pair[0];
}

TEST(Bleu, IsSacreBleusOfSentencesAndCorporaWithEveryOption) {
  const auto fixtures = test::sacrebleu_fixtures();
  EXPECT_EQ(fixtures.at("sacrebleu").get<std::string>(), kSacreBleuVersion);
  const auto hypotheses = fixtures.at("hypotheses").get<Texts>();
  for (const auto& corpus : fixtures.at("corpora")) {
    const auto references = corpus.at("references").get<std::vector<Texts>>();
    for (const BleuTokens tokens : {BleuTokens::mteval_13a, BleuTokens::blanks}) {
      for (const BleuSmoothing smoothing : {BleuSmoothing::exponential, BleuSmoothing::none}) {
        for (const bool effective : {false, true}) {
          const BleuOptions options{tokens, smoothing, effective};
          const std::string kind = std::string(tokens == BleuTokens::blanks ? "none" : "13a") +
                                   (smoothing == BleuSmoothing::none ? " none " : " exp ") + (effective ? "yes" : "no");
          SCOPED_TRACE(kind);
          const auto& expected = corpus.at("bleu").at(kind);
          expect_bleu(corpus_bleu(hypotheses, references, options), expected);
          EXPECT_EQ(bleu_signature(options, static_cast<int64_t>(references.size())),
                    expected.at("signature").get<std::string>());
          BleuCounter counter(options);
          for (size_t i = 0; i < hypotheses.size(); ++i) {
            const auto& sentence = expected.at("sentences").at(i);
            const BleuCounts counts = counter.count(hypotheses[i], of_sentence(references, i));
            expect_bleu(bleu(counts, options), sentence);
            if (effective) {
              const BleuOptions others{tokens, smoothing};
              EXPECT_EQ(sentence_bleu(hypotheses[i], of_sentence(references, i), others).text(),
                        sentence.at("text").get<std::string>());
            }
          }
        }
      }
    }
  }
}

TEST(Bleu, IsSacreBleusOfVietnameseInEveryForm) {
  const auto cases = test::sacrebleu_fixtures().at("vietnamese");
  ASSERT_EQ(cases.size(), 9u);
  std::map<std::string, double> scores;
  for (const auto& each : cases) {
    const auto name = each.at("name").get<std::string>();
    SCOPED_TRACE(name);
    const std::vector<Texts> references{each.at("references").get<Texts>()};
    const Bleu score = corpus_bleu(each.at("hypotheses").get<Texts>(), references);
    expect_bleu(score, each.at("bleu"));
    scores[name] = score.score;
  }
  // Two forms of one text are two texts, also for sacreBLEU.
  EXPECT_NEAR(scores["composed for composed"], scores["decomposed for decomposed"], 1e-9);
  EXPECT_LT(scores["decomposed for composed"], scores["composed for composed"] / 2);
  EXPECT_LT(scores["marked for composed"], scores["composed for composed"]);
}

TEST(Bleu, KeepsCharactersAsTheyAreGiven) {
  const Texts composed{"caf\u00e9"}, decomposed{"cafe\u0301"}, marked{"\uFEFFcaf\u00e9"};
  EXPECT_EQ(sentence_bleu(composed[0], views(composed)).counts.correct[0], 1);
  EXPECT_EQ(sentence_bleu(decomposed[0], views(composed)).counts.correct[0], 0);
  EXPECT_EQ(sentence_bleu(marked[0], views(composed)).counts.correct[0], 0);
  const Texts stray{"a \xFF\xC3 b"};  // no UTF-8: a word like any other
  EXPECT_EQ(sentence_bleu(stray[0], views(stray)).counts.correct[0], 3);
}

TEST(Bleu, CountsOfSentencesAddUp) {
  const Texts hypotheses{"a b c d e", "x"}, references{"a b c d f", "x y"};
  BleuCounter counter;
  BleuCounts sum;
  for (size_t i = 0; i < 2; ++i) sum += counter.count(hypotheses[i], views({references[i]}));
  EXPECT_EQ(sum, corpus_bleu(hypotheses, std::vector<Texts>{references}).counts);
  EXPECT_EQ(sum.correct, (std::array<int64_t, 4>{5, 3, 2, 1}));
  EXPECT_EQ(sum.total, (std::array<int64_t, 4>{6, 4, 3, 2}));
  EXPECT_EQ(sum.reference_length, 7);
}

TEST(Bleu, WithoutWordsIsZero) {
  EXPECT_EQ(sentence_bleu("", views({"a b"})).score, 0);
  EXPECT_EQ(sentence_bleu("", views({"a b"})).brevity_penalty, 0);
  EXPECT_EQ(sentence_bleu("", views({""})).text(),
            "BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 0.000 hyp_len = 0 ref_len = 0)");
  EXPECT_EQ(sentence_bleu("a b", views({""})).score, 0);
}

TEST(Bleu, SaysWhatCannotBeScored) {
  const Texts two{"a", "b"}, one{"a"};
  const auto of = [](const Texts& hypotheses, const std::vector<Texts>& references) {
    return test::thrown_message<std::invalid_argument>([&] { corpus_bleu(hypotheses, references); });
  };
  EXPECT_EQ(of({}, {{}}), "there are no sentences to score");
  EXPECT_EQ(of(two, {}), "there are no references to score against");
  EXPECT_EQ(of(two, {two, one}), "there are 2 sentences, but reference 2 has 1 lines");
  EXPECT_EQ(test::thrown_message<std::invalid_argument>([&] { sentence_bleu("a", {}); }),
            "BLEU needs a reference for each sentence");
  EXPECT_EQ(bleu_signature({}, std::nullopt), "nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
}

}  // namespace
}  // namespace cachet::metrics
