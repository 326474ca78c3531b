#include "cachet/metrics/text_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "cachet/metrics/bootstrap.h"
#include "tests/metrics/text_metric_fixtures.h"

namespace cachet::metrics {
namespace {

using Texts = std::vector<std::string>;

TEST(Deviation, IsThatOfASample) {
  EXPECT_FALSE(deviation({}));
  EXPECT_FALSE(deviation(std::vector{3.0}));
  EXPECT_EQ(deviation(std::vector{3.0, 3.0, 3.0}), 0.0);
  EXPECT_NEAR(deviation(std::vector{2.0, 4.0, 4.0, 6.0}).value(), std::sqrt(8.0 / 3), 1e-15);
}

TEST(Resampler, DrawsEachSampleAlikeAndTheSameEachTime) {
  constexpr size_t kSamples = 7, kDraws = 70'000;
  Resampler resampler(kSamples), again(kSamples);
  std::vector<int> seen(kSamples, 0);
  for (size_t i = 0; i < kDraws; ++i) {
    const size_t sample = resampler.next();
    ASSERT_LT(sample, kSamples);
    ASSERT_EQ(sample, again.next());
    ++seen[sample];
  }
  // Of 10,000 expected, five standard deviations of a binomial.
  for (const int count : seen) EXPECT_NEAR(count, 10'000, 463);
  EXPECT_EQ(Resampler(1).next(), 0U);
}

std::vector<BleuCounts> repeated(const BleuCounts& counts, size_t times) { return {times, counts}; }

/// Of sentences of 5 … 24 words, three quarters of whose n-grams match.
std::vector<BleuCounts> drawn_sentences(size_t count) {
  std::mt19937 random(1);
  std::vector<BleuCounts> sentences(count);
  for (BleuCounts& sentence : sentences) {
    const auto words = static_cast<int64_t>(5 + random() % 20);
    sentence.hypothesis_length = words;
    sentence.reference_length = static_cast<int64_t>(5 + random() % 20);
    for (size_t n = 0; n < kBleuOrders; ++n) {
      sentence.total[n] = words - static_cast<int64_t>(n);
      for (int64_t i = 0; i < sentence.total[n]; ++i) sentence.correct[n] += random() % 4 != 0 ? 1 : 0;
    }
  }
  return sentences;
}

TEST(BleuError, OfEqualSentencesIsNothing) {
  const BleuCounts one{{5, 3, 2, 1}, {6, 5, 4, 3}, 6, 7};
  EXPECT_EQ(bleu_error(repeated(one, 50)), 0.0);
  EXPECT_EQ(chrf_error(std::vector<ChrfCounts>(50, ChrfCounts{{{6, 7, 5}, {5, 6, 3}}})), 0.0);
  EXPECT_FALSE(bleu_error(repeated(one, 1)));
  EXPECT_FALSE(bleu_error({}));
  EXPECT_FALSE(chrf_error({}));
  EXPECT_EQ(chrf_error(std::vector<ChrfCounts>(3)), std::nullopt) << "nothing was counted";
}

// Of two sentences, of which one is translated and the other not at all, a corpus that is drawn has both with a
// probability of one half. With chrF of one order, so many characters each, scores are 0, 50 and 100: their deviation
// is √1250 = 35.36.
TEST(ChrfError, OfTwoSentencesIsThatOfThreeScores) {
  const std::vector<ChrfCounts> sentences{{{{8, 8, 8}}}, {{{8, 8, 0}}}};
  EXPECT_NEAR(chrf_error(sentences).value(), std::sqrt(1250.0), 4 * std::sqrt(1250.0) / std::sqrt(2.0 * 999));
}

// Four times as many sentences, half the error. A deviation of 1,000 scores is known to 1 / √1998 = 2.2 %, a ratio of
// two to 3.2 %: four of these.
TEST(BleuError, FallsWithTheRootOfTheSentences) {
  std::vector<BleuCounts> sentences = drawn_sentences(400);
  const double of_few = bleu_error(sentences).value();
  for (int i = 0; i < 3; ++i) sentences.insert(sentences.end(), sentences.begin(), sentences.begin() + 400);
  const double of_many = bleu_error(sentences).value();
  EXPECT_NEAR(of_few / of_many, 2, 2 * 4 * 0.032);
}

TEST(TextErrors, AreTheSameEachTimeAndOfTheOptions) {
  std::vector<BleuCounts> sentences = drawn_sentences(40);
  EXPECT_EQ(bleu_error(sentences), bleu_error(sentences));
  for (BleuCounts& sentence : sentences) sentence.correct[3] = 0;
  EXPECT_GT(bleu_error(sentences).value(), 0);
  EXPECT_EQ(bleu_error(sentences, {.smoothing = BleuSmoothing::none}), 0.0) << "all corpora score nothing";
}

// sacreBLEU 2.6.0 draws with another generator: of 10,000 corpora that it drew itself, its scores deviate by 3.552 and
// 2.979 (BLEU, of one reference and of three) and by 2.582 and 2.862 (chrF). A deviation of 1,000 scores is known to
// 2.2 %, one of 10,000 to 0.7 %: the bound is four of both together.
TEST(TextErrors, AreThoseOfSacreBleusResamples) {
  constexpr double kBound = 4 * 0.0236;
  const auto fixtures = test::sacrebleu_fixtures();
  const auto hypotheses = fixtures.at("hypotheses").get<Texts>();
  for (const auto& corpus : fixtures.at("corpora")) {
    const auto references = corpus.at("references").get<std::vector<Texts>>();
    BleuCounter words;
    ChrfCounter characters;
    std::vector<BleuCounts> bleus;
    std::vector<ChrfCounts> chrfs;
    for (size_t i = 0; i < hypotheses.size(); ++i) {
      std::vector<std::string_view> of_sentence;
      for (const Texts& stream : references) of_sentence.emplace_back(stream[i]);
      bleus.push_back(words.count(hypotheses[i], of_sentence));
      chrfs.push_back(characters.count(hypotheses[i], of_sentence));
    }
    const double bleu = corpus.at("deviations").at("bleu"), chrf = corpus.at("deviations").at("chrf");
    EXPECT_NEAR(bleu_error(bleus).value(), bleu, kBound * bleu);
    EXPECT_NEAR(chrf_error(chrfs).value(), chrf, kBound * chrf);
    RecordProperty("bleu", std::to_string(bleu_error(bleus).value() / bleu));
    RecordProperty("chrf", std::to_string(chrf_error(chrfs).value() / chrf));
  }
}

}  // namespace
}  // namespace cachet::metrics
