#include "cachet/data/text/parallel/parallel_options.h"

#include <gtest/gtest.h>

#include "cachet/config/document.h"
#include "cachet/data/text/encoders/subword_training.h"
#include "cachet/data/text/parallel/parallel_loader.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "tests/data/text/parallel_texts.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

ParallelOptions parsed_parallel_options(const std::string& toml) {
  config::Document document = config::Document::from_text(toml, "r");
  const ParallelOptions options = read_parallel_options(document.root().table("data"));
  document.finish();
  return options;
}

std::string refusal(const std::string& more) {
  return test::thrown_message<config::Error>(
      [&] { parsed_parallel_options("[data]\nroot = \"x\"\nsource = \"de\"\ntarget = \"en\"\n" + more); });
}

TEST(ParallelOptions, AreThoseOfARecipe) {
  const ParallelOptions options = parsed_parallel_options(
      "[data]\nroot = \"m\"\nsource = \"de\"\ntarget = \"en\"\ntrain = [\"a\", \"b\"]\ntest = \"t\"\n"
      "columns = [\"en\", \"-\", \"de\"]\nvocabulary = 10000\nvocabulary_hash = \"ab\"\nmax_length = 80\n"
      "max_ratio = 1.5\nlimit = 9\nfraction = 0.5\nsubset_seed = 3\n");
  EXPECT_EQ(options.root, "m");
  EXPECT_EQ(options.source + options.target, "deen");
  EXPECT_EQ(options.train, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(options.test, std::vector<std::string>{"t"});
  EXPECT_TRUE(options.validation.empty());
  EXPECT_EQ(options.columns.size(), 3u);
  EXPECT_EQ(options.source_vocabulary, (ParallelVocabulary{"subwords.model", 10000, "ab"}));
  EXPECT_EQ(options.target_vocabulary, options.source_vocabulary);
  EXPECT_EQ(options.rules.max_length, 80);
  EXPECT_EQ(options.rules.max_ratio, 1.5);
  EXPECT_EQ(options.limit, 9);
  EXPECT_EQ(options.fraction, 0.5);
  EXPECT_EQ(options.subset_seed, 3U);
}

TEST(ParallelOptions, SidesHaveVocabulariesOfTheirOwnIfTheySaySo) {
  const ParallelOptions options = parsed_parallel_options(
      "[data]\nroot = \"m\"\nsource = \"vi\"\ntarget = \"en\"\ntokens = \"words\"\nshared_vocabulary = false\n"
      "target_vocabulary = 17191\n");
  EXPECT_EQ(options.source_vocabulary, (ParallelVocabulary{"source-words.txt", 8000}));
  EXPECT_EQ(options.target_vocabulary, (ParallelVocabulary{"target-words.txt", 17191}));
}

TEST(ParallelOptions, SayWhatIsWrong) {
  EXPECT_NE(refusal("max_ratio = 0.5\n").find("at least 1, or 0 for no limit"), std::string::npos);
  EXPECT_NE(refusal("columns = [\"en\", \"fr\"]\n").find("must contain \"de\" exactly once"), std::string::npos);
  EXPECT_NE(refusal("source_vocabulary = 9\n").find("needs data.shared_vocabulary = false"), std::string::npos);
  EXPECT_NE(refusal("shared_vocabulary = false\nvocabulary = 9\n").find("is the vocabulary of both languages"),
            std::string::npos);
  EXPECT_NE(refusal("tokens = \"bytes\"\n").find("subwords"), std::string::npos);
  EXPECT_NE(test::thrown_message<config::Error>([] {
              parsed_parallel_options("[data]\nroot = \"x\"\nsource = \"de\"\ntarget = \"de\"\n");
            }).find("must not be the same language"),
            std::string::npos);
  EXPECT_NE(test::thrown_message<config::Error>([] {
              parsed_parallel_options("[data]\nroot = \"x\"\nsource = \"a/b\"\ntarget = \"de\"\n");
            }).find("must be the ending of a file name"),
            std::string::npos);
}

TEST(ParallelOptions, ABatchHoldsTheLongestSentence) {
  config::Document document = config::Document::from_text("[data]\nmax_tokens = 513\npad_multiple = 8\n", "r");
  read_parallel_loader_options(document.root().table("data"), 512);
  EXPECT_NE(test::thrown_message<config::Error>([&] {
              document.finish();
            }).find("must be at least 520, the length of a sentence"),
            std::string::npos);
  config::Document fitting = config::Document::from_text("[data]\nmax_tokens = 513\nmax_samples = 7\n", "r");
  const auto options = read_parallel_loader_options(fitting.root().table("data"), 512);
  fitting.finish();
  EXPECT_EQ(options.budget.max_tokens, 513);
  EXPECT_EQ(options.budget.max_samples, 7);
}

TEST(SentenceEncoder, WordsEndInTheEndThatStandsBeforeThemToo) {
  const test::ParallelFolder texts;
  const SentenceEncoder encoder = make_sentence_encoder(texts.options, ParallelSide::source, texts.folder.path());
  EXPECT_EQ(encoder.marks, (SentenceMarks{test::kEos, test::kEos}));
  EXPECT_EQ(encoder.encode("a  c\tx").tokens, (std::vector<Token>{test::kA, test::kC, test::kUnk}));
  EXPECT_EQ(encoder.encode("a  c\tx").unknown, 1);
  EXPECT_EQ(encoder.encode("a <eos> b").tokens, (std::vector<Token>{test::kA, test::kUnk, test::kB}))
      << "no word ends a sentence";
  EXPECT_TRUE(encoder.encode(" ").tokens.empty());
}

TEST(SentenceEncoder, RefusesAnotherVocabulary) {
  test::ParallelFolder texts;
  const auto refusal = [&] {
    return test::thrown_message<io::Error>([&] { make_parallel_encoders(texts.options, texts.folder.path()); });
  };
  texts.options.source_vocabulary.size = 7;
  EXPECT_EQ(refusal(), texts.path("words.txt") + ": has 6 tokens, but the recipe has data.vocabulary = 7");
  texts.options.source_vocabulary = {"words.txt", 0, "ab"};
  EXPECT_EQ(refusal(), texts.path("words.txt") +
                           ": is not the vocabulary of the recipe: its hash differs from data.vocabulary_hash, ab");
  texts.options.source_vocabulary = {"words.txt", 0, io::sha256_hex(test::kWordFile)};
  EXPECT_EQ(refusal(), "(nothing thrown)");
  texts.options.shared_vocabulary = false;
  texts.options.target_vocabulary = {"none.txt", 6};
  EXPECT_NE(refusal().find("data.target_vocabulary_file: there is no file"), std::string::npos);
}

#ifdef CACHET_SUBWORDS

TEST(SentenceEncoder, SubwordsNeedAnEndOfASentence) {
  test::ParallelFolder texts;
  texts.options.tokens = ParallelTokens::subwords;
  texts.options.source_vocabulary = texts.options.target_vocabulary = {"subwords.model", 20};
  const std::vector<std::string> lines{"ab cd", "abc d", "a b c d", "dcba </s>"};
  texts.write("subwords.model", train_subwords(lines, {.vocabulary = 20}));
  EXPECT_EQ(test::thrown_message<io::Error>([&] { texts.encoders(); }),
            texts.path("subwords.model") +
                ": the vocabulary has no end-of-sentence token; make it with `cachet data subwords --line-ends`, and "
                "set data.vocabulary_file to it");
  texts.write("subwords.model", train_subwords(lines, {.vocabulary = 20, .begin_and_end = true}));
  const ParallelEncoders encoders = texts.encoders();
  EXPECT_EQ(encoders.source.marks, (SentenceMarks{2, 3}));
  for (const Token token : encoders.source.encode("abcd </s> <s> <pad>").tokens) EXPECT_TRUE(token == 1 || token > 3);
  EXPECT_EQ(encoders.source.encode("a\xFF").replaced, 1);
}

#endif

}  // namespace
}  // namespace cachet::data
