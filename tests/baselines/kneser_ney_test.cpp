#include "cachet/baselines/kneser_ney.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "cachet/data/data_path.h"
#include "cachet/data/text/corpora/corpus.h"
#include "cachet/data/text/encoders/word_vocabulary.h"
#include "cachet/data/text/text_pieces.h"
#include "tests/support/oracle_folder.h"

namespace cachet {
namespace {

using baselines::KneserNey;
using data::Token;

class GivenTokens final : public data::TokenSequence {
 public:
  explicit GivenTokens(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  int64_t size() const override { return static_cast<int64_t>(tokens_.size()); }
  void read(int64_t first, int64_t count, int64_t* out) const override {
    std::copy_n(tokens_.begin() + first, count, out);
  }

 private:
  std::vector<Token> tokens_;
};

std::vector<Token> drawn_text(int64_t tokens, int64_t vocabulary) {
  std::vector<Token> text;
  uint64_t state = 7;
  for (int64_t i = 0; i < tokens; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto draw = static_cast<int64_t>(state >> 33);
    text.push_back(static_cast<Token>(draw % 7 == 0 ? 0 : (draw / 7 % vocabulary) * (draw % vocabulary) % vocabulary));
  }
  text.back() = 0;
  return text;
}

TEST(KneserNey, IsADistributionAfterEveryContext) {
  const int64_t vocabulary = 9;
  const GivenTokens text(drawn_text(400, vocabulary));
  for (int64_t order = 1; order <= 5; ++order) {
    const KneserNey model(text, vocabulary, 0, order);
    EXPECT_EQ(model.order(), order);
    for (const std::vector<Token>& line : {std::vector<Token>{model.start()},
                                           {model.start(), 3},
                                           {model.start(), 1, 2, 3, 4, 5},
                                           {model.start(), 8, 8, 8}}) {
      double sum = 0;
      for (Token token = 0; token < vocabulary; ++token) sum += std::exp(model.log_probability(line, token));
      EXPECT_NEAR(sum, 1.0, 1e-12) << "order " << order << ", after " << line.size() << " tokens";
    }
  }
}

/// Lines of the same text, so often each.
std::vector<Token> repeated_lines(const std::vector<std::pair<int, int>>& lines_and_times, int64_t words) {
  std::vector<Token> text;
  uint64_t state = 11;
  for (const auto& [lines, times] : lines_and_times) {
    for (int line = 0; line < lines; ++line) {
      std::vector<Token> one;
      for (int64_t word = 0; word < words; ++word) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        one.push_back(static_cast<Token>(1 + (state >> 33) % 500));
      }
      one.push_back(0);
      for (int time = 0; time < times; ++time) text.insert(text.end(), one.begin(), one.end());
    }
  }
  return text;
}

// Chen and Goodman's estimates are negative where there are more n-grams of count k + 1 than of count k.
TEST(KneserNey, RepeatedLinesHaveTheFixedDiscounts) {
  constexpr int64_t kVocabulary = 501;
  const std::vector<Token> often = repeated_lines({{60, 4}}, 10);
  std::vector<Token> all = repeated_lines({{60, 4}, {1, 3}, {60, 1}}, 10);
  const GivenTokens text(all), tested(std::vector<Token>(often.begin(), often.begin() + 660));
  const KneserNey model(text, kVocabulary, 0, 5);
  EXPECT_TRUE(model.discounts(5).fallback);
  EXPECT_EQ(model.discounts(5).discounts, KneserNey::Discounts::kFallback);
  const auto score = model.score(tested);
  EXPECT_EQ(score.tokens, 660);
  EXPECT_GT(score.perplexity(), 1.0) << "no probability is above 1";
  std::vector<Token> line{model.start()};
  for (const Token token : std::vector<Token>(often.begin(), often.begin() + 11)) {
    EXPECT_LE(model.log_probability(line, token), 0.0);
    line.push_back(token);
  }
}

// Texts of many kinds: few or many words, flat or steep, with repeated lines, also of one line alone.
TEST(KneserNey, RandomTextsHaveProbabilitiesThatSumToOne) {
  uint64_t state = 3;
  const auto draw = [&](int64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(below));
  };
  int estimated = 0, fixed = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const int64_t vocabulary = 2 + draw(30), lines = 1 + draw(40), kinds = 1 + draw(lines);
    const bool steep = draw(2) == 0;
    std::vector<std::vector<Token>> different;
    for (int64_t kind = 0; kind < kinds; ++kind) {
      different.emplace_back();
      for (int64_t word = draw(8); word > 0; --word)
        different.back().push_back(
            static_cast<Token>(1 + (steep ? draw(1 + draw(vocabulary - 1)) : draw(vocabulary - 1))));
      different.back().push_back(0);
    }
    std::vector<Token> all;
    for (int64_t line = 0; line < lines; ++line) {
      const auto& one = different[static_cast<size_t>(draw(kinds))];
      all.insert(all.end(), one.begin(), one.end());
    }
    const GivenTokens text(all);
    const KneserNey model(text, vocabulary, 0, 1 + draw(5));
    for (int64_t length = 1; length <= model.order(); ++length) {
      ++(model.discounts(length).fallback ? fixed : estimated);
      for (size_t k = 0; k < 3; ++k) {
        EXPECT_GT(model.discounts(length).discounts[k], 0.0);
        EXPECT_LE(model.discounts(length).discounts[k], static_cast<double>(k + 1));
      }
    }
    for (int line = 0; line < 4; ++line) {
      std::vector<Token> given{model.start()};
      for (int64_t word = draw(6); word > 0; --word) given.push_back(static_cast<Token>(1 + draw(vocabulary - 1)));
      double sum = 0;
      for (Token token = 0; token < vocabulary; ++token) {
        const double log_p = model.log_probability(given, token);
        ASSERT_TRUE(std::isfinite(log_p)) << "trial " << trial;
        EXPECT_LE(log_p, 1e-12) << "trial " << trial;
        sum += std::exp(log_p);
      }
      EXPECT_NEAR(sum, 1.0, 1e-12) << "trial " << trial;
    }
  }
  EXPECT_GT(estimated, 20);
  EXPECT_GT(fixed, 20);
}

