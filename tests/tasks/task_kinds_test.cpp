#include "cachet/tasks/task_kinds.h"

#include <gtest/gtest.h>

#include <fstream>
#include <span>
#include <stdexcept>

#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "cachet/tasks/dry_run.h"
#include "cachet/tasks/image_classification/image_classification.h"
#include "cachet/tasks/recipe.h"
#include "cachet/tasks/sequence_classification/sequence_classification_plan.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

/// A kind that a program brings: it reads a key of its own, and trains nothing.
class TidePlan : public TaskPlan {
 public:
  explicit TidePlan(int64_t gauges) : gauges_(gauges) {}
  std::unique_ptr<TaskPlan> copy() const override { return std::make_unique<TidePlan>(*this); }
  TaskProfile profile() const override {
    TaskProfile profile;
    profile.kind = "tides";
    profile.words.one = "gauge";
    profile.model.name = "of " + std::to_string(gauges_);
    return profile;
  }
  std::unique_ptr<Task> build(const train::TrainOptions&, Splits) const override {
    throw std::runtime_error("there is no sea here");
  }

 private:
  int64_t gauges_;
};

/// Registers it once in a process, whichever test comes first.
void register_tides() {
  static const bool once = [] {
    register_task_kind({"tides", [](const config::View& root, data::DataRoot) {
                          return std::make_unique<TidePlan>(root.table("data").integer("gauges", 3, {1, 9}));
                        }});
    return true;
  }();
  ASSERT_TRUE(once);
}

RecipePlan read_text(const std::string& text) {
  config::Document document = config::Document::from_text(text, "r.toml");
  return read_recipe(document);
}

TEST(TaskKinds, AreThoseOfTheLibraryAndThoseOfAProgram) {
  register_tides();
  std::vector<std::string> names;
  for (const TaskKind& kind : task_kinds()) names.push_back(kind.name);
  EXPECT_EQ(names, (std::vector<std::string>{"image_classification", "sequence_classification", "language_modelling",
                                             "translation", "detection", "tides"}));
}

TEST(TaskKinds, OfATakenNameAreRefused) {
  register_tides();
  for (const char* name : {"image_classification", "tides"}) {
    const size_t before = task_kinds().size();
    EXPECT_EQ(test::thrown_message<std::invalid_argument>([&] {
                register_task_kind({name, nullptr});
              }),
              "there is already a kind of task \"" + std::string(name) + "\"");
    EXPECT_EQ(task_kinds().size(), before);
  }
}

TEST(TaskKinds, OfAProgramAreReadFromARecipe) {
  register_tides();
  const RecipePlan plan = read_text("[task]\nkind = \"tides\"\n[data]\ngauges = 5\n[train]\nepochs = 7\n");
  EXPECT_EQ(plan.task->profile().kind, "tides");
  EXPECT_EQ(plan.model().name, "of 5");
  EXPECT_EQ(plan.training.train.epochs, 7);
  EXPECT_TRUE(plan.task->data().empty()) << "it makes its own";
  EXPECT_FALSE(plan.task->absent_data());
  EXPECT_TRUE(plan.task->files_to_keep().files.empty());
  EXPECT_NE(test::thrown_message<config::Error>([&] {
              read_text("[task]\nkind = \"tides\"\n[data]\ngauges = 50\nguages = 5\n");
            }).find("data.gauges"),
            std::string::npos);
}

TEST(TaskKinds, ThatNobodyKnowsNameTheNearest) {
  register_tides();
  const auto refusal = [](const std::string& kind) {
    return test::thrown_message<config::Error>([&] { read_text("[task]\nkind = \"" + kind + "\"\n"); });
  };
  EXPECT_NE(refusal("tide").find("did you mean 'tides'"), std::string::npos) << refusal("tide");
  EXPECT_NE(refusal("sequenze_classification").find("did you mean 'sequence_classification'"), std::string::npos);
  for (const char* name : {"image_classification", "sequence_classification", "tides"})
    EXPECT_NE(refusal("poetry").find(name), std::string::npos) << refusal("poetry");
}

TEST(TaskPlan, OfARecipeWithoutAKindIsOfImages) {
  const test::TemporaryDirectory folder;
  config::Document document = test::tiny_document(folder / "images");
  EXPECT_EQ(read_recipe(document).task->profile().kind, "image_classification");
}

