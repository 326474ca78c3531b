// The tables of docs/plug-ins.md and the cases of the export matrix have each kind of the library, and no other.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/all_caches.h"
#include "tests/support/all_norms.h"
#include "tests/support/attention_functions.h"
#include "tests/support/test_data.h"

namespace cachet {
namespace {

using Names = std::set<std::string>;

std::string read_checkout(const std::string& path) {
  std::ifstream file(std::filesystem::path(test::test_data()) / ".." / ".." / path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// What `word` finds in the text between two lines.
Names names_between(const std::string& text, const std::string& begin, const std::string& end, const char* word) {
  const size_t first = text.find(begin), last = text.find(end, first + 1);
  EXPECT_NE(first, std::string::npos) << begin;
  EXPECT_NE(last, std::string::npos) << end;
  const std::string part = text.substr(first, last - first);
  const std::regex pattern(word);
  Names names;
  for (std::sregex_iterator found(part.begin(), part.end(), pattern), none; found != none; ++found)
    names.insert((*found)[1]);
  return names;
}

// The first column of the table that begins with `head`: "| `layer`, `rms` | over …".
Names names_of_page(const std::string& section) {
  static const std::string page = read_checkout("docs/plug-ins.md");
  const std::string table = page.substr(page.find("\n## `[model." + section + "]`"));
  const std::string rows = table.substr(table.find("\n| `kind` |"));
  Names names;
  std::istringstream lines(rows.substr(1, rows.find("\n\n") - 1));
  const std::regex word("`([a-z_]+)`");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("| `kind`")) continue;
    const std::string first = line.substr(0, line.find('|', 1));
    for (std::sregex_iterator found(first.begin(), first.end(), word), none; found != none; ++found)
      names.insert((*found)[1]);
  }
  return names;
}

Names names_of_matrix(const std::string& table) {
  static const std::string cases = read_checkout("tests/app/export_cases.py");
  return names_between(cases, "\n" + table + " = {", "\n}", R"re("kind=([a-z_]+)")re");
}

// The kinds of a table that are the library's: what another test registered is a `Chosen`.
template <class Chosen, class Rows, class... Arguments>
Names names_of_table(const Rows& rows, Arguments... arguments) {
  auto nothing_written = config::Document::from_text("", "defaults");
  Names names;
  for (const auto* row : rows)
    if (!std::holds_alternative<Chosen>(row->read(nothing_written.root(), arguments...))) names.insert(row->name);
  return names;
}

TEST(PlugInPages, HaveEachNorm) {
  const Names norms = names_of_table<nn::ChosenNorm>(nn::norm_kinds());
  EXPECT_EQ(names_of_page("norm"), norms);
  EXPECT_EQ(names_of_matrix("NORMS"), norms);
}

TEST(PlugInPages, HaveEachCache) {
  const Names caches = names_of_table<nn::ChosenCache>(nn::cache_kinds(), nn::Sessions::none);
  EXPECT_EQ(names_of_page("cache"), caches);
  EXPECT_EQ(names_of_matrix("CACHES"), [&] {
    Names with_none = caches;
    with_none.erase("none");  // the case without a cache has no key
    return with_none;
  }());
}

TEST(PlugInPages, HaveEachAttentionFunction) {
  const Names functions = names_of_table<nn::ChosenAttentionFunction>(nn::attention_function_kinds());
  EXPECT_EQ(names_of_page("attention"), functions);
  EXPECT_EQ(names_of_matrix("ATTENTIONS"), functions);
}

}  // namespace
}  // namespace cachet
