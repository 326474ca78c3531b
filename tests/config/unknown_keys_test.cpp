#include "cachet/config/unknown_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cachet/config/view.h"

namespace cachet::config {
namespace {

/// Reads [optimizer] lr and momentum, [train] epochs, [model.cache] kind, and ratio where the kind is not none.
std::string unknown_message(Document& document) {
  const View optimizer = document.root().table("optimizer");
  optimizer.real("lr", 0.1);
  if (optimizer.has("momentum")) optimizer.real("momentum", 0.9);
  document.root().table("train").integer("epochs", 1);
  const View cache = document.root().table("model").table("cache");
  if (cache.text("kind", "grc") != "none") cache.real("ratio", 0.5);
  try {
    document.finish();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string unknown_message(const std::string& text, const std::vector<std::string>& assignments = {}) {
  Document document = Document::from_text(text, "t.toml");
  for (const std::string& assignment : assignments) document.set(assignment);
  return unknown_message(document);
}

TEST(UnknownKeys, AreAllToldAtOnceInTheOrderOfTheFile) {
  EXPECT_EQ(
      unknown_message("lr = 1\n[train]\nepoch = 1\n[optimiser]\nlr = 1\n[model]\nratio = 1\n", {"train.epohcs=3"}),
      "t.toml:1: lr: unknown key (did you mean 'optimizer.lr'?)\n"
      "t.toml:3: train.epoch: unknown key (did you mean 'epochs'?)\n"
      "t.toml:4: optimiser: unknown table (did you mean 'optimizer'?)\n"
      "t.toml:7: model.ratio: unknown key (did you mean 'model.cache.ratio'?)\n"
      "--set: train.epohcs: unknown key (did you mean 'epochs'?)");
}

TEST(UnknownKeys, KnowKeysThatWereOnlyAskedFor) {
  EXPECT_EQ(unknown_message("[optimizer]\nmomentun = 0.9"),
            "t.toml:2: optimizer.momentun: unknown key (did you mean 'momentum'?)");
}

TEST(UnknownKeys, NameTheKindThatDoesNotKnowThem) {
  EXPECT_EQ(unknown_message("[model.cache]\nkind = 'none'\nratio = 0.5"),
            "t.toml:3: model.cache.ratio: unknown key for kind = \"none\"; known here: kind");
}

/// The message for `model.zzz` if the table has 13 keys, with a model of this name or without a name.
std::string message_of_many(const std::string& name) {
  Document document = Document::from_text("[model]\nzzz = 1", "t.toml");
  const View model = document.root().table("model");
  if (!name.empty()) model.text("name", name);
  for (int i = 0; i < 13; ++i) model.integer("size_" + std::to_string(i), 1);
  try {
    document.finish();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(UnknownKeys, NameTheCommandThatListsManyKeys) {
  EXPECT_EQ(message_of_many("vit_tiny"),
            "t.toml:2: model.zzz: unknown key; `cachet keys model --model vit_tiny` lists the known keys");
  EXPECT_EQ(message_of_many(""), "t.toml:2: model.zzz: unknown key; `cachet keys model` lists the known keys");
}

TEST(UnknownKeys, LeaveOutWhatAReplacedKindLeftBehind) {
  EXPECT_EQ(unknown_message("[model.cache]\nkind = 'grc'\nratio = 0.5", {"model.cache.kind=none"}), "");
  EXPECT_EQ(unknown_message("[model.cache]\nkind = 'grc'", {"model.cache.ratio=0.5", "model.cache.kind=none"}),
            "--set: model.cache.ratio: unknown key for kind = \"none\"; known here: kind");
}

TEST(UnknownKeys, TellTheFirstHundredOfVeryMany) {
  std::string text;
  for (int i = 0; i < 60000; ++i) text += "key" + std::to_string(i) + " = 1\n";
  const std::string message = unknown_message(text);
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 100);
  EXPECT_NE(message.find("and 59900 more unknown keys"), std::string::npos);
}

TEST(UnknownKeys, AreNoneInAnEmptyTable) { EXPECT_EQ(unknown_message("[model]\n[model.cache]\n"), ""); }

}  // namespace
}  // namespace cachet::config
