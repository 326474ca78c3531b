#include "cachet/config/recipe_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/temporary_directory.h"

namespace cachet::config {
namespace {

void write_recipe(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string refusal_of_recipe(const std::filesystem::path& path) {
  try {
    read_recipe(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RecipeFile, MergesBasesRelativeToTheFileThatNamesThem) {
  const test::TemporaryDirectory folder;
  write_recipe(folder / "common/base.toml", "[train]\nepochs = 1\nseed = 1\nthreads = 1\n");
  write_recipe(folder / "vision/middle.toml", "base = '../common/base.toml'\n[train]\nepochs = 2\nseed = 2\n");
  write_recipe(folder / "vision/top.toml", "base = ['middle.toml']\n[train]\nepochs = 3\n");
  const Node root = read_recipe(folder / "vision/top.toml");
  EXPECT_EQ(std::get<int64_t>(find(root, "train.epochs")->value), 3);
  EXPECT_EQ(std::get<int64_t>(find(root, "train.seed")->value), 2);
  EXPECT_EQ(std::get<int64_t>(find(root, "train.threads")->value), 1);
  EXPECT_EQ(find(root, "train.threads")->origin.text(), (folder / "common/base.toml").string() + ":4");
  EXPECT_EQ(find(root, "train.seed")->origin.text(), (folder / "vision/middle.toml").string() + ":4");
  EXPECT_EQ(find(root, "base"), nullptr);
}

// Sets CACHET_RECIPES until the end of the scope.
class RecipesOf {
 public:
  explicit RecipesOf(const std::filesystem::path& folder) { setenv("CACHET_RECIPES", folder.c_str(), 1); }
  ~RecipesOf() { unsetenv("CACHET_RECIPES"); }
};

TEST(RecipeFile, TakesABaseByNameIfNoFileBesideItHasThatName) {
  const test::TemporaryDirectory folder, named;
  const RecipesOf recipes(named.path());
  write_recipe(named / "vision/plain_one.toml", "x = 1\ny = 1\n");
  write_recipe(folder / "mine.toml", "base = 'plain_one'\ny = 2\n");
  write_recipe(folder / "whole.toml", "base = 'vision/plain_one.toml'\n");
  const Node mine = read_recipe(folder / "mine.toml");
  EXPECT_EQ(std::get<int64_t>(find(mine, "x")->value), 1);
  EXPECT_EQ(std::get<int64_t>(find(mine, "y")->value), 2);
  EXPECT_EQ(find(mine, "x")->origin.text(), (named / "vision/plain_one.toml").string() + ":1");
  EXPECT_EQ(std::get<int64_t>(find(read_recipe(folder / "whole.toml"), "x")->value), 1);
  write_recipe(folder / "plain_one.toml", "x = 3\n");
  EXPECT_EQ(std::get<int64_t>(find(read_recipe(folder / "mine.toml"), "x")->value), 3);
}

TEST(RecipeFile, IsNotItsOwnBase) {
  const test::TemporaryDirectory folder, named;
  const RecipesOf recipes(named.path());
  write_recipe(named / "vision/plain_one.toml", "x = 1\n");
  for (const char* base : {"plain_one", "plain_one.toml"}) {
    write_recipe(folder / "plain_one.toml", std::string("base = '") + base + "'\ny = 2\n");
    EXPECT_EQ(std::get<int64_t>(find(read_recipe(folder / "plain_one.toml"), "x")->value), 1) << base;
  }
  // A recipe of CACHET_RECIPES does not find itself by name either.
  write_recipe(named / "alone.toml", "base = 'alone'\n");
  EXPECT_NE(refusal_of_recipe(named / "alone.toml").find("the bases of recipes must not form a circle"),
            std::string::npos);
}

TEST(RecipeFile, SaysWhichRecipesABaseMayMean) {
  const test::TemporaryDirectory folder, named;
  const RecipesOf recipes(named.path());
  write_recipe(named / "one/plain_one.toml", "x = 1\n");
  write_recipe(named / "two/plain_one.toml", "x = 1\n");
  write_recipe(named / "two/distinct.toml", "x = 1\n");
  write_recipe(folder / "mine.toml", "base = 'plain_one'\n");
  EXPECT_EQ(refusal_of_recipe(folder / "mine.toml"), (folder / "mine.toml").string() +
                                                         ":1: base: give the full name, because several recipes are "
                                                         "called 'plain_one': 'one/plain_one', 'two/plain_one'");
  write_recipe(folder / "mine.toml", "base = 'distinkt'\n");
  EXPECT_EQ(refusal_of_recipe(folder / "mine.toml"), (folder / "mine.toml").string() +
                                                         ":1: base: " + (folder / "distinkt").string() +
                                                         ": there is no such file (did you mean 'distinct'?)");
}

TEST(RecipeFile, TakesTheLastBaseAsTheNearest) {
  const test::TemporaryDirectory folder;
  write_recipe(folder / "one.toml", "x = 1\ny = 1\n");
  write_recipe(folder / "two.toml", "x = 2\n");
  write_recipe(folder / "top.toml", "base = ['one.toml', 'two.toml']\n");
  const Node root = read_recipe(folder / "top.toml");
  EXPECT_EQ(std::get<int64_t>(find(root, "x")->value), 2);
  EXPECT_EQ(std::get<int64_t>(find(root, "y")->value), 1);
}

TEST(RecipeFile, TakesTheNearestRowOfAPaperWhole) {
  const test::TemporaryDirectory folder;
  write_recipe(folder / "base.toml", "[paper]\nrow = 'one'\ndiffers = ['so']\n[train]\nepochs = 1\n");
  write_recipe(folder / "row.toml", "base = 'base.toml'\n[paper]\nrow = 'two'\n");
  write_recipe(folder / "mine.toml", "base = 'base.toml'\n[train]\nepochs = 2\n");
  const Node row = read_recipe(folder / "row.toml"), mine = read_recipe(folder / "mine.toml");
  EXPECT_EQ(std::get<std::string>(find(row, "paper.row")->value), "two");
  EXPECT_EQ(find(row, "paper.differs"), nullptr) << "another row has other differences";
  EXPECT_EQ(std::get<int64_t>(find(row, "train.epochs")->value), 1);
  EXPECT_EQ(std::get<std::string>(find(mine, "paper.row")->value), "one");
  EXPECT_EQ(find(mine, "paper.row")->origin.source, (folder / "base.toml").string());
}

TEST(RecipeFile, FindsACircleThroughOtherNamesOfAFile) {
  const test::TemporaryDirectory folder;
  write_recipe(folder / "a.toml", "\nbase = 'link.toml'\n");
  std::filesystem::create_symlink("a.toml", folder / "link.toml");
  const std::string refusal = refusal_of_recipe(folder / "a.toml");
  EXPECT_NE(refusal.find("a.toml:2: base: the bases of recipes must not form a circle"), std::string::npos) << refusal;
}

TEST(RecipeFile, BoundsHowManyRecipesAreRead) {
  const test::TemporaryDirectory folder;
  for (int i = 0; i < 40; ++i) {  // read naively, 2^40 files
    std::ostringstream text;
    text << "base = ['" << i + 1 << ".toml', '" << i + 1 << ".toml']\n";
    write_recipe(folder / (std::to_string(i) + ".toml"), text.str());
  }
  write_recipe(folder / "40.toml", "x = 1\n");
  EXPECT_NE(refusal_of_recipe(folder / "0.toml").find("base: must not make a chain of more than 64 recipes"),
            std::string::npos);
}

TEST(RecipeFile, SaysWhyAFileCannotBeRead) {
  const test::TemporaryDirectory folder;
  write_recipe(folder / "sound.toml", "x = 1\n");
  std::filesystem::create_symlink("loop.toml", folder / "loop.toml");
  ASSERT_EQ(mkfifo((folder / "pipe.toml").c_str(), 0600), 0);
  EXPECT_EQ(refusal_of_recipe(folder / "sond.toml"),
            (folder / "sond.toml").string() + ": there is no such file (did you mean 'sound.toml'?)");
  EXPECT_EQ(refusal_of_recipe(folder.path()), folder.path().string() + ": is a folder; give a file");
  EXPECT_EQ(refusal_of_recipe(folder / "pipe.toml"), (folder / "pipe.toml").string() + ": is not a regular file");
  EXPECT_EQ(refusal_of_recipe("/dev/zero"), "/dev/zero: is not a regular file");
  EXPECT_NE(refusal_of_recipe(folder / "loop.toml").find("cannot be read: "), std::string::npos);
  EXPECT_NE(refusal_of_recipe(folder / "sound.toml/x.toml").find("cannot be read: "), std::string::npos);
  EXPECT_NE(refusal_of_recipe(""), "");
}

TEST(RecipeFile, ToldOfAnUnreadableBaseNamesTheLineThatNamesIt) {
  const test::TemporaryDirectory folder;
  write_recipe(folder / "top.toml", "x = 1\nbase = [\n  'missing.toml',\n]\n");
  EXPECT_EQ(refusal_of_recipe(folder / "top.toml"), (folder / "top.toml").string() + ":3: base: " +
                                                        (folder / "missing.toml").string() + ": there is no such file");
}

TEST(RecipeFile, RefusesMoreThanAMegabyteAtOnce) {
  const test::TemporaryDirectory folder;
  const std::string comment(999999, '#');
  write_recipe(folder / "most.toml", comment + "\n");
  EXPECT_EQ(refusal_of_recipe(folder / "most.toml"), "");
  write_recipe(folder / "more.toml", comment + "\n\n");
  EXPECT_NE(refusal_of_recipe(folder / "more.toml").find("is larger than 1000000 bytes"), std::string::npos);
  std::filesystem::resize_file(folder / "more.toml", uintmax_t{1} << 40);  // sparse: a terabyte that is not there
  EXPECT_NE(refusal_of_recipe(folder / "more.toml").find("is larger than"), std::string::npos);
}

}  // namespace
}  // namespace cachet::config
