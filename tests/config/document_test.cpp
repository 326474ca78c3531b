#include "cachet/config/document.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "cachet/config/view.h"

namespace cachet::config {
namespace {

void read_document_options(Document& document) {
  const View root = document.root();
  const View model = root.table("model");
  model.text("name", "vit_tiny");
  model.table("cache").real("ratio", 0.5);
  model.table("cache").integer("length", 64);
  root.table("train").integer("epochs", 10);
  model.reals("drop", {0, 0.1});
  root.text("title", "a \"demo\"\n");
  root.table("model").boolean("class_token", true);
  document.finish();
}

TEST(Document, TakesDefaultsOfAnEarlierVersion) {
  Document document = Document::from_text("[model]\nname = \"pvt\"\n", "r.toml");
  for (const char* setting : {"model.name=vit", "model.cache.ratio=1", "model.cache.length=64", "train.nobody=1"})
    document.set_default(setting);
  const View model = document.root().table("model");
  EXPECT_EQ(model.text("name", "vit_tiny"), "pvt");
  EXPECT_FALSE(model.table("cache").has("ratio")) << "it is not written";
  EXPECT_EQ(model.table("cache").real("ratio", 0.5), 1);
  EXPECT_EQ(model.table("cache").integer("length", 64), 64);
  document.root().table("train");
  document.finish();
  EXPECT_EQ(document.resolved_toml(true),
            "[model]\nname = \"pvt\"  # r.toml:2\n"
            "\n[model.cache]\nratio = 1.0  # earlier version\nlength = 64  # default\n");
}

TEST(Document, ResolvesToEverythingThatWasReadWithItsOrigin) {
  Document document = Document::from_text("[model]\ncache.ratio = 1\n", "r.toml");
  document.set("train.epochs=3");
  read_document_options(document);
  EXPECT_EQ(document.resolved_toml(true),
            "title = \"a \\\"demo\\\"\\n\"  # default\n"
            "\n[model]\n"
            "name = \"vit_tiny\"  # default\n"
            "drop = [0.0, 0.1]  # default\n"
            "class_token = true  # default\n"
            "\n[model.cache]\n"
            "ratio = 1.0  # r.toml:2\n"
            "length = 64  # default\n"
            "\n[train]\n"
            "epochs = 3  # --set\n");
  const auto values = document.resolved();
  ASSERT_EQ(values.size(), 7u);
  EXPECT_EQ(values[1].key, "model.cache.ratio");
  EXPECT_EQ(values[1].toml, "1.0");
  EXPECT_EQ(values[1].origin.line, 2);
}

TEST(Document, ReadsItsResolvedFormBack) {
  Document document;
  document.set("model.cache.ratio=0.1");
  read_document_options(document);
  Document again = Document::from_text(document.resolved_toml(true), "resolved.toml");
  read_document_options(again);
  EXPECT_EQ(again.resolved_toml(false), document.resolved_toml(false));
  EXPECT_NE(again.resolved()[0].origin.source, "default");
}

TEST(Document, KeepsOriginsOnTheLineOfTheirComment) {
  Document document = Document::from_text("title = 'x'", "a\nevil = 1 #\xFF.toml");
  document.root().text("title", "");
  EXPECT_EQ(document.resolved_toml(true), "title = \"x\"  # a?evil = 1 #?.toml:1\n");
}

TEST(Document, ListsAllKeysWhenNothingIsWritten) {
  Document document;
  document.root().table("data").required_text("root");
  document.root().table("data").real("fraction", 1);
  EXPECT_EQ(document.resolved_toml(true), "[data]\nroot = \"\"  # required\nfraction = 1.0  # default\n");
}

TEST(Document, TakesTheLastOfSeveralAssignments) {
  Document document = Document::from_text("[train]\nepochs = 1", "r.toml");
  document.set("train.epochs=2");
  document.set("train.epochs=3");
  EXPECT_EQ(document.root().table("train").integer("epochs", 0), 3);
  EXPECT_EQ(document.resolved()[0].origin.text(), "--set");
}

TEST(Document, TellsValuesOfOthersFromThoseOfTheUser) {
  Document document = Document::from_text("[model]\nname = 'vit'", "r.toml");
  document.set("model.name=swin");
  document.set("model.cache.length=7", "kept");
  document.set("train.epochs=2", "kept");
  document.set("train.epochs=3");
  document.root().table("model").text("name", "");
  document.root().table("model").table("cache").integer("length", 0);
  document.root().table("train").integer("epochs", 0);
  document.finish();
  EXPECT_EQ(document.resolved_toml(true),
            "[model]\nname = \"swin\"  # --set\n\n[model.cache]\nlength = 7  # kept\n\n[train]\nepochs = 3  # --set\n");
}

TEST(Document, RefusesAnAssignmentWithoutChangingAnything) {
  Document document = Document::from_text("[train]\nepochs = 1", "r.toml");
  EXPECT_THROW(document.set("train.epochs"), Error);
  EXPECT_THROW(document.set("train.epochs=[1"), Error);
  EXPECT_EQ(document.root().table("train").integer("epochs", 0), 1);
}

TEST(Document, RefusesATextTooLargeOrWithABase) {
  EXPECT_THROW(Document::from_text(std::string(1'000'001, '\n'), "t"), Error);
  EXPECT_THROW(Document::from_text("base = 'x.toml'", "t"), Error);
}

TEST(Document, Moves) {
  Document document = Document::from_text("a = 1", "t");
  Document other;
  other = std::move(document);
  EXPECT_EQ(other.root().integer("a", 0), 1);
}

TEST(Document, FinishesAgainAfterAFailure) {
  Document document = Document::from_text("a = 1", "t");
  EXPECT_THROW(document.finish(), Error);
  document.root().integer("a", 0);
  EXPECT_NO_THROW(document.finish());
}

TEST(Document, AWrongNameHidesTheOtherProblemsOfItsTable) {
  Document document =
      Document::from_text("[model]\nname = 'v'\ndepth = 2\n[model.neck]\nx = 1\n[train]\nepoch = 1", "t");
  const View model = document.root().table("model");
  model.text("name", "");
  model.problem("name", "there is no model 'v'");
  document.root().table("train").integer("epochs", 1);
  try {
    document.finish();
    FAIL();
  } catch (const Error& error) {
    ASSERT_EQ(error.problems().size(), 2U) << error.what();
    EXPECT_EQ(error.problems()[0].key, "model.name");
    EXPECT_EQ(error.problems()[1].key, "train.epoch");
  }
}

TEST(Document, ANumberWithoutAUnitIsOneOfStepsWhereKeysAreStretches) {
  Document document = Document::from_text("[train]\nlimit = 100\nepochs = 3", "t");
  EXPECT_EQ(document.root().table("train").text("limit", ""), "100 steps");
  for (const char* key : {"log_every", "evaluate_every", "checkpoint_every"}) {
    document.set(std::string("train.") + key + "=3");
    EXPECT_EQ(document.root().table("train").text(key, ""), "3 steps");
  }
  document.set("schedule={warmup = 1, milestones = [20, \"3 epochs\"]}");
  EXPECT_EQ(document.root().table("schedule").text("warmup", ""), "1") << "steps or epochs: not known";
  EXPECT_EQ(document.root().table("schedule").texts("milestones", {}), (std::vector<std::string>{"20", "3 epochs"}));
  EXPECT_EQ(document.root().table("train").integer("epochs", 1), 3);
  Document other = Document::from_text("limit = 7", "t");
  other.set("train.limit=1");
  EXPECT_EQ(other.root().table("train").text("limit", ""), "1 step");
  EXPECT_EQ(other.root().integer("limit", 0), 7);
}

TEST(Document, SettlesAValueThatWasRead) {
  Document document = Document::from_text("a = 1\nb = 2", "recipe");
  document.root().integer("a", 0);
  document.root().integer("b", 0);
  document.settle("a=7", "the run");
  EXPECT_EQ(document.resolved().size(), 2u);
  EXPECT_EQ(document.resolved()[0].toml, "7");
  EXPECT_EQ(document.resolved()[0].origin.source, "the run");
  EXPECT_EQ(document.resolved()[1].toml, "2");
  EXPECT_EQ(document.root().integer("a", 0), 7) << "also if it is read again";
  document.finish();
}

}  // namespace
}  // namespace cachet::config