TEST(KneserNey, KnowsItsOwnTextBetterThanAnother) {
  const GivenTokens text(drawn_text(3000, 30)), other(drawn_text(300, 25));
  const KneserNey model(text, 30, 0, 3);
  const auto own = model.score(text), foreign = model.score(other);
  EXPECT_EQ(own.tokens, 3000);
  EXPECT_EQ(std::accumulate(own.matched_length.begin(), own.matched_length.end(), int64_t{0}), 3000);
  EXPECT_EQ(own.matched_length[0], 0) << "every bigram of the text was seen";
  EXPECT_LT(own.perplexity(), foreign.perplexity());
}

TEST(KneserNey, RefusesWhatMakesNoSense) {
  const GivenTokens text({1, 0}), empty({});
  EXPECT_THROW(KneserNey(text, 3, 0, 0), std::invalid_argument);
  EXPECT_THROW(KneserNey(text, 3, 0, 6), std::invalid_argument);
  EXPECT_THROW(KneserNey(text, 0, 0, 2), std::invalid_argument);
  EXPECT_THROW(KneserNey(text, (1 << 24) - 1, 0, 2), std::invalid_argument);
  EXPECT_THROW(KneserNey(empty, 3, 0, 2), std::invalid_argument);
}

// The fixture's lines are of WikiText-2, which lies below CACHET_DATA where it is at hand.
TEST(KneserNeyOracle, CountsDiscountsAndProbabilitiesAreReproduced) {
  const auto fixture = nlohmann::json::parse(std::ifstream(test::oracle_folder() / "kneser_ney.json"));
  const auto folder = data::existing_data_path("wikitext-2", data::PathKind::folder, std::filesystem::current_path());
  if (!folder) GTEST_SKIP() << "wikitext-2 is neither here nor below CACHET_DATA";
  const auto first_lines = [&](data::SequenceSplit split, const nlohmann::json& part) {
    std::string text;
    data::for_each_piece(data::find_corpus_text(*folder, split), [&](std::string_view lines) { text += lines; });
    size_t end = 0;
    for (int64_t line = 0; line < part.at("lines").get<int64_t>(); ++line) end = text.find('\n', end) + 1;
    return text.substr(0, end);
  };
  const std::string training = first_lines(data::SequenceSplit::train, fixture.at("train"));
  const std::string held_out = first_lines(data::SequenceSplit::validation, fixture.at("held_out"));
  data::WordCounter counter;
  for (size_t at = 0; at < training.size(); at = training.find('\n', at) + 1)
    counter.add_line(std::string_view(training).substr(at, training.find('\n', at) - at));
  const data::WordEncoder encoder(data::words_text(counter.words()), "words");
  const GivenTokens text(
      data::encode_corpus(training, encoder, data::CorpusTokens::words, data::CountCoded::no).tokens);
  const GivenTokens held(
      data::encode_corpus(held_out, encoder, data::CorpusTokens::words, data::CountCoded::no).tokens);
  for (const auto& [name, expected] : fixture.at("models").items()) {
    EXPECT_EQ(encoder.vocabulary().size, expected.at("vocabulary")) << name;
    const KneserNey model(text, encoder.vocabulary().size, data::WordEncoder::kEndOfLine, expected.at("order"));
    for (int64_t length = 1; length <= model.order(); ++length) {
      const auto place = static_cast<size_t>(length - 1);
      EXPECT_EQ(model.ngrams(length), expected.at("ngrams")[place]) << name;
      const auto& found = model.discounts(length);
      for (size_t i = 0; i < 4; ++i)
        EXPECT_EQ(found.counts_of_counts[i], expected.at("count_counts")[place][i]) << name << ", " << length;
      for (size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(found.discounts[i], expected.at("discounts")[place][i].get<double>(), 1e-9) << name;
    }
    const auto score = model.score(held);
    EXPECT_EQ(score.tokens, expected.at("held_out_tokens")) << name;
    EXPECT_EQ(score.matched_length, expected.at("matched_length").get<std::vector<int64_t>>()) << name;
    EXPECT_NEAR(score.log_probability, expected.at("log_probability").get<double>(), 1e-9 * 113587) << name;
    EXPECT_NEAR(score.perplexity(), expected.at("perplexity").get<double>(), 1e-9 * 660) << name;
    std::vector<Token> line{model.start()};
    std::vector<int64_t> ids(expected.at("first").size());
    held.read(0, static_cast<int64_t>(ids.size()), ids.data());
    for (size_t i = 0; i < ids.size(); ++i) {
      int64_t matched = 0;
      const auto token = static_cast<Token>(ids[i]);
      EXPECT_NEAR(model.log_probability(line, token, &matched), expected.at("first")[i][1].get<double>(), 1e-9) << name;
      EXPECT_EQ(matched, expected.at("first")[i][2]) << name << ", token " << i;
      line.push_back(token);
      if (token == data::WordEncoder::kEndOfLine) line.assign(1, model.start());
    }
  }
}

}  // namespace
}  // namespace cachet
