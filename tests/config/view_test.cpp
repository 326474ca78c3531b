#include "cachet/config/view.h"

#include <gtest/gtest.h>

#include <string>

namespace cachet::config {
namespace {

enum class ViewColor { red, green };
constexpr std::array<Choice<ViewColor>, 2> kViewColors{{{"red", ViewColor::red}, {"green", ViewColor::green}}};

std::string finish_message(Document& document) {
  try {
    document.finish();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(View, ANoteIsNoProblemAndIsThereOnce) {
  Document document = Document::from_text("[inner]\ncount = 3\n", "t.toml");
  const View inner = document.root().table("inner");
  EXPECT_EQ(inner.integer("count", 0), 3);
  for (int i = 0; i < 2; ++i) inner.note("count", "is large");
  inner.note("other", "is a default");
  EXPECT_EQ(finish_message(document), "");
  EXPECT_EQ(document.notes(),
            (std::vector<std::string>{"t.toml:2: inner.count: is large", "t.toml:1: inner.other: is a default"}));
}

TEST(View, ReadsEveryType) {
  Document document = Document::from_text(
      "yes = true\ncount = 3\nrate = 0.5\nwhole = 2\nname = 'x'\nsizes = [1, 2]\nrates = [1, 0.5]\n"
      "names = ['a', 'b']\ncolor = 'green'\n[inner.most]\ncount = 4\n",
      "t.toml");
  const View root = document.root();
  EXPECT_TRUE(root.boolean("yes", false));
  EXPECT_EQ(root.integer("count", 0), 3);
  EXPECT_EQ(root.real("rate", 0), 0.5);
  EXPECT_EQ(root.real("whole", 0), 2.0);
  EXPECT_EQ(root.text("name", ""), "x");
  EXPECT_EQ(root.integers("sizes", {}), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(root.reals("rates", {}), (std::vector<double>{1, 0.5}));
  EXPECT_EQ(root.texts("names", {}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(root.choice("color", ViewColor::red, kViewColors), ViewColor::green);
  EXPECT_EQ(root.table("inner").table("most").integer("count", 0), 4);
  EXPECT_EQ(root.table("inner").table("most").path(), "inner.most");
  EXPECT_EQ(finish_message(document), "");
}

TEST(View, FallsBackWhereNothingIsWritten) {
  Document document;
  const View root = document.root();
  EXPECT_TRUE(root.boolean("yes", true));
  EXPECT_EQ(root.integer("count", -5, {.least = 0}), -5);  // a default may lie outside: 0 and -1 often mean "none"
  EXPECT_EQ(root.text("name", "n"), "n");
  EXPECT_EQ(root.reals("rates", {0.5}), std::vector<double>{0.5});
  EXPECT_EQ(root.choice("color", ViewColor::green, kViewColors), ViewColor::green);
  EXPECT_FALSE(root.has("count"));
  EXPECT_EQ(finish_message(document), "");
}

TEST(View, CollectsProblemsAndGoesOnWithDefaults) {
  Document document =
      Document::from_text("[m]\nratio = 2\nheads = 'x'\ncolor = 'gren'\nrates = [0.5, nan]\n", "t.toml");
  const View model = document.root().table("m");
  EXPECT_EQ(model.real("ratio", 0.25, {.least = 0, .most = 1, .least_excluded = true}), 0.25);
  EXPECT_EQ(model.integer("heads", 4), 4);
  EXPECT_EQ(model.choice("color", ViewColor::red, kViewColors), ViewColor::red);
  EXPECT_EQ(model.reals("rates", {1}), std::vector<double>{1});
  model.integer("heads", 4);  // the same problem is reported once
  EXPECT_EQ(finish_message(document),
            "t.toml:2: m.ratio: must be above 0.0 and at most 1.0, not 2.0\n"
            "t.toml:3: m.heads: must be an integer, not the text \"x\"\n"
            "t.toml:4: m.color: must be \"red\" or \"green\", not the text \"gren\" (did you mean 'green'?)\n"
            "t.toml:5: m.rates: item 2 must be a finite number, not nan");
}

TEST(View, NamesTheBoundsThatThereAre) {
  Document document = Document::from_text("a = 0\nb = 9\nc = 9\nd = 0\nlist = [1, 9]\n", "t.toml");
  const View root = document.root();
  root.integer("a", 1, {.least = 1});
  root.integer("b", 1, {.most = 8});
  root.integer("c", 1, {.least = 1, .most = 8});
  root.real("d", 1, {.least = 0, .least_excluded = true});
  root.integers("list", {}, {.least = 1, .most = 8});
  EXPECT_EQ(finish_message(document),
            "t.toml:1: a: must be at least 1, not 0\nt.toml:2: b: must be at most 8, not 9\n"
            "t.toml:3: c: must be at least 1 and at most 8, not 9\nt.toml:4: d: must be above 0.0, not 0.0\n"
            "t.toml:5: list: item 2 must be at least 1 and at most 8, not 9");
}

TEST(View, ReadsPairsOfIntegers) {
  using Pair = std::array<int64_t, 2>;
  auto document = Document::from_text("one = 224\nlist = [224]\nequal = [8, 8]\ntwo = [192, 256]", "t.toml");
  const View root = document.root();
  EXPECT_EQ(root.integer_pair("one", {}), (Pair{224, 224}));
  EXPECT_EQ(root.integer_pair("list", {}), (Pair{224, 224}));
  EXPECT_EQ(root.integer_pair("equal", {}), (Pair{8, 8}));
  EXPECT_EQ(root.integer_pair("two", {}), (Pair{192, 256}));
  EXPECT_EQ(root.integer_pair("absent", {3, 4}), (Pair{3, 4}));
  EXPECT_EQ(root.integer_pair("square", {5, 5}), (Pair{5, 5}));
  EXPECT_EQ(finish_message(document), "");
  const std::string resolved = document.resolved_toml(/*with_origins=*/false);
  for (const char* line :
       {"one = 224\n", "list = 224\n", "equal = 8\n", "two = [192, 256]\n", "absent = [3, 4]\n", "square = 5\n"})
    EXPECT_NE(resolved.find(line), std::string::npos) << line << resolved;

  auto wrong = Document::from_text("three = [1, 2, 3]\nnone = []\nlow = [1, 0]\nword = true\nzero = 0", "t.toml");
  for (const char* key : {"three", "none", "low", "word", "zero"}) wrong.root().integer_pair(key, {1, 1}, {.least = 1});
  EXPECT_EQ(finish_message(wrong),
            "t.toml:1: three: must be one number or two, not 3\nt.toml:2: none: must be one number or two, not 0\n"
            "t.toml:3: low: item 2 must be at least 1, not 0\nt.toml:4: word: must be an integer, not true\n"
            "t.toml:5: zero: must be at least 1, not 0");
}

TEST(View, RefusesWhatAKindHasNoUseFor) {
  auto document = Document::from_text("[a]\nkind = \"x\"\nb = 3", "f.toml");
  const View table = document.root().table("a");
  table.text("kind", "");
  table.refuse("b", "is for another kind");
  table.refuse("c", "is for another kind");
  try {
    document.finish();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "f.toml:3: a.b: is for another kind") << "and no unknown key beside it";
  }
}

TEST(View, AsksForARequiredText) {
  Document document = Document::from_text("\n[data]\nkind = 'idx'\n[other]\nroot = ''\n[third]\nroot = 3\n", "t.toml");
  EXPECT_EQ(document.root().table("data").required_text("root"), "");
  EXPECT_EQ(document.root().table("other").required_text("root"), "");
  EXPECT_EQ(document.root().table("third").required_text("root"), "");
  document.root().table("data").text("kind", "");
  EXPECT_EQ(finish_message(document),
            "t.toml:2: data.root: is required and must be a text\nt.toml:5: other.root: must not be empty\n"
            "t.toml:7: third.root: must be a text, not 3; put it in quotes");
}

// A path and the text of an exception would end at the character.
TEST(View, TakesNoTextWithTheCharacterOfCode0) {
  Document document = Document::from_text("[a]\nb = \"x\\u0000y\"\nc = [\"x\", \"\\u0000\"]\n", "t.toml");
  EXPECT_EQ(document.root().table("a").text("b", "d"), "d");
  document.root().table("a").texts("c", {});
  EXPECT_EQ(finish_message(document),
            "t.toml:2: a.b: must not have the character U+0000\n"
            "t.toml:3: a.c: item 2 must not have the character U+0000");
}

TEST(View, PlacesAProblemWhereTheKeyOrItsTableWasWritten) {
  Document document = Document::from_text("[m]\nwidth = 10\n", "t.toml");
  document.set("m.heads=3");
  const View model = document.root().table("m");
  model.integer("width", 0);
  model.integer("heads", 0);
  model.problem("heads", "does not divide m.width");
  model.problem("depth", "is missing");
  document.problem("m.width", "is no multiple");
  document.problem("x.y", "is nowhere");
  EXPECT_EQ(finish_message(document),
            "t.toml: x.y: is nowhere\nt.toml:1: m.depth: is missing\nt.toml:2: m.width: is no multiple\n"
            "--set: m.heads: does not divide m.width");
  Document empty;
  empty.problem("m.heads", "does not divide m.width");
  EXPECT_EQ(finish_message(empty), "default: m.heads: does not divide m.width");
}

TEST(View, CutsLongTextsBetweenCharacters) {
  std::string text = "count = '";
  for (int i = 0; i < 100; ++i) text += "\xE7\x8C\xAB";  // three bytes each
  Document document = Document::from_text(text + "'", "t.toml");
  document.root().integer("count", 0);
  const std::string message = finish_message(document);
  EXPECT_LT(message.size(), 140u);
  EXPECT_NE(message.find("\xE7\x8C\xAB...\""), std::string::npos) << message;
}

TEST(View, OutlivesItsDocument) {
  View view = Document::from_text("a = 1", "t.toml").root();
  EXPECT_EQ(view.integer("a", 0), 1);
}

}  // namespace
}  // namespace cachet::config
