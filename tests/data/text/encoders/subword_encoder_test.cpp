#include "cachet/data/text/encoders/subword_encoder.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>

#include "cachet/data/text/encoders/subword_tables.h"
#include "cachet/data/text/encoders/subword_training.h"
#include "cachet/data/text/sequences/imdb.h"
#include "cachet/data/text/sequences/open_sequences.h"
#include "cachet/data/text/sequences/sequence_kinds.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "tests/data/text/review_files.h"
#include "tests/support/packed_bytes.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

/// SentencePiece's trainer does not free its symbols if one of its checks ends the training.
extern "C" const char* __lsan_default_suppressions() { return "leak:sentencepiece::bpe::Trainer"; }

namespace cachet::data {
namespace {

TEST(ValidUtf8, EachWrongByteBecomesOneReplacement) {
  int64_t replaced = 0;
  EXPECT_EQ(with_valid_utf8("caf\xc3\xa9", replaced), "caf\xc3\xa9");
  EXPECT_EQ(replaced, 0);
  EXPECT_EQ(with_valid_utf8("\xff"
                            "a\xc3(\xe2\x82",
                            replaced),
            "\uFFFDa\uFFFD(\uFFFD\uFFFD");
  EXPECT_EQ(replaced, 4);
}

#ifdef CACHET_SUBWORDS

TEST(Subwords, AWordThatIsTooLongForBpeIsAnError) {
  const std::vector<std::string> texts{std::string(65'536, 'a') + " b"};
  SubwordOptions options{.vocabulary = 5};
  const std::string said = test::thrown_message<io::Error>([&] { train_subwords(texts, options); });
  EXPECT_EQ(said.find("SentencePiece cannot train: a word has more than 65535 characters"), 0U) << said;
  options.kind = SubwordKind::unigram;
  options.vocabulary = 4;
  EXPECT_FALSE(train_subwords(texts, options).empty());
}

// Words that share parts; enough of them for 60 pieces.
std::vector<std::string> subword_texts() {
  std::vector<std::string> texts;
  for (const char* stem : {"walk", "talk", "play", "stay"}) {
    for (const char* ending : {"", "s", "ed", "ing", "er"})
      for (const char* more : {" often", " never", " again\n"}) texts.push_back(std::string(stem) + ending + more);
  }
  return texts;
}

const std::string& subword_model() {
  static const std::string model = train_subwords(subword_texts(), {.vocabulary = 60});
  return model;
}

TEST(Subwords, TextIsPiecesThatTheModelKnows) {
  const SubwordEncoder encoder(subword_model(), "model");
  EXPECT_EQ(encoder.vocabulary().size, 60);
  EXPECT_EQ(encoder.vocabulary().fingerprint, io::sha256_hex(std::as_bytes(std::span(subword_model()))));
  const EncodedText text = encoder.encode("walking never", 1000);
  EXPECT_LT(text.tokens.size(), 6u) << "pieces, not letters";
  EXPECT_GT(text.tokens.size(), 1u);
  for (const Token token : text.tokens) {
    EXPECT_GT(token, 1) << "neither padding nor unknown";
    EXPECT_LT(token, 60);
  }
  EXPECT_EQ(encoder.encode("walk\xff", 1000).replaced, 1);
  EXPECT_EQ(encoder.encode("walk\xff", 1000).tokens, encoder.encode("walk\uFFFD", 1000).tokens);
  EXPECT_EQ(encoder.encode("Q", 1000).tokens.back(), 1) << "unknown";
  EXPECT_TRUE(encoder.encode("", 1000).tokens.empty());
  EXPECT_TRUE(encoder.encode(" \n ", 1000).tokens.empty());
}

TEST(Subwords, DecodingIsTheInverseOfEncoding) {
  for (const auto kind : {SubwordKind::bpe, SubwordKind::unigram}) {
    const SubwordEncoder encoder(train_subwords(subword_texts(), {.vocabulary = 30, .kind = kind}), "model");
    for (const std::string text : {"walking never", "stay", "talker plays again", ""})
      EXPECT_EQ(encoder.decode(encoder.encode(text, 1000).tokens), text);
    // What encoding loses stays lost: double spaces, and letters that the model has never seen.
    EXPECT_EQ(encoder.decode(encoder.encode("walk  often ", 1000).tokens), "walk often");
    EXPECT_NE(encoder.decode(encoder.encode("walk Q", 1000).tokens).find("\u2047"), std::string::npos);
  }
}

TEST(Subwords, CharactersAreNormalizedUnlessTheyAreToBeKept) {
  const std::string composed = "Ti\u1ebfng Vi\u1ec7t", decomposed = "Tie\u0302\u0301ng Vie\u0323\u0302t";
  const std::vector<std::string> texts(20, decomposed + " " + composed + " \uFEFF \uFB01n");
  const SubwordEncoder kept(train_subwords(texts, {.vocabulary = 30, .keep_characters = true}), "kept");
  for (const std::string& text : {composed, decomposed, std::string("\uFEFFn"), std::string("\uFB01n")})
    EXPECT_EQ(kept.decode(kept.encode(text, 1000).tokens), text);
  const SubwordEncoder normalizing(train_subwords(texts, {.vocabulary = 25}), "normalizing");
  EXPECT_EQ(normalizing.decode(normalizing.encode(decomposed, 1000).tokens), composed);
  EXPECT_EQ(normalizing.decode(normalizing.encode("\uFB01n", 1000).tokens), "fin");
}

TEST(Subwords, SpecialIdsAreThoseOfTheModel) {
  EXPECT_EQ(SubwordEncoder(subword_model(), "model").vocabulary().special, (SpecialTokens{.padding = 0, .unknown = 1}));
  const SubwordEncoder encoder(train_subwords(subword_texts(), {.vocabulary = 60, .begin_and_end = true}), "model");
  EXPECT_EQ(encoder.vocabulary().special, (SpecialTokens{.padding = 0, .unknown = 1, .begin = 2, .end = 3}));
  std::vector<Token> tokens = encoder.encode("walking never", 1000).tokens;
  tokens.insert(tokens.begin(), 2);
  tokens.insert(tokens.end(), {3, 0, 0});
  EXPECT_EQ(encoder.decode(tokens), "walking never") << "begin, end and padding stand for no text";
}

TEST(Subwords, DecodingRefusesIdsOfNoVocabulary) {
  const SubwordEncoder encoder(subword_model(), "model");
  const auto complaint = [&](Token token) {
    return test::thrown_message<std::out_of_range>([&] { encoder.decode(std::vector<Token>{5, 6, token}); });
  };
  EXPECT_EQ(complaint(60), "token 2 is 60, but the ids of the vocabulary are 0 to 59");
  EXPECT_EQ(complaint(-1), "token 2 is -1, but the ids of the vocabulary are 0 to 59");
  EXPECT_NE(complaint(std::numeric_limits<Token>::max()), "");
  EXPECT_NE(complaint(std::numeric_limits<Token>::min()), "");
  EXPECT_NO_THROW(encoder.decode(std::vector<Token>{59, 0, 1, 2}));
}

TEST(Subwords, TrainingIsRepeatable) {
  EXPECT_EQ(train_subwords(subword_texts(), {.vocabulary = 60}), subword_model());
  const SubwordOptions unigram{.vocabulary = 30, .kind = SubwordKind::unigram};
  EXPECT_EQ(train_subwords(subword_texts(), unigram), train_subwords(subword_texts(), unigram));
  EXPECT_NE(train_subwords(subword_texts(), unigram), train_subwords(subword_texts(), {.vocabulary = 30}));
}

TEST(Subwords, LongTextsAreNotLeftOut) {
  // SentencePiece itself passes over texts of more than 4,192 bytes.
  std::string text;
  for (int i = 0; i < 500; ++i) text += "zebra quagga ";
  const auto texts = std::vector<std::string>{text};
  const SubwordEncoder encoder(train_subwords(texts, {.vocabulary = 20}), "model");
  EXPECT_LE(encoder.encode("zebra quagga", 100).tokens.size(), 4u);
}

TEST(Subwords, TheLargestVocabularyThatTheTextsAllowCanBeTrained) {
  try {
    train_subwords(subword_texts(), {.vocabulary = 8000});
    FAIL();
  } catch (const TooFewPieces& error) {
    EXPECT_EQ(error.most(), 123);
    const std::string model = train_subwords(subword_texts(), {.vocabulary = error.most()});
    EXPECT_EQ(SubwordEncoder(model, "model").vocabulary().size, 123);
  }
}

TEST(Subwords, TrainingRefusesWhatCannotBe) {
  const auto complaint = [](const std::vector<std::string>& texts, int64_t vocabulary) {
    return test::thrown_message<io::Error>([&] { train_subwords(texts, {.vocabulary = vocabulary}); });
  };
  EXPECT_EQ(complaint(subword_texts(), 8000),
            "SentencePiece cannot train: the texts have too few different pieces for a vocabulary of 8000; use a "
            "--vocabulary of at most 123");
  EXPECT_NE(complaint(subword_texts(), 5).find("but the vocabulary has only 5; use a larger --vocabulary"),
            std::string::npos);
  EXPECT_EQ(complaint(subword_texts(), 2), "a subword vocabulary must have 3 to 16777216 pieces");
  EXPECT_EQ(complaint(subword_texts(), 16'777'217), "a subword vocabulary must have 3 to 16777216 pieces");
  EXPECT_NE(complaint({}, 60).find("SentencePiece cannot train"), std::string::npos);
}

TEST(Subwords, DamagedModelsAreRefused) {
  const auto complaint = [](const std::string& model) {
    return test::thrown_message<io::Error>([&] { SubwordEncoder(model, "m.model"); });
  };
  const std::string empty_piece("\x0a\x02\x0a\x00", 4);  // of which SentencePiece throws an exception of its own
  for (const std::string& damaged :
       {std::string(), std::string("hello"), subword_model().substr(0, 40),
        subword_model().substr(0, subword_model().size() - 7), subword_model() + empty_piece})
    EXPECT_TRUE(complaint(damaged).starts_with("m.model: is not a SentencePiece model")) << complaint(damaged);
}

TEST(Subwords, AModelWhoseTableLeadsOutIsRefused) {
  const auto tables = normalization_tables(subword_model());
  ASSERT_TRUE(tables && tables->size() == 1);
  EXPECT_EQ(table_problem(tables->front()), std::nullopt);
  std::string damaged = subword_model();
  const auto root = static_cast<size_t>(tables->front().data() - subword_model().data()) + 4;
  damaged.replace(root, 4, "\x01\x02\xf0\x7f");
  EXPECT_EQ(test::thrown_message<io::Error>([&] { SubwordEncoder(damaged, "m.model"); }),
            "m.model: is damaged: an entry of its table points outside the table");
}

TEST(Subwords, TheModelMustBeTheOneThatIsMeant) {
  const test::TemporaryDirectory folder;
  test::write_text(folder / "m.model", subword_model());
  TextOptions options{.tokens = TokenKind::subwords, .subword_model = "m.model", .vocabulary = 60};
  const auto complaint = [&] {
    return test::thrown_message<io::Error>([&] { make_text_encoder(options, folder.path()); });
  };
  EXPECT_EQ(make_text_encoder(options, folder.path())->vocabulary().size, 60);
  const std::string hash = make_text_encoder(options, folder.path())->vocabulary().fingerprint;
  options.vocabulary_hash = hash;
  EXPECT_EQ(complaint(), "(nothing thrown)");
  options.vocabulary_hash = "0" + hash.substr(1) + "0";
  EXPECT_EQ(complaint(), (folder / "m.model").string() +
                             ": is not the subword model of the recipe: data.vocabulary_hash is " +
                             options.vocabulary_hash + ", but the hash of the file is " + hash);
  options.vocabulary = 8000;
  EXPECT_EQ(complaint(), (folder / "m.model").string() +
                             ": has a vocabulary of 60 tokens, but data.vocabulary is 8000; set data.vocabulary = 60");
  options.subword_model = "none.model";
  EXPECT_NE(complaint().find("data.subword_model: there is no file " + (folder / "none.model").string() +
                             "; `cachet data subwords` makes one."),
            std::string::npos);
}

TEST(Subwords, ReviewsAreReadWithThem) {
  const test::TemporaryDirectory folder;
  test::write_text(folder / "m.model", subword_model());
  test::write_text(folder / "imdb/test/neg/0_1.txt", "walks never again \xff");
  test::write_text(folder / "imdb/test/pos/0_9.txt", "plays often");
  const SequenceDatasetOptions options{
      .kind = &kImdb,
      .root = folder / "imdb",
      .text = {.tokens = TokenKind::subwords, .subword_model = folder / "m.model", .vocabulary = 60}};
  const auto reviews = open_sequence_dataset(options, SequenceSplit::test);
  EXPECT_EQ(reviews->size(), 2);
  EXPECT_EQ(reviews->counts().replaced, 1);
  EXPECT_EQ(reviews->vocabulary().size, 60);
  EXPECT_LT(reviews->length(1), 8);
}

#else

TEST(Subwords, ABuildWithoutThemSaysSo) {
  const std::string refusal = "this build of Cachet does not support subwords; build it with -DCACHET_SUBWORDS=ON";
  EXPECT_EQ(test::thrown_message<io::Error>([] { SubwordEncoder("", "m.model"); }), refusal);
  EXPECT_EQ(test::thrown_message<io::Error>([] { train_subwords({"a"}, {}); }), refusal);
}

#endif

TEST(TrainingTexts, AreTheFilesOfAFolderOrTheTextsOfPairs) {
  const test::TemporaryDirectory folder;
  test::write_text(folder / "train/pos/b.txt", "second \xff");
  test::write_text(folder / "train/neg/a.txt", "first");
  test::write_text(folder / "train/neg/a.md", "no text");
  test::write_text(folder / "pairs.tsv", "1\ta\tb\tone\ttwo\n0\ta\tc\tone\tthree\n");
  const TrainingTexts read = read_training_texts({folder / "train"}, 0);
  EXPECT_EQ(read.texts, (std::vector<std::string>{"first", "second \uFFFD"}));
  EXPECT_EQ(read.replaced, 1);
  EXPECT_EQ(read.notes, std::vector<std::string>{"1 file that is not a .txt file was skipped: " +
                                                 (folder / "train/neg/a.md").string()});
  EXPECT_EQ(read_training_texts({folder / "pairs.tsv"}, 0).texts, (std::vector<std::string>{"one", "two", "three"}));
  std::filesystem::create_directory(folder / "test");
  const auto complaint = [&](const std::filesystem::path& path) {
    return test::thrown_message<io::Error>([&] { read_training_texts({path}, 0); });
  };
  EXPECT_EQ(complaint(folder.path()),
            folder.path().string() + ": contains the folders train and test; to use only the training texts, name " +
                (folder / "train").string());
  EXPECT_EQ(complaint(folder / "test"), (folder / "test").string() + ": holds no .txt files");
  EXPECT_EQ(complaint(folder / "none"),
            (folder / "none").string() +
                ": does not exist; name a folder of .txt files, a TSV file of pairs, or a text file");
  test::write_text(folder / "empty/a.txt", "");
  EXPECT_EQ(complaint(folder / "empty"), (folder / "empty").string() + ": all of its texts are empty");
}

// macOS writes a hidden file for each file on a foreign disk.
TEST(TrainingTexts, AreNoHiddenFilesAndHaveNoMarkInTheirMiddle) {
  const test::TemporaryDirectory folder;
  test::write_text(folder / "texts/A.TXT", "\xEF\xBB\xBFone");
  test::write_text(folder / "texts/._A.TXT", "resource fork");
  test::write_text(folder / "texts/.hidden/b.txt", "hidden");
  test::write_text(folder / "lines", "\xEF\xBB\xBFtwo\nthree\n");
  const TrainingTexts read = read_training_texts({folder / "texts", folder / "lines"}, 0);
  EXPECT_EQ(read.texts, (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(read.notes, std::vector<std::string>{"2 hidden files were skipped. The first one is " +
                                                 (folder / "texts/._A.TXT").string()});
}

// SentencePiece leaves out a text that holds the character.
TEST(TrainingTexts, ThatHoldAReservedCharacterStay) {
  const test::TemporaryDirectory folder;
  test::write_text(folder / "lines", "a\u2585b\nc\n\u2585\u2585d\n");
  const TrainingTexts read = read_training_texts({folder / "lines"}, 0);
  EXPECT_EQ(read.texts, (std::vector<std::string>{"a b", "c", "  d"}));
  ASSERT_EQ(read.notes.size(), 1u);
  EXPECT_NE(read.notes[0].find("2 texts hold the character U+2585, which SentencePiece reserves"), std::string::npos)
      << read.notes[0];
}

TEST(TrainingTexts, AreTheLinesOfSeveralFiles) {
  const test::TemporaryDirectory folder;
  test::write_text(folder / "train.de", "eins\n\nzwei\r\ndrei \xff");
  const std::string english = "one\ntwo\n";
  test::write_bytes(folder / "train.en.gz",
                    test::gzip({reinterpret_cast<const uint8_t*>(english.data()), english.size()}));
  test::write_text(folder / "empty.de", "\n\n");
  const std::vector<std::filesystem::path> both{folder / "train.de", folder / "train.en.gz"};
  const TrainingTexts read = read_training_texts(both, 0);
  EXPECT_EQ(read.texts, (std::vector<std::string>{"eins", "zwei", "drei \uFFFD", "one", "two"}));
  EXPECT_EQ(read.replaced, 1);
  EXPECT_TRUE(read.notes.empty());
  EXPECT_EQ(test::thrown_message<io::Error>([&] { read_training_texts({folder / "empty.de"}, 0); }),
            (folder / "empty.de").string() + ": all lines are empty");
}

TEST(TrainingTexts, AreAnEvenDrawWhereThereAreTooMany) {
  const test::TemporaryDirectory folder;
  std::string lines;
  for (int i = 0; i < 10'000; ++i) lines += std::to_string(i) + "\n";
  test::write_text(folder / "train.de", lines);
  const std::vector<std::string> drawn = read_training_texts({folder / "train.de"}, 1000).texts;
  EXPECT_EQ(drawn, read_training_texts({folder / "train.de"}, 1000).texts);
  ASSERT_EQ(drawn.size(), 1000u);
  std::array<int, 4> quarters{};
  for (const std::string& line : drawn) ++quarters[static_cast<size_t>(std::stoi(line) / 2500)];
  for (const int quarter : quarters) EXPECT_NEAR(quarter, 250, 65);  // five deviations
  EXPECT_EQ(std::set<std::string>(drawn.begin(), drawn.end()).size(), 1000u);
}

}  // namespace
}  // namespace cachet::data
