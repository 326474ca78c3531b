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
#include "cachet/data/text/corpus.h"
#include "cachet/data/text/text_pieces.h"
#include "cachet/data/text/word_vocabulary.h"
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

TEST(KneserNey, IsADistributionBehindEveryContext) {
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
      EXPECT_NEAR(sum, 1.0, 1e-12) << "order " << order << ", behind " << line.size() << " tokens";
    }
  }
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
  const GivenTokens text(data::encode_corpus(training, encoder, data::CorpusTokens::words).tokens);
  const GivenTokens held(data::encode_corpus(held_out, encoder, data::CorpusTokens::words).tokens);
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
