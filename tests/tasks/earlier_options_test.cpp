#include "cachet/tasks/earlier_options.h"

#include <gtest/gtest.h>

#include "cachet/config/view.h"
#include "cachet/data/vision/image_files.h"
#include "cachet/train/resume_rules.h"

namespace cachet::tasks {
namespace {

const std::string kDetection = "[task]\nkind = \"detection\"\n[data]\n";

config::Document document_of(const std::string& text) { return config::Document::from_text(text, "r.toml"); }

io::OrientationRule orientation_of(config::Document& recipe) {
  return data::read_orientation(recipe.root().table("data"), io::OrientationRule::apply);
}

TEST(EarlierOptions, AreWhatRunsWereMadeWithBeforeTheyExisted) {
  config::Document old = document_of(kDetection), written = document_of(kDetection + "orientation = \"apply\"\n"),
                   other = document_of("[task]\nkind = \"translation\"\n[data]\n"), bare = document_of("");
  EXPECT_EQ(set_earlier_options(old), std::set<std::string>{"data.orientation"});
  for (config::Document* recipe : {&written, &other, &bare}) EXPECT_TRUE(set_earlier_options(*recipe).empty());
  EXPECT_EQ(orientation_of(old), io::OrientationRule::ignore);
  EXPECT_EQ(orientation_of(written), io::OrientationRule::apply);
  old.finish();
  EXPECT_FALSE(other.root().table("data").has("orientation")) << "has no such key";
}

// A run of before the key goes on with a recipe that does not have it, and not with one that asks for the other rule.
TEST(EarlierOptions, AreNoChangeOnAResume) {
  const train::RecipeValues before{{"task.kind", "\"detection\""}};
  const auto changes_of = [&](const std::string& text, bool set) {
    config::Document recipe = document_of(kDetection + text);
    if (set) set_earlier_options(recipe, [&](const std::string& key) { return before.contains(key); });
    recipe.root().table("task").text("kind", "");
    orientation_of(recipe);
    return train::recipe_changes(before, recipe).refused;
  };
  const std::vector<std::string> change{"data.orientation: (absent) -> \"apply\""};
  EXPECT_TRUE(changes_of("", true).empty());
  EXPECT_TRUE(changes_of("orientation = \"ignore\"\n", true).empty());
  EXPECT_EQ(changes_of("orientation = \"apply\"\n", true), change);
  EXPECT_EQ(changes_of("", false), change) << "the default of today";
  config::Document known = document_of(kDetection);
  set_earlier_options(known, [](const std::string&) { return true; });
  EXPECT_EQ(orientation_of(known), io::OrientationRule::apply);
}

}  // namespace
}  // namespace cachet::tasks
