// A model's trial, by which it is counted and timed, does what a step in the middle of a run does: every registered
// model, and plug-ins whose first step differs from later ones.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/analysis/cost/operator_calls.h"
#include "cachet/analysis/cost/operator_rules.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/recipe.h"
#include "cachet/tasks/task.h"
#include "cachet/train/step/live_run.h"
#include "tests/support/small_scenes.h"
#include "tests/tasks/keys/key_data.h"
#include "tests/tasks/keys/key_family.h"
#include "tests/tasks/keys/known_key.h"
#include "tests/tasks/keys/model_family.h"

namespace cachet::tasks {
namespace {

using test::KeyFamily;
using test::Settings;

constexpr int64_t kBatch = 2;
constexpr int kStepsBefore = 6;  // of a run, until what it carries from step to step is full

// --- data: samples of the models' own size, without padding

void write_words(const std::filesystem::path& file, int lines, int words, const std::string& before = "") {
  std::ofstream out(file);
  for (int i = 0; i < lines; ++i) {
    out << before;
    for (int k = 0; k < words; ++k) out << (k > 0 ? " word" : "word") << (i + 3 * k) % 11;
    out << '\n';
  }
}

void write_long_corpus(const std::filesystem::path& folder) {
  test::write_corpus(folder);
  for (const char* name : {"train.txt", "valid.txt", "test.txt"}) write_words(folder / name, 60, 7);
}

void write_full_pairs(const std::filesystem::path& folder) {
  test::write_pairs(folder);
  for (const char* split : {"train", "valid", "test"})
    for (const char* language : {".de", ".en"}) write_words(folder / (std::string(split) + language), 24, 8);
}

void write_full_sequences(const std::filesystem::path& folder) {
  test::write_sequences(folder);
  for (const char* split : {"train", "val", "test"}) {
    std::ofstream out(folder / ("basic_" + std::string(split) + ".tsv"));
    out << "Source\tTarget\n";
    for (int i = 0; i < 24; ++i) {
      out << "( ( ( ( ( ( ( ( ( ( [MAX";
      for (int k = 0; k < 9; ++k) out << ' ' << (i + k) % 10 << " )";
      out << " ] )\t" << i % 10 << '\n';
    }
  }
  for (const char* split : {"train", "eval", "test"}) {
    std::ofstream out(folder / ("new_aan_pairs." + std::string(split) + ".tsv"));
    for (int i = 0; i < 24; ++i) out << i % 2 << "\tone\tother\tlonger than sixteen bytes\tand so is the other\n";
  }
}

void write_scenes(const std::filesystem::path& folder) {
  test::write_small_scenes(folder / "shapes", /*train=*/16, /*validation=*/6, /*crowds=*/0);
}

const std::vector<KeyFamily>& families() {
  static const std::vector<KeyFamily> all = [] {
    std::vector<KeyFamily> made = test::key_families();
    for (KeyFamily& family : made) {
      const auto is = [&](const char* kind) {
        return family.recipe.find("kind = \"" + std::string(kind) + "\"") != std::string::npos;
      };
      family.name += "_of_full_samples";
      if (is("language_modelling")) family.write_data = write_long_corpus;
      if (is("translation")) family.write_data = write_full_pairs;
      if (is("sequence_classification")) family.write_data = write_full_sequences;
      if (is("detection")) family.write_data = write_scenes;
    }
    return made;
  }();
  return all;
}

/// Settings under which the samples have the size of a trial's, and a step of a run has the loss of a trial.
Settings common_settings(const KeyFamily& family, const std::string& kind) {
  Settings settings{"train.batch_size=" + std::to_string(kBatch)};
  const auto add = [&](const Settings& more) { settings.insert(settings.end(), more.begin(), more.end()); };
  if (kind == "language_modelling") add({"model.cutoffs=[]", "task.evaluation.lanes=" + std::to_string(kBatch)});
  if (kind == "translation") add({"data.max_tokens=18", "task.label_smoothing=0"});
  if (family.name.starts_with("listops")) add({"data.max_length=11"});
  if (kind != "detection") return settings;
  add({"data.transform.short_sides=[64]", "model.test.score_thr=0"});
  if (!family.name.starts_with("retinanet")) add({"model.test.max_per_img=10"});
  return settings;
}

// --- what a step does

/// MACs by operator, and calls by operator.
struct Done {
  std::map<std::string, int64_t> macs, calls;
};

class Recording {
 public:
  explicit Recording(Done& done)
      : calls_(analysis::NestedCalls::none, [&done](const analysis::OperatorCall& call) {
          const std::string name(call.name);
          ++done.calls[name];
          if (call.rule == nullptr || call.outputs.empty()) return;
          for (const analysis::Product& product : call.rule->products(call.operands, call.outputs.front()))
            done.macs[name] += product.macs;
        }) {}

