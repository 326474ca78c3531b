#include "cachet/tasks/sweep.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cachet/config/document.h"
#include "cachet/config/problem.h"
#include "cachet/tasks/recipe.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_data.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;

Sweep sweep_of(const std::string& text) {
  const test::TemporaryDirectory folder;
  const fs::path file = folder.path() / "recipe.toml";
  std::ofstream(file) << text;
  return read_sweep(file);
}

std::string refusal_of_sweep(const std::string& text) {
  try {
    sweep_of(text);
    return "";
  } catch (const config::Error& error) {
    return error.what();
  }
}

std::vector<std::string> names_of(const Sweep& sweep) {
  std::vector<std::string> names;
  for (const SweepPoint& point : sweep.points) names.push_back(point.name);
  return names;
}

using Words = std::vector<std::string>;

TEST(Sweep, CrossesAxesAndTheLastOneMovesFastest) {
  const Sweep sweep = sweep_of("[sweep]\nmodel.cache.ratio = [0.25, 1.0]\ndata.kind = [\"idx\", \"a b/c\"]\n");
  EXPECT_EQ(names_of(sweep),
            (Words{"kind_idx-ratio_0.25", "kind_idx-ratio_1.0", "kind_a_b_c-ratio_0.25", "kind_a_b_c-ratio_1.0"}));
  EXPECT_EQ(sweep.points[2].settings, (Words{"data.kind=\"a b/c\"", "model.cache.ratio=0.25"}));
  EXPECT_EQ(sweep.seeds, "1");
  EXPECT_FALSE(sweep.seed);
}

TEST(Sweep, NamesOfAxesThatEndAlikeAreWhole) {
  EXPECT_EQ(names_of(sweep_of("[sweep]\na.kind = [1]\nb.kind = [2]\n")), (Words{"a.kind_1-b.kind_2"}));
}

TEST(Sweep, VariantsMeetEveryAxis) {
  const Sweep sweep =
      sweep_of("[sweep]\nseeds = 3\nx.y = [1, 2]\n[sweep.variants.wide]\nm.w = 2\nm.d = 4\n[sweep.variants.plain]\n");
  EXPECT_EQ(names_of(sweep), (Words{"plain-y_1", "plain-y_2", "wide-y_1", "wide-y_2"}));
  EXPECT_EQ(sweep.points[0].settings, (Words{"x.y=1"}));
  EXPECT_EQ(sweep.points[3].settings, (Words{"m.d=4", "m.w=2", "x.y=2"}));
  EXPECT_EQ(sweep.seeds, "3");
}

TEST(Sweep, SeedsAreANumberOrAList) {
  EXPECT_EQ(sweep_of("[sweep]\nx.y = [1]\nseeds = [4, 0]\n").seeds, "4,0");
  const Sweep one = sweep_of("[sweep]\nx.y = [1]\nseeds = [7]\n");
  EXPECT_EQ(one.seeds, "1");
  EXPECT_EQ(one.seed, 7U);
}

TEST(Sweep, SaysWhatIsWrongWithIt) {
  for (const auto& [text, expected] : std::initializer_list<std::pair<std::string, std::string>>{
           {"", "recipe.toml: sweep: the recipe must have a table [sweep]"},
           {"sweep = 3\n", "must have a table [sweep]"},
           {"[sweep]\n", "recipe.toml:1: sweep: nothing varies"},
           {"[sweep]\nseeds = 2\n", "nothing varies"},
           {"[sweep]\nx.y = 3\n", "recipe.toml:2: sweep.x.y: must be a list"},
           {"[sweep]\nx.y = []\n", "recipe.toml:2: sweep.x.y: the list is empty; list the values to try"},
           {"[sweep]\nx.y = [{a = 1}]\n", "is not allowed here"},
           {"[sweep]\nx.y = [1, 1]\n", "two runs would have the same name, y_1"},
           {"[sweep]\nx.y = [1]\nseeds = \"a\"\n", "sweep.seeds: must be a number of seeds"},
           {"[sweep]\nx.y = [1]\nseeds = [-1]\n", "sweep.seeds"},
           {"[sweep]\nx.y = [1]\nseeds = []\n", "must have at least one seed"},
           {"[sweep]\nvariants = 3\n", "a table for each variant"},
           {"[sweep]\nvariants.a = 3\n", "sweep.variants.a: must be a table"},
           {"[sweep.variants.\"../x\"]\n", "names a folder"}}) {
    const std::string refusal = refusal_of_sweep(text);
    EXPECT_NE(refusal.find(expected), std::string::npos) << text << " -> " << refusal;
  }
  std::string many = "[sweep]\n";
  for (const char axis : {'a', 'b', 'c', 'd'}) many += std::string("x.") + axis + " = [1, 2, 3, 4, 5, 6]\n";
  EXPECT_NE(refusal_of_sweep(many).find("must not give more than 1000 runs"), std::string::npos);
}

TEST(Sweep, ProblemsWithItsValuesHaveTheirPlaces) {
  const Sweep sweep = sweep_of("[sweep]\na.b = [1, 2]\n[sweep.variants.wide]\nm.w = 2\nm.d = 4\n");
  const auto problem = [](const char* source, const char* key) {
    return config::Problem{{source, 0}, key, "is wrong"};
  };
  const config::Error error({problem("--set", "a.b"), problem("--set", "m.d"), problem("--set", "m.x"),
                             problem("--set", "m.w"), problem("default", "a.b")});
  const config::Error placed = with_origins_in_sweep(error, sweep.points.front(), {"m.w=3"});
  const std::string text = placed.what();
  EXPECT_NE(text.find("recipe.toml:2: a.b: is wrong"), std::string::npos) << text;
  EXPECT_NE(text.find("recipe.toml:5: m.d: is wrong"), std::string::npos) << text;
  EXPECT_NE(text.find("--set: m.x: is wrong\n--set: m.w: is wrong\ndefault: a.b"), std::string::npos) << text;
}

// Each is dry-run by tests/app/dry_runs_test.py; here it is read by itself, which takes no process.
TEST(Recipe, ThoseThatComeWithCachetCanBeRead) {
  int64_t recipes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(test::test_data()) / "../../recipes")) {
    if (entry.path().extension() != ".toml") continue;
    config::Document document = config::Document::from_file(entry.path());
    EXPECT_NO_THROW(read_recipe(document)) << entry.path();
    ++recipes;
  }
  EXPECT_GE(recipes, 200);
}

// Every point of every sweep that comes with Cachet is a recipe that can be trained.
TEST(Sweep, ThoseThatComeWithCachetAreRecipes) {
  int64_t sweeps = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(test::test_data()) / "../../recipes/sweeps")) {
    for (const SweepPoint& point : read_sweep(entry.path()).points) {
      config::Document document = config::Document::from_file(entry.path());
      for (const std::string& setting : point.settings) document.set(setting);
      EXPECT_NO_THROW(read_recipe(document)) << entry.path() << ' ' << point.name;
    }
    ++sweeps;
  }
  EXPECT_GE(sweeps, 8);
}

}  // namespace
}  // namespace cachet::tasks
