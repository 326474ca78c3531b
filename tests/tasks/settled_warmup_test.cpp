#include "cachet/tasks/settled_warmup.h"

#include <gtest/gtest.h>

#include "cachet/nn/norm/norm_options.h"

namespace cachet::tasks {
namespace {

using Lines = std::vector<std::string>;

config::Document norms_read(const std::string& norms, const Lines& settings = {}) {
  config::Document document = config::Document::from_text(norms, "recipe");
  for (const std::string& setting : settings) document.set(setting);
  for (const char* model : {"model", "other"}) nn::read_norm_options(document.root().table(model).table("norm"));
  document.root().table("schedule").text("warmup", "5 %");
  document.finish();
  return document;
}

TEST(SettledWarmup, IsWrittenInPlaceOfTheFraction) {
  config::Document document = norms_read(R"(
    [model.norm]
    kind = "un"
    warmup = "10 %"
    [other.norm]
    kind = "pn"
  )",
                                         {"other.norm.warmup=2.5 %"});
  EXPECT_EQ(settle_warmups(document, 240),
            (Lines{"model.norm.warmup: 10 % of 240 updates is 24", "other.norm.warmup: 2.5 % of 240 updates is 6"}));
  const train::RecipeValues values = train::recipe_values(document);
  EXPECT_EQ(values.at("model.norm.warmup"), "24");
  EXPECT_EQ(values.at("other.norm.warmup"), "6");
  EXPECT_EQ(values.at("schedule.warmup"), "\"5 %\"") << "belongs to no norm";
  for (const config::Document::Value& value : document.resolved()) {
    if (value.key == "model.norm.warmup") {
      EXPECT_EQ(value.origin.source, "10 % of 240 updates");
    }
    if (value.key == "other.norm.warmup") {
      EXPECT_EQ(value.origin.source, "--set");
    }
  }
  EXPECT_EQ(settle_warmups(document, 999), Lines()) << "once";
  document.finish();
}

TEST(SettledWarmup, OfARunIsKept) {
  const config::Document fraction = norms_read("model.norm = {kind = 'un', warmup = '10 %'}"),
                         count = norms_read("model.norm = {kind = 'un', warmup = 7}");
  const train::RecipeValues run{{"model.norm.warmup", "24"}, {"schedule.warmup", "9"}},
      unsettled{{"model.norm.warmup", "\"10 %\""}};
  EXPECT_EQ(settled_warmups(fraction, run), Lines{"model.norm.warmup=24"});
  EXPECT_EQ(settled_warmups(count, run), Lines()) << "another count is a change";
  EXPECT_EQ(settled_warmups(fraction, unsettled), Lines());
  EXPECT_EQ(settled_warmups(fraction, {}), Lines());
}

}  // namespace
}  // namespace cachet::tasks