 private:
  analysis::OperatorCalls calls_;
};

void clear_gradients(torch::nn::Module& model) {
  for (at::Tensor& parameter : model.parameters()) parameter.mutable_grad().reset();
}

/// The task's own step, after others of the same epoch.
Done step_of_run(Task& task) {
  task.model().train();
  auto stream = task.training_batches(/*epoch=*/0, /*first_batch=*/0);
  Done done;
  for (int step = 0; step <= kStepsBefore; ++step) {
    clear_gradients(task.model());
    if (!stream->fetch_step(1) || !stream->fetch()) throw std::runtime_error("the epoch is too short for this test");
    stream->prepare();
    std::optional<Recording> recording;
    if (step == kStepsBefore) recording.emplace(done);
    const train::ForwardResult result = stream->forward();
    at::Tensor objective = result.loss / result.weight;
    if (result.penalty.defined()) objective = objective + result.penalty;
    objective.backward();
  }
  return done;
}

Done step_of_trial(models::Model& model) {
  model.train();
  const models::Trial trial = model.trial(kBatch, at::kFloat);
  Done done;
  for (int step = 0; step < 2; ++step) {
    clear_gradients(model);
    std::optional<Recording> recording;
    if (step > 0) recording.emplace(done);
    trial.loss().backward();
  }
  return done;
}

/// What a run evaluates between two signs of progress, late enough that what it carries is full.
Done piece_of_evaluation(Task& task, int64_t pieces_before) {
  task.model().eval();
  const at::NoGradGuard no_grad;
  Done done;
  std::optional<Recording> recording;
  int64_t pieces = 0;
  task.evaluate([&](int64_t, int64_t) {
    ++pieces;
    recording.reset();
    if (pieces == pieces_before) recording.emplace(done);
  });
  EXPECT_GT(pieces, pieces_before);
  return done;
}

Done answer_of_trial(models::Model& model) {
  model.eval();
  const at::NoGradGuard no_grad;
  const models::Trial trial = model.trial(kBatch, at::kFloat);
  Done done;
  trial.forward();
  const Recording recording(done);
  trial.forward();
  return done;
}

std::string text_of(const std::map<std::string, int64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += "  " + name + " " + std::to_string(count) + "\n";
  return text;
}

/// How many more calls of each operator a step of the run has than one of the trial.
std::map<std::string, int64_t> more_calls(const Done& run, const Done& trial) {
  std::map<std::string, int64_t> more = run.calls;
  for (const auto& [name, count] : trial.calls) more[name] -= count;
  std::erase_if(more, [](const auto& each) { return each.second == 0; });
  return more;
}

/// Whether an operator belongs to a model: ours, and those that multiply.
bool is_of_a_model(const std::string& name) {
  return name.starts_with("cachet::") || analysis::find_operator_rule(name) != nullptr;
}

/// Operators whose products depend on what a detector finds: the mask head sees the regions that show an object, and
/// masks are laid onto the picture by products.
void leave_out_what_depends_on_values(Done& done) {
  for (const char* name : {"aten::conv2d", "aten::conv_transpose2d", "aten::matmul"}) done.macs.erase(name);
  std::erase_if(done.calls, [](const auto& each) { return each.first == "aten::matmul"; });
}

class Trials : public ::testing::Test {
 protected:
  void compare(const KeyFamily& family, const Settings& more) {
    SCOPED_TRACE(family.name + " " + test::list_of(more));
    config::Document plain = test::document_of(family);
    const std::string kind = read_recipe(plain).task->profile().kind;
    Settings settings = common_settings(family, kind);
    settings.insert(settings.end(), more.begin(), more.end());
    config::Document document = test::document_of(family, settings);
    const RecipePlan plan = read_recipe(document);
    at::manual_seed(1);
    const auto task = plan.build();
    at::manual_seed(1);
    const auto model = plan.model().build();
    Done run = step_of_run(*task), trial = step_of_trial(*model);
    const bool finds_masks = family.recipe.find("mask_rcnn") != std::string::npos;
    if (finds_masks)
      for (Done* done : {&run, &trial}) leave_out_what_depends_on_values(*done);
    EXPECT_EQ(text_of(run.macs), text_of(trial.macs)) << "training";
    if (kind != "detection") {
      // A task has operators of its own: its metrics, and how it sums a loss. They are the same for all models.
      const std::string own = text_of(more_calls(run, trial));
      EXPECT_EQ(own, own_.emplace(kind, own).first->second) << "training, beyond what a trial does";
    }
    expect_same_model_calls(run, trial, "training");
    run = piece_of_evaluation(*task, kind == "language_modelling" ? kStepsBefore : 1), trial = answer_of_trial(*model);
    if (finds_masks) {
      for (Done* done : {&run, &trial}) leave_out_what_depends_on_values(*done);
      return;
    }
    EXPECT_EQ(text_of(run.macs), text_of(trial.macs)) << "evaluation";
    if (kind != "detection") expect_same_model_calls(run, trial, "evaluation");
  }