TEST(TaskPlan, ReducingACopyLeavesTheOriginal) {
  const test::TemporaryDirectory folder;
  config::Document document = test::tiny_document(folder / "images", {"data.workers=2", "train.accumulate=3"});
  const RecipePlan plan = read_recipe(document);
  const std::unique_ptr<TaskPlan> copy = plan.task->copy();
  copy->reduce();
  const auto workers = [](const TaskPlan& images) {
    return dynamic_cast<const ImageClassificationPlan&>(images).options().loader.workers;
  };
  EXPECT_EQ(workers(*copy), 0);
  EXPECT_EQ(workers(*plan.task), 2);
  EXPECT_EQ(workers(*reduced(plan).task), 0);
  EXPECT_EQ(reduced(plan).training.train.accumulate, 1);
  EXPECT_EQ(workers(*plan.task), 2);
  EXPECT_EQ(plan.training.train.accumulate, 3);
}

TEST(TaskPlan, SaysWhereItsDataShouldLie) {
  const test::TemporaryDirectory folder;
  config::Document document = test::tiny_document(folder / "images");
  const RecipePlan plan = read_recipe(document);
  const std::vector<DataPlace> places = plan.task->data();
  ASSERT_EQ(places.size(), 1U);
  EXPECT_EQ(places[0].kind, "idx");
  EXPECT_EQ(places[0].root, folder / "images");
  EXPECT_NE(places[0].files.find("idx3-ubyte"), std::string::npos) << places[0].files;
  const auto why = plan.task->absent_data();
  ASSERT_TRUE(why);
  EXPECT_NE(why->find((folder / "images").string()), std::string::npos) << *why;
  test::write_tiny_images(folder / "images");
  EXPECT_FALSE(plan.task->absent_data());
  EXPECT_TRUE(plan.task->files_to_keep().files.contains("image_statistics.json"));
}

/// A recipe of texts in subwords.
std::string subword_recipe(const std::filesystem::path& folder) {
  return "[task]\nkind = \"sequence_classification\"\n[data]\nkind = \"imdb\"\ntokens = \"subwords\"\nvocabulary = 40\n"
         "subword_model = \"" +
         (folder / "sub.model").string() + "\"\nroot = \"" + (folder / "imdb").string() +
         "\"\n[model]\nname = \"lra_text\"\n";
}

const data::TextOptions& text_options(const TaskPlan& plan) {
  return dynamic_cast<const SequenceClassificationPlan&>(plan).options().dataset.text;
}

TEST(TaskPlan, KeepsACopyOfItsSubwords) {
  const test::TemporaryDirectory folder;
  const std::string bytes = "pieces of words";
  std::ofstream(folder / "sub.model") << bytes;
  const RecipePlan plan = read_text(subword_recipe(folder.path()));
  const SavedFiles kept = plan.task->files_to_keep();
  ASSERT_EQ(kept.files.size(), 1U);
  EXPECT_EQ(kept.files.at("subwords.model"), bytes);
  ASSERT_EQ(kept.settings.size(), 2U) << "which hold the recipe to it";
  EXPECT_EQ(kept.settings[0], R"(data.class_names=["negative", "positive"])");
  EXPECT_EQ(kept.settings[1], "data.vocabulary_hash=\"" + io::sha256_hex(std::as_bytes(std::span(bytes))) + "\"");
  config::Document held = config::Document::from_text(subword_recipe(folder.path()), "r.toml");
  for (const std::string& setting : kept.settings) held.set(setting);
  EXPECT_TRUE(read_recipe(held).task->files_to_keep().settings.empty()) << "a hash that is written stays";

  std::filesystem::remove(folder / "sub.model");
  EXPECT_NE(test::thrown_message<io::Error>([&] { plan.task->files_to_keep(); }).find("sub.model"), std::string::npos);
  EXPECT_TRUE(read_text("[task]\nkind = \"sequence_classification\"\n[data]\nkind = \"imdb\"\nroot = \"imdb\"\n"
                        "[model]\nname = \"lra_text\"\n")
                  .task->files_to_keep()
                  .files.empty())
      << "bytes need no model";
}

TEST(TaskPlan, NamesTheCopyThatARunKeeps) {
  const test::TemporaryDirectory folder;
  const RecipePlan original = read_text(subword_recipe(folder.path()));
  std::filesystem::create_directory(folder / "run");
  EXPECT_TRUE(original.task->saved_file_settings(folder / "run").empty()) << "a run that keeps none";
  std::ofstream(folder / "run" / "subwords.model") << "pieces of words";
  const std::vector<std::string> own = original.task->saved_file_settings(folder / "run");
  ASSERT_EQ(own.size(), 1U);
  config::Document document = config::Document::from_text(subword_recipe(folder.path()), "r.toml");
  document.set(own[0]);
  EXPECT_EQ(text_options(*read_recipe(document).task).subword_model, folder / "run" / "subwords.model");
  EXPECT_EQ(text_options(*original.task).subword_model, folder / "sub.model");
}

}  // namespace
}  // namespace cachet::tasks
