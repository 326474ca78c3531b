#include "cachet/data/vision/shards/shard_pattern.h"

#include <gtest/gtest.h>

#include "cachet/io/error.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

using Names = std::vector<std::string>;

TEST(ShardPattern, ExpandsBraces) {
  EXPECT_EQ(expand_braces("a.tar"), (Names{"a.tar"}));
  EXPECT_EQ(expand_braces("a-{008..011}.tar"), (Names{"a-008.tar", "a-009.tar", "a-010.tar", "a-011.tar"}));
  EXPECT_EQ(expand_braces("{a,b}-{1..2}"), (Names{"a-1", "a-2", "b-1", "b-2"}));
  EXPECT_EQ(expand_braces("a{,b}"), (Names{"a", "ab"}));
  for (const char* bad : {"{", "}", "a{b", "a}b", "{a{b}}", "{2..1}", "{a..b}", "{1..}", "{0..100000}",
                          "{0..999}{0..999}", "{0..18446744073709551615}"})
    EXPECT_NE(test::thrown_message<io::Error>([&] { expand_braces(bad); }).find(bad), std::string::npos) << bad;
}

TEST(ShardPattern, FindsFiles) {
  const test::TemporaryDirectory folder;
  std::filesystem::create_directories(folder / "more/train-2.tar");
  for (const char* name :
       {"train-1.tar", "train-0.tar", "train-0.tar.index", ".train-9.tar", "val-0.tar", "more/a.tar"})
    test::write_bytes(folder / name, "x");
  const auto found = [&](const char* pattern) { return find_shards(folder.path(), pattern); };
  const auto refusal = [&](const char* pattern) {
    return test::thrown_message<io::Error>([&] { find_shards(folder.path(), pattern); });
  };
  EXPECT_EQ(found("train-*.tar"), (Names{"train-0.tar", "train-1.tar"}));
  EXPECT_EQ(found("train-*"), (Names{"train-0.tar", "train-1.tar"})) << "no index files";
  EXPECT_EQ(found("train-{1..1}.tar"), (Names{"train-1.tar"}));
  EXPECT_EQ(found("{val-0,train-?}.tar"), (Names{"val-0.tar", "train-0.tar", "train-1.tar"}));
  EXPECT_EQ(found("more/*.tar"), (Names{"more/a.tar"}));
  EXPECT_EQ(refusal("test-*.tar"), (folder / "test-*.tar").string() + ": no file matches this pattern of shards");
  EXPECT_EQ(refusal("train-{0..2}.tar"), (folder / "train-2.tar").string() + ": there is no such shard");
  EXPECT_EQ(refusal("{train-0,train-*}.tar"),
            (folder / "train-0.tar").string() + ": is selected twice by the pattern '{train-0,train-*}.tar'");
  for (const char* outside : {"/etc/*", "../*.tar", "a/../b.tar"})
    EXPECT_NE(refusal(outside).find("must be relative to data.root"), std::string::npos) << outside;
  EXPECT_NE(refusal("m*/a.tar").find("has a wildcard in the name of a folder"), std::string::npos);
}

}  // namespace
}  // namespace cachet::data