 private:
  static void expect_same_model_calls(const Done& run, const Done& trial, const char* mode) {
    for (const auto& [name, more] : more_calls(run, trial))
      EXPECT_FALSE(is_of_a_model(name)) << mode << ": " << name << " " << more << " times more than in a trial";
  }

  std::map<std::string, std::string> own_;  // by kind of task
};

TEST_F(Trials, OfEachRegisteredModel) {
  for (const std::string& name : models::model_names()) {
    const auto family = test::family_for(name, families());
    ASSERT_TRUE(family) << name << " has no tiny recipe: add one to test::family_for()";
    const bool has_memory = name.starts_with("transformer_xl");
    compare(*family, has_memory ? Settings{"model.memory_length=16"} : Settings{});
  }
}

TEST_F(Trials, OfCachesAndNorms) {
  for (const KeyFamily& family : families()) {
    const bool is_language = family.recipe.find("language_modelling") != std::string::npos;
    for (const Settings& plug_in : {Settings{"model.cache.kind=grc"},
                                    {"model.cache.kind=fifo"},
                                    {"model.norm.kind=un"},
                                    {"model.norm.kind=pn"}}) {
      Settings settings = plug_in;
      if (family.name.starts_with("transformer_xl")) settings.push_back("model.memory_length=0");
      if (!is_language || plug_in.front().find("norm") == std::string::npos) compare(family, settings);
    }
    const bool of_texts =
        std::ranges::any_of(std::array{"language_modelling", "sequence_classification", "translation"},
                            [&](const char* kind) { return family.recipe.find(kind) != std::string::npos; });
    if (!of_texts) compare(family, {"model.cache.kind=concatenated"});
  }
}

TEST_F(Trials, OfWhatALanguageModelRemembers) {
  const auto family = test::family_for("transformer_xl_small", families());
  for (const Settings& memory :
       std::vector<Settings>{{"model.memory_length=0"},
                             {"model.memory_length=24"},
                             {"model.memory_length=16", "model.same_length=true"},
                             {"model.memory_length=16", "model.clamp_length=10"},
                             {"model.memory_length=16", "model.memory_tokens=2"},
                             {"model.memory_length=0", "model.memory_tokens=2", "model.memory_tokens_recurrent=true"},
                             {"model.memory_length=0", "model.cache.kind=grc", "model.cache.gradient=carry"},
                             {"model.memory_length=0", "model.cache.kind=grc", "model.cache.gradient=detached"},
                             {"model.memory_length=0", "model.cache.kind=grc", "model.cache.scope=lane"},
                             {"model.memory_length=0", "model.cache.kind=grc", "model.cache.inference=updated"},
                             {"model.memory_length=0", "model.cache.kind=fifo", "model.cache.scope=lane"}})
    compare(*family, memory);
  const auto causal = test::family_for("causal_transformer_small", families());
  compare(*causal, {"model.attention.kind=kernel", "model.whole_past=true"});
  compare(*causal, {"model.attention.kind=elu", "model.whole_past=true"});
}

/// A longer memory has more products: what this test is for.
TEST_F(Trials, OfALongerMemoryDoMore) {
  const auto family = test::family_for("transformer_xl_small", families());
  std::vector<int64_t> all;
  for (const char* length : {"0", "8", "40"}) {
    config::Document document = test::document_of(*family, {std::string("model.memory_length=") + length});
    const auto model = read_recipe(document).model().build();
    int64_t macs = 0;
    for (const auto& [name, count] : step_of_trial(*model).macs) macs += count;
    all.push_back(macs);
  }
  EXPECT_LT(all[0], all[1]);
  EXPECT_LT(all[1], all[2]);
}

/// The step that a dry run times reads as much of the text before it as one in the middle of an epoch.
TEST_F(Trials, OfADryRunReadAFullMemory) {
  const auto family = test::family_for("transformer_xl_small", families());
  config::Document document = test::document_of(*family, {"model.memory_length=20", "train.epochs=1000"});
  const RecipePlan plan = read_recipe(document);
  for (const Splits splits : {Splits::synthetic, Splits::both}) {
    const auto task = plan.build(splits);
    train::LiveRun live(*task, plan.training);
    live.fill_batches();
    live.advance();
    int64_t memories = 0;
    for (const auto& [name, tensor] : live.capture().carried) {
      if (!name.ends_with("memory")) continue;
      ++memories;
      EXPECT_EQ(tensor.size(1), 20) << name;
    }
    EXPECT_EQ(memories, 1) << "as many as layers";
  }
}

}  // namespace
}  // namespace cachet::tasks
