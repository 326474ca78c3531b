// Every file of tests/data/toml_bad is refused with the error that its first line, `# expect: ...`, names a part of;
// where a comment cannot stand first, expected.tsv names it. Every file of tests/data/toml_good holds what `# accept:
// key = value` sets, and its resolved form reads back as itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cachet/config/view.h"
#include "tests/support/cheap_refusal.h"
#include "tests/support/test_data.h"

namespace cachet::config {
namespace {

enum class CorpusCache { none, grc, fifo };
constexpr std::array<Choice<CorpusCache>, 3> kCorpusCaches{
    {{"none", CorpusCache::none}, {"grc", CorpusCache::grc}, {"fifo", CorpusCache::fifo}}};

/// Reads as a program would, and refuses what is left.
void read_corpus_options(Document& document) {
  const View model = document.root().table("model");
  model.text("name", "vit_tiny");
  model.integers("stages", {3, 4});
  const View cache = model.table("cache");
  const CorpusCache kind = cache.choice("kind", CorpusCache::grc, kCorpusCaches);
  if (kind != CorpusCache::none) {
    cache.real("ratio", 0.5, {.least = 0, .most = 1, .least_excluded = true});
    cache.integer("length", 64, {.least = 1});
  }
  document.root().table("data").text("root", "data");
  const View train = document.root().table("train");
  train.integer("epochs", 10, {.least = 1});
  train.integer("batch_size", 128, {.least = 1});
  train.integer("seed", 0);
  train.boolean("deterministic", false);
  document.root().table("optimizer").real("lr", 1e-3, {.least = 0});
  document.finish();
}

void read_corpus_file(const std::filesystem::path& path) {
  Document document = Document::from_file(path);
  read_corpus_options(document);
}

std::string first_line_behind(const std::filesystem::path& path, const std::string& mark) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::getline(file, line);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  const size_t start = line.find(mark);
  return start == std::string::npos ? "" : line.substr(start + mark.size());
}

std::vector<std::filesystem::path> corpus_files(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(test::test_data()) / folder)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::map<std::string, std::string> expected_beside() {
  std::ifstream file(std::filesystem::path(test::test_data()) / "toml_bad" / "expected.tsv");
  std::map<std::string, std::string> expected;
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    expected[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return expected;
}

TEST(TomlCorpus, RefusesEveryBadFileWithTheErrorThatItNames) {
  const std::map<std::string, std::string> beside = expected_beside();
  const auto files = corpus_files("toml_bad");
  EXPECT_GE(files.size(), 100u);
  for (const auto& path : files) {
    SCOPED_TRACE(path.filename().string());
    const auto entry = beside.find(path.filename().string());
    const std::string expected = entry == beside.end() ? first_line_behind(path, "# expect: ") : entry->second;
    ASSERT_FALSE(expected.empty()) << "the file says nothing about its error";
    const std::string refusal =
        test::cheap_refusal<Error>(std::filesystem::file_size(path), [&] { read_corpus_file(path); });
    EXPECT_NE(refusal.find(expected), std::string::npos) << "expected: " << expected << "\nrefusal:  " << refusal;
    EXPECT_NE(refusal.find(".toml"), std::string::npos) << "no file is named: " << refusal;
    EXPECT_TRUE(std::ranges::none_of(refusal, [](char c) { return c != '\n' && c >= 0 && c < ' '; })) << refusal;
    EXPECT_LE(std::ranges::count(refusal, '\n'), 1) << refusal;
  }
}

TEST(TomlCorpus, AcceptsEveryGoodFileAndReadsItsResolvedFormBack) {
  const auto files = corpus_files("toml_good");
  EXPECT_GE(files.size(), 20u);
  for (const auto& path : files) {
    SCOPED_TRACE(path.filename().string());
    const std::string accepted = first_line_behind(path, "# accept: ");
    ASSERT_NE(accepted.find(" = "), std::string::npos) << "the file says nothing about what it holds";
    ASSERT_NO_THROW(read_corpus_file(path));
    Document document = Document::from_file(path);
    read_corpus_options(document);
    bool found = false;
    for (const Document::Value& value : document.resolved()) found |= value.key + " = " + value.toml == accepted;
    EXPECT_TRUE(found) << "expected: " << accepted << "\nresolved:\n" << document.resolved_toml(true);
    Document again = Document::from_text(document.resolved_toml(true), "resolved");
    read_corpus_options(again);
    EXPECT_EQ(again.resolved_toml(false), document.resolved_toml(false));
  }
}

}  // namespace
}  // namespace cachet::config
