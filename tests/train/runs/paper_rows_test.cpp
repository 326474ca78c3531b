#include "cachet/train/runs/paper_rows.h"

#include <gtest/gtest.h>

namespace cachet::train {
namespace {

constexpr const char* kTwoRows = R"([paper]
arxiv = ["2312.12742", "2208.01313"]
row = ["Table 1, Swin-T", "Table 2, Swin-T, LN"]
value = ["81.2 % top-1", "81.3 % top-1"]
runs = 5
differs = ["AdamW takes the place of Adam."]
)";

/// What is wrong with a recipe whose table [paper] has these lines.
std::string problem_with(const std::string& lines) {
  config::Document document = config::Document::from_text("[paper]\n" + lines, "mine.toml");
  read_paper_rows(document.root());
  read_changed_keys(document.root());
  try {
    document.finish();
  } catch (const config::Error& error) {
    return error.what();
  }
  return "";
}

TEST(PaperRows, AreReadAndKeptByARun) {
  config::Document document = config::Document::from_text(kTwoRows, "recipe.toml");
  const auto read = read_paper_rows(document.root());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->rows.size(), 2U);
  EXPECT_EQ(read->rows[1].arxiv, "2208.01313");
  read_changed_keys(document.root());
  EXPECT_NO_THROW(document.finish());
  RecipeValues values = recipe_values(document);
  values["train.epochs"] = "3";
  values["paper.changed"] = "[\"train.epochs\"]";
  const auto kept = paper_rows_of(values);
  ASSERT_TRUE(kept);
  EXPECT_EQ(paper_row_text(kept->rows[0]), "Cached Transformers (arXiv 2312.12742), Table 1, Swin-T: 81.2 % top-1");
  EXPECT_EQ(kept->runs, 5);
  EXPECT_EQ(kept->differs, read->differs);
  EXPECT_EQ(kept->changed, std::vector<std::string>{"train.epochs"});
  EXPECT_FALSE(paper_rows_of({{"train.epochs", "3"}})) << "a run without a row, as of version 0.1.0";
}

TEST(PaperRows, OfOnePaperNeedItsNumberOnce) {
  auto document = config::Document::from_text(
      "[paper]\narxiv = '2101.00001v2'\nrow = ['Table 1, a', 'Table 1, b']\nvalue = ['1 %', '2 %']\n", "r");
  const auto read = read_paper_rows(document.root());
  ASSERT_EQ(read->rows.size(), 2U);
  EXPECT_EQ(paper_row_text(read->rows[1]), "arXiv 2101.00001v2, Table 1, b: 2 %");
}

TEST(PaperRows, AnEmptyDocumentHasNone) {
  config::Document document;
  EXPECT_FALSE(read_paper_rows(document.root()));
  EXPECT_TRUE(document.resolved().empty()) << "a recipe without a row lists no keys of one";
}

TEST(PaperRows, ProblemsNameKeyAndRemedy) {
  const std::string good = "arxiv = '2312.12742'\nrow = 'Table 1, ViT-S'\n";
  EXPECT_EQ(problem_with(good + "value = '79.9 %'\n"), "");
  EXPECT_EQ(problem_with(good), "mine.toml:1: paper.value: is required in [paper], such as \"78.4 % top-1\"");
  EXPECT_EQ(problem_with(good + "value = []\n"),
            "mine.toml:4: paper.value: must have a text, such as \"78.4 % top-1\"");
  EXPECT_EQ(problem_with(good + "value = ['1 %', '2 %']\n"),
            "mine.toml:4: paper.value: must have as many texts as paper.row, 1, but has 2");
  EXPECT_EQ(problem_with("arxiv = ['2312.12742', '2208.01313']\nrow = 'Table 1'\nvalue = '1 %'\n"),
            "mine.toml:2: paper.arxiv: must have one number, or as many numbers as paper.row has texts, 1, but has "
            "2");
  EXPECT_EQ(problem_with("arxiv = 'cs/0112017'\nrow = 'Table 1'\nvalue = '1 %'\n"),
            "mine.toml:2: paper.arxiv: must be the number of an arXiv paper, such as \"2312.12742\", not "
            "\"cs/0112017\"");
  EXPECT_EQ(problem_with(good + "value = \"1\\n2\"\n"),
            "mine.toml:4: paper.value: must not have an empty text or a text with several lines");
  EXPECT_EQ(problem_with(good + "value = '1 %'\ndiffers = ['']\n"),
            "mine.toml:5: paper.differs: must not have an empty text or a text with several lines");
  EXPECT_NE(problem_with(good + "value = '1 %'\ntable = 'x'\n").find("mine.toml:5: paper.table: unknown key"),
            std::string::npos);
}

/// A recipe that was read: numbers of [train] and [data].
config::Document numbers(const std::string& text) {
  config::Document document = config::Document::from_text(text, "recipe.toml");
  for (const auto& [table, key] : {std::pair("train", "epochs"),
                                   {"train", "seed"},
                                   {"train", "threads"},
                                   {"train", "batch_size"},
                                   {"data", "workers"},
                                   {"data", "root"}})
    document.root().table(table).integer(key, 1);
  return document;
}

TEST(PaperRows, AnEmptyTableIsNoRow) {
  config::Document document = config::Document::from_text("[paper]\n", "mine.toml");
  EXPECT_FALSE(read_paper_rows(document.root()));
  EXPECT_NO_THROW(document.finish());
}

