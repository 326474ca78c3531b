#include "cachet/data/class_matching.h"

#include <gtest/gtest.h>

#include "cachet/config/document.h"
#include "cachet/config/problem.h"
#include "cachet/io/error.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

using Names = std::vector<std::string>;
using Classes = std::vector<int64_t>;

const Names kColors{"blue", "green", "red"};

std::string refused(const Names& data, const Names& model) {
  return test::thrown_message<io::Error>([&] { match_classes(data, model, "val"); });
}

TEST(ClassMatching, IsByName) {
  EXPECT_EQ(match_classes({"green", "red"}, kColors, "val"), (Classes{1, 2}));
  EXPECT_EQ(match_classes({"red", "blue", "green"}, kColors, "val"), (Classes{2, 0, 1}));
  EXPECT_EQ(match_classes({"1", "10", "2"}, {"1", "2", "10"}, "val"), (Classes{0, 2, 1})) << "another order";
  EXPECT_EQ(match_classes({}, kColors, "val"), Classes{});
}

TEST(ClassMatching, RefusesUnknownClassesByName) {
  EXPECT_EQ(refused({"green", "red", "yellow"}, kColors),
            "val: the model has no class 'yellow'. Its 3 classes are 'blue', 'green', 'red'. Rename the classes of the "
            "data, or remove the classes that the model does not have");
  const std::string many = refused({"a", "b", "c", "d", "e", "f", "g"}, kColors);
  EXPECT_NE(many.find("no class 'a', 'b', 'c', 'd', 'e' and 2 more. Its 3 classes are"), std::string::npos) << many;
  EXPECT_NE(refused({"Red"}, kColors).find("no class 'Red'"), std::string::npos) << "letters' case counts";
  EXPECT_EQ(refused({"re\x1b[0md"}, kColors).find('\x1b'), std::string::npos);
}

TEST(ClassMatching, RefusesNamesThatAreThereTwice) {
  EXPECT_NE(refused({"red", "red"}, kColors).find("two classes of the data are called 'red'"), std::string::npos);
  EXPECT_NE(refused({"red"}, {"red", "red"}).find("two classes of the model are called 'red'"), std::string::npos);
}

TEST(ClassMatching, OfNumbersIsByNumber) {
  const Names numbers{"0", "1", "2"};
  EXPECT_EQ(match_numbered_classes(numbers, kColors, "x"), (Classes{0, 1, 2}));
  EXPECT_EQ(match_numbered_classes(kColors, numbers, "x"), (Classes{0, 1, 2}));
  EXPECT_EQ(match_numbered_classes({"red", "blue", "green"}, kColors, "x"), (Classes{2, 0, 1}));
  EXPECT_EQ(
      test::thrown_message<io::Error>([&] {
        match_numbered_classes({"0", "1"}, kColors, "x");
      }),
      "x: has 2 classes with numbers instead of names, so data.class_names must have one name for each class, but "
      "the number of names is 3");
  EXPECT_THROW(match_numbered_classes({"red", "pink"}, kColors, "x"), io::Error);
  EXPECT_TRUE(are_numbers(numbers));
  EXPECT_FALSE(are_numbers({"1", "10", "2"}));
}

TEST(ClassMatching, KnowsWhichNamesARecipeCanHold) {
  EXPECT_TRUE(can_be_stored({"a b", "ümlaut", "\"quoted\"", "line\nfeed"}));
  EXPECT_FALSE(can_be_stored({"a", ""}));
  EXPECT_FALSE(can_be_stored({"a", "b", "a"}));
  EXPECT_FALSE(can_be_stored({"\xff"})) << "no UTF-8";
  EXPECT_TRUE(can_be_stored(Names(1, std::string(400'000, 'x'))));
  EXPECT_FALSE(can_be_stored(Names(1, std::string(500'000, 'x'))));
}

std::string problem(const std::string& text) {
  return test::thrown_message<config::Error>([&] {
    auto document = config::Document::from_text(text, "r.toml");
    read_class_names(document.root().table("data"));
    document.finish();
  });
}

TEST(ClassMatching, ReadsNames) {
  auto document = config::Document::from_text("[data]\nclass_names = [\"b\", \"a\"]", "r.toml");
  EXPECT_EQ(read_class_names(document.root().table("data")), (Names{"b", "a"}));
  document.finish();
  config::Document empty;
  EXPECT_TRUE(read_class_names(empty.root().table("data")).empty());
  EXPECT_EQ(empty.resolved_toml(false).find("class_names"), std::string::npos);
  EXPECT_NE(problem("[data]\nclass_names = [\"a\", \"\"]").find("must not have an empty name"), std::string::npos);
  EXPECT_NE(problem("[data]\nclass_names = [\"a\", \"b\", \"a\"]").find("has 'a' more than once"), std::string::npos);
}

}  // namespace
}  // namespace cachet::data
