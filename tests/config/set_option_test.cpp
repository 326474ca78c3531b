#include "cachet/config/set_option.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cachet/config/problem.h"
#include "cachet/config/toml_parser.h"

namespace cachet::config {
namespace {

template <class T>
T assigned(const std::string& assignment, const std::string& path = "a.b") {
  const Node root = parse_assignment(assignment);
  const Node* node = find(root, path);
  if (node == nullptr) throw std::runtime_error(path + " is not set");
  EXPECT_EQ(node->origin.text(), "--set");
  return std::get<T>(node->value);
}

std::string refusal_of_assignment(const std::string& assignment) {
  try {
    parse_assignment(assignment);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Assignment, TakesEveryTypeOfToml) {
  EXPECT_EQ(assigned<double>("a.b=0.25"), 0.25);
  EXPECT_EQ(assigned<int64_t>("a.b=-3"), -3);
  EXPECT_EQ(assigned<bool>("a.b=true"), true);
  EXPECT_EQ(assigned<std::string>("a.b=\"0.25\""), "0.25");
  EXPECT_EQ(assigned<std::string>("a.b='C:\\x'"), "C:\\x");
  EXPECT_EQ(assigned<List>("a.b=[1, 2]").size(), 2u);
  EXPECT_EQ(assigned<int64_t>("a.b={c=4}", "a.b.c"), 4);
  EXPECT_EQ(assigned<int64_t>(" a.b = 7 "), 7);
  EXPECT_EQ(assigned<int64_t>("top=1", "top"), 1);
}

TEST(Assignment, TakesABareWordAsAText) {
  EXPECT_EQ(assigned<std::string>("a.b=grc"), "grc");
  EXPECT_EQ(assigned<std::string>("a.b=500 steps"), "500 steps");
  EXPECT_EQ(assigned<std::string>("a.b=data/fashion-mnist"), "data/fashion-mnist");
  EXPECT_EQ(assigned<std::string>("a.b=x=y"), "x=y");
  EXPECT_EQ(assigned<std::string>("a.b=True"), "True");
  EXPECT_EQ(assigned<std::string>("a.b=0.1.2"), "0.1.2");
}

TEST(Assignment, LetsNothingSlipInBehindAValue) {
  EXPECT_EQ(assigned<std::string>("a.b=1 # comment"), "1 # comment");
  EXPECT_EQ(assigned<std::string>("a.b=1, y = 2"), "1, y = 2");
  EXPECT_EQ(assigned<std::string>("a.b=1}"), "1}");
  EXPECT_EQ(assigned<std::string>("a.b=1}, w = {x = 2"), "1}, w = {x = 2");
  EXPECT_NE(refusal_of_assignment("a.b=1\nc = 2"), "");
}

TEST(Assignment, RefusesWhatIsNone) {
  const std::string key = "the left side must be a key";
  for (const auto& [assignment, expected] : std::initializer_list<std::pair<std::string, std::string>>{
           {"", "KEY=VALUE"},
           {"a.b", "--set: a.b: write KEY=VALUE"},
           {"=1", key},
           {"a..b=1", key},
           {".a=1", key},
           {"a.=1", key},
           {"a b=1", key},
           {"\"a\"=1", key},
           {"a.b=", "the value is missing"},
           {"a.b=  ", "the value is missing"},
           {"a.b=[1, 2", "the value is not valid TOML"},
           {"a.b=\"x", "the value is not valid TOML"},
           {"a.b='x", "the value is not valid TOML"},
           {"a.b={c=1", "the value is not valid TOML"},
           {"a.b=x\ty", "without control characters"},
           {"a.b=\xFF", "UTF-8"},
           {"a.b=" + std::string(70000, 'x'), "64 KiB"},
           {"base=other.toml", "start from the base recipe"},
           {"a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1", "more than 16 parts"},
           {"a.b=" + std::string(40, '[') + std::string(40, ']'), "nested deeper"}}) {
    const std::string refusal = refusal_of_assignment(assignment);
    EXPECT_NE(refusal.find(expected), std::string::npos) << assignment << " -> " << refusal;
    EXPECT_EQ(refusal.find('\n'), std::string::npos);
  }
}

TEST(Assignment, OfATableReadsBackAsTheTable) {
  const Node table = parse_toml("a.b = 0.1\na.c = \"x y\"\nd = [1, [2.0, true]]\ne.f.g = \"\"\n[h.i]\n", "given");
  const std::vector<std::string> expected{"a.b=0.1", "a.c=\"x y\"", "d=[1, [2.0, true]]", "e.f.g=\"\"", "h.i={}"};
  const std::vector<std::string> all = assignments_of(table);
  EXPECT_EQ(all, expected);
  for (const std::string& assignment : all)
    EXPECT_EQ(assignments_of(parse_assignment(assignment)), std::vector<std::string>{assignment});
}

TEST(Assignment, OfWhatNoOptionCanHaveIsRefused) {
  for (const char* text : {"a = 2026-01-01", "a = [{b = 1}]", "a = [1979-05-27]", "\"a b\" = 1"})
    EXPECT_THROW(assignments_of(parse_toml(text, "given")), Error) << text;
}

}  // namespace
}  // namespace cachet::config
