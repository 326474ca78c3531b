#include "cachet/train/runs/earlier_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <stdexcept>

#include "cachet/config/view.h"
#include "cachet/data/vision/image_files.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"
#include "cachet/train/runs/resume_rules.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_data.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;

const std::string kDetection = "[task]\nkind = \"detection\"\n[data]\n";

config::Document document_of(const std::string& text) { return config::Document::from_text(text, "r.toml"); }

io::OrientationRule orientation_of(config::Document& recipe) {
  return data::read_orientation(recipe.root().table("data"), io::OrientationRule::apply);
}

TEST(EarlierOptions, AreWhatRunsWereMadeWithBeforeTheyExisted) {
  config::Document old = document_of(kDetection), written = document_of(kDetection + "orientation = \"apply\"\n");
  for (config::Document* recipe : {&old, &written}) set_earlier_options(*recipe);
  EXPECT_EQ(orientation_of(old), io::OrientationRule::ignore);
  EXPECT_EQ(orientation_of(written), io::OrientationRule::apply);
  old.root().table("task").text("kind", "");
  old.finish();  // keys of other tasks and kinds have no effect
}

// A run that is older than the key is resumed by a recipe without it, and not by one that asks for the other rule.
TEST(EarlierOptions, AreNoChangeOnAResume) {
  const RecipeValues before{{"task.kind", "\"detection\""}};
  const auto changes_of = [&](const std::string& text, bool set) {
    config::Document recipe = document_of(kDetection + text);
    if (set) set_earlier_options(recipe, before);
    recipe.root().table("task").text("kind", "");
    orientation_of(recipe);
    return recipe_changes(before, recipe).refused;
  };
  const std::vector<std::string> change{"data.orientation: (absent) -> \"apply\""};
  EXPECT_TRUE(changes_of("", true).empty());
  EXPECT_TRUE(changes_of("orientation = \"ignore\"\n", true).empty());
  EXPECT_EQ(changes_of("orientation = \"apply\"\n", true), change);
  EXPECT_EQ(changes_of("", false), change) << "the default of today";
  config::Document known = document_of(kDetection), kept = document_of(kDetection);
  set_earlier_options(known, {{"data.orientation", "\"apply\""}});
  EXPECT_EQ(orientation_of(known), io::OrientationRule::apply);
  set_earlier_options(kept, {{"data.orientation", "\"ignore\""}});
  EXPECT_EQ(orientation_of(kept), io::OrientationRule::ignore) << "also once a resume has recorded it";
}

TEST(EarlierOptions, AreNamedWhereTheyDifferFromTheDefault) {
  config::Document applies = document_of(kDetection), ignores = document_of(kDetection);
  for (config::Document* recipe : {&applies, &ignores}) set_earlier_options(*recipe);
  data::read_orientation(ignores.root().table("data"), io::OrientationRule::ignore);
  EXPECT_TRUE(earlier_rules(ignores).empty()) << "what it keeps is the default";
  orientation_of(applies);
  const std::vector<EarlierRule> rules = earlier_rules(applies);
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].key, "data.orientation");
  EXPECT_NE(rules[0].sentence.find("data.orientation = \"ignore\""), std::string::npos) << rules[0].sentence;
}