TEST(PaperRows, AKeyIsChangedIfItsValueIsAndIfItBelongsToTheExperiment) {
  const config::Document row = numbers("[train]\nepochs = 300\n");
  EXPECT_TRUE(keys_changed_from({row}, {numbers("[train]\nepochs = 300\n")}).empty());
  EXPECT_TRUE(keys_changed_from({row}, {numbers("[train]\nepochs = 300\nbatch_size = 1\n")}).empty()) << "its default";
  EXPECT_TRUE(keys_changed_from(
                  {row}, {numbers("[train]\nepochs = 300\nseed = 2\nthreads = 3\n[data]\nworkers = 4\nroot = 5\n")})
                  .empty());
  config::Document set = config::Document::from_text("[train]\nepochs = 300\n", "recipe.toml");
  set.set("train.epochs=30");
  set.set("train.batch_size=2", "saved by the run");
  set.root().table("train").integer("epochs", 1);
  set.root().table("train").integer("batch_size", 1);
  EXPECT_EQ(keys_changed_from({row}, {set}), std::vector<std::string>{"train.epochs"})
      << "what a run keeps is no change";
}

/// A recipe that was read, of `processes`.
struct Spread {
  config::Document document;
  int64_t processes = 1;
  operator SpreadRecipe() const { return {document, processes}; }  // NOLINT: a short table of cases
};

Spread spread(const std::string& state, int64_t batch_size, int64_t accumulate, int64_t processes,
              const std::string& more = "") {
  Spread made{
      config::Document::from_text("[train]\nstate = '" + state + "'\nbatch_size = " + std::to_string(batch_size) +
                                      "\naccumulate = " + std::to_string(accumulate) + "\n" + more,
                                  "recipe.toml"),
      processes};
  const config::View train = made.document.root().table("train");
  train.text("state", "shared");
  for (const char* key : {"batch_size", "accumulate", "epochs"}) train.integer(key, 1);
  return made;
}

TEST(PaperRows, TheSamePartsInAnotherSpreadAreTheSameExperiment) {
  using Keys = std::vector<std::string>;
  const Keys parts{kPartsOfStep}, batch{"train.batch_size"};
  for (const std::string state : {"separate", "first"}) {
    const Spread row = spread(state, 20, 4, 1);  // 4 parts of 20
    EXPECT_EQ(keys_changed_from(row, spread(state, 20, 4, 1)), Keys());
    EXPECT_EQ(keys_changed_from(row, spread(state, 80, 1, 4)), Keys());
    EXPECT_EQ(keys_changed_from(row, spread(state, 40, 2, 2)), Keys());
    EXPECT_EQ(keys_changed_from(spread(state, 80, 1, 4), row), Keys());
    EXPECT_EQ(keys_changed_from(row, spread(state, 20, 4, 2)), parts) << "8 parts of 10";
    EXPECT_EQ(keys_changed_from(row, spread(state, 80, 1, 1)), parts) << "1 part of 80";
    EXPECT_EQ(keys_changed_from(row, spread(state, 40, 1, 4)), batch) << "4 parts of 10";
    EXPECT_EQ(keys_changed_from(row, spread(state, 20, 8, 1)), (Keys{"train.batch_size", kPartsOfStep})) << "8 of 20";
    EXPECT_EQ(keys_changed_from(row, spread(state, 80, 1, 4, "epochs = 7\n")), Keys{"train.epochs"});
  }
}

TEST(PaperRows, AnotherRuleForStatesIsAnotherExperiment) {
  const Spread row = spread("separate", 20, 4, 1), one = spread("shared", 20, 4, 1);
  EXPECT_EQ(keys_changed_from(row, spread("first", 20, 4, 1)), std::vector<std::string>{"train.state"});
  EXPECT_EQ(keys_changed_from(row, spread("shared", 20, 4, 2)), std::vector<std::string>{"train.state"});
  EXPECT_EQ(keys_changed_from(one, spread("separate", 20, 4, 2)), std::vector<std::string>{"train.state"});
  EXPECT_TRUE(keys_changed_from(one, spread("shared", 20, 4, 2)).empty()) << "one state, whoever computes";
  EXPECT_EQ(keys_changed_from(one, spread("shared", 40, 2, 1)),
            (std::vector<std::string>{"train.batch_size", "train.accumulate"}));
}

TEST(PaperRows, AnUnwrittenSizeCountsIfTheSpreadIsWritten) {
  const auto recipe = [](const std::string& accumulate) {
    config::Document document =
        config::Document::from_text("[train]\nstate = 'separate'\naccumulate = " + accumulate + "\n", "recipe.toml");
    const config::View train = document.root().table("train");
    train.text("state", "shared");
    train.integer("batch_size", 128);
    train.integer("accumulate", 1);
    return document;
  };
  const config::Document two = recipe("2"), one = recipe("1");
  EXPECT_EQ(keys_changed_from({two}, {one, 2}), std::vector<std::string>{"train.batch_size"}) << "2 parts of 64";
}

TEST(PaperRows, MeansOfSeveralRunsNameTheOption) {
  EXPECT_FALSE(several_runs_text({}));
  PaperRows rows;
  rows.runs = 5;
  EXPECT_EQ(several_runs_text(rows), "The mean of 5 runs: --seeds 5");
}

TEST(PaperRows, ChangedKeysAreNamedInOneLine) {
  const auto text = [](const std::vector<std::string>& keys) {
    PaperRows rows;
    rows.changed = keys;
    return changed_keys_text(rows);
  };
  EXPECT_FALSE(text({}));
  EXPECT_EQ(text({"train.epochs"}), "This experiment differs from the paper's: train.epochs is changed");
  EXPECT_EQ(text({"a", "b"}), "This experiment differs from the paper's: a, b are changed");
  EXPECT_EQ(text({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}),
            "This experiment differs from the paper's: a, b, c, d, e, f, g, h and 2 more keys are changed");
}

}  // namespace
}  // namespace cachet::train