/// The run of version 0.1.0, stopped after step 20 of 60, as it would be with another kind of schedule: no checkpoint
/// depends on that.
class RunOf010 : public ::testing::Test {
 protected:
  void make(const std::string& kind) {
    fs::copy(fs::path(test::test_data()) / "saved_by_0_1_0/toy", run(), fs::copy_options::recursive);
    auto json = nlohmann::ordered_json::parse(text_of("run.json"));
    json["values"]["schedule.kind"] = "\"" + kind + "\"";
    if (kind != "one_cycle") json["values"].erase("schedule.minimum");
    io::write_file_atomically(run() / "run.json", json.dump(2) + "\n");
    settings_.push_back("schedule.kind=" + kind);
  }
  fs::path run() const { return folder_ / "run"; }
  std::string text_of(const char* name) const { return io::read_text_file(run() / name, 1 << 20); }
  /// By step, since the checkpoint.
  std::map<int64_t, double> rates() const {
    std::map<int64_t, double> rates;
    for (const Event& event : read_events(run() / "metrics.jsonl"))
      if (event.kind == Event::Kind::step && event.step > 20) rates[event.step] = event.metrics.find("lr").value();
    return rates;
  }
  size_t times_in_log(const std::string& text) const {
    const std::string log = text_of("log.txt");
    size_t times = 0;
    for (size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++times;
    return times;
  }

  test::TemporaryDirectory folder_;
  std::vector<std::string> settings_{"train.epochs=15", "train.checkpoint_every=\"2 steps\"", "train.keep=2"};
};

TEST_F(RunOf010, KeepsItsOneCycle) {
  make("one_cycle");
  test::ToyHooks hooks;
  hooks.before_forward = [](int64_t epoch, int64_t) {
    if (epoch == 8) throw std::runtime_error("the power went");
  };
  EXPECT_THROW(test::train_toy(run(), hooks, settings_), std::runtime_error);
  EXPECT_EQ(test::train_toy(run(), {}, settings_).step, 60);
  // Two steps of warm-up, up and down along half a cosine, as version 0.1.0 computed it.
  const double first = 0.01 / 25, least = first / 1e4;
  const std::map<int64_t, double> seen = rates();
  EXPECT_EQ(seen.size(), 20U);
  for (const auto& [step, rate] : seen) {
    const double p = static_cast<double>(step - 1 - 2) / 58;
    EXPECT_DOUBLE_EQ(rate, least + (0.01 - least) * (1 + std::cos(std::numbers::pi * p)) / 2) << step;
  }
  EXPECT_EQ(times_in_log("keeps the earlier rule, schedule.rule = \"0.1.0\""), 1U) << "once, of two resumes";
}

TEST_F(RunOf010, KeepsItsFirstUpdate) {
  for (const std::string kind : {"inverse_sqrt", "arena"}) {
    SCOPED_TRACE(kind);
    fs::remove_all(run());
    settings_.resize(3);
    make(kind);
    EXPECT_EQ(test::train_toy(run(), {}, settings_).step, 60);
    const double peak = kind == "arena" ? 0.01 / std::sqrt(2.0) : 0.01;
    for (const auto& [step, rate] : rates())
      EXPECT_DOUBLE_EQ(rate, peak * std::sqrt(2 / static_cast<double>(step))) << step;
    EXPECT_EQ(times_in_log("keeps the earlier rule, schedule.first_update = 1"), 1U);
    // A change that a resume may make records all that it may change; the rule stays.
    settings_.push_back("train.epochs=16");
    EXPECT_EQ(test::train_toy(run(), {}, settings_).step, 64);
    EXPECT_DOUBLE_EQ(rates().at(64), peak * std::sqrt(2.0 / 64));
    EXPECT_EQ(times_in_log("keeps the earlier rule, schedule."), 1U);
    // Who asks for the new rule gets it.
    settings_.insert(settings_.end(), {"train.epochs=17", "schedule.first_update=0"});
    EXPECT_EQ(test::train_toy(run(), {}, settings_).step, 68);
    EXPECT_DOUBLE_EQ(rates().at(68), peak * std::sqrt(2.0 / 67));
  }
}

TEST_F(RunOf010, SaysNothingOfARuleThatHasNotChanged) {
  make("cosine");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(test::train_toy(run(), {}, settings_).step, 60);
  EXPECT_EQ(times_in_log("keeps the earlier rule, schedule."), 0U);
  EXPECT_EQ(times_in_log("keeps the earlier rule, train.ema_renew_states = 0"), 1U) << "it has averaged weights";
}

TEST(EarlierOptions, NewRunsRecordTheirRules) {
  const test::TemporaryDirectory folder;
  const auto value_of = [&](const std::string& kind, const std::string& key) {
    test::train_toy(folder / kind, {}, {"train.limit=\"2 steps\"", "schedule.kind=" + kind});
    return RunFolder::open(folder / kind).values().at(key);
  };
  EXPECT_EQ(value_of("inverse_sqrt", "schedule.first_update"), "0");
  EXPECT_EQ(value_of("arena", "schedule.first_update"), "0");
  EXPECT_EQ(value_of("one_cycle", "schedule.rule"), "\"pytorch\"");
}

}  // namespace
}  // namespace cachet::train
