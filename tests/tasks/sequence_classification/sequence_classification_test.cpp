#include "cachet/tasks/sequence_classification/sequence_classification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/report/page/html.h"
#include "cachet/report/text/text_table.h"
#include "cachet/tasks/classification/prediction.h"
#include "cachet/tasks/dry_run.h"
#include "cachet/tasks/runs/group_curves.h"
#include "cachet/tasks/runs/run_comparison.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/runs/earlier_values.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/trainer.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/evaluation_records.h"
#include "tests/tasks/given_predictions.h"
#include "tests/tasks/measured_analyses.h"
#include "tests/tasks/tiny_run.h"

namespace cachet::tasks {
namespace {

// The smaller of two digits, in the arena's form; the longer ones nest.
void write_listops_split(const std::filesystem::path& file, int count) {
  std::ofstream out(file);
  out << "Source\tTarget\n";
  for (int i = 0; i < count; ++i) {
    const int a = i % 10, b = i * 7 % 10;
    const bool nested = i % 3 == 0;
    if (nested)
      out << "( ( ( [MIN " << a << " ) ( ( [MAX " << b << " ) ] ) ) ] )\t" << std::min(a, b) << '\n';
    else
      out << "( ( ( [MIN " << a << " ) " << b << " ) ] )\t" << std::min(a, b) << '\n';
  }
}

class SequenceClassificationTest : public test::TinyRunTest {
 protected:
  SequenceClassificationTest() {
    write_listops_split(folder_ / "basic_train.tsv", 64);
    write_listops_split(folder_ / "basic_val.tsv", 24);
    write_listops_split(folder_ / "basic_test.tsv", 21);
  }

  std::string recipe() const override {
    return R"([task]
kind = "sequence_classification"
[data]
kind = "listops"
max_length = 16
workers = 0
root = ")" +
           folder_.path().string() + R"("
[model]
name = "lra_listops"
embed_dim = 16
depth = 1
num_heads = 2
mlp_dim = 24
[model.cache]
kind = "grc"
[train]
epochs = 3
batch_size = 8
threads = 1
log_every = "2 steps"
[optimizer]
lr = 0.002
[schedule]
kind = "inverse_sqrt"
warmup = "4 steps"
)";
  }
};

TEST_F(SequenceClassificationTest, TrainsEvaluatesAndReports) {
  const auto run = folder_ / "run";
  const train::Outcome outcome = trained(run);
  EXPECT_EQ(outcome.step, 24);
  EXPECT_TRUE(outcome.metrics.find("top1"));
  const auto events = train::read_events(train::RunFolder::open(run).metrics());
  const auto first = std::ranges::find(events, train::Event::Kind::step, &train::Event::kind);
  ASSERT_NE(first, events.end());
  EXPECT_GT(first->machine.find("tokens_per_second").value_or(0),
            first->machine.find("samples_per_second").value_or(0));
  const std::string log = io::read_text_file(train::RunFolder::open(run).log(), 1 << 20);
  EXPECT_NE(log.find("train: 64 sequences, "), std::string::npos) << log;
  const std::string page = io::read_text_file(train::RunFolder::open(run).report(), 1 << 24);
  for (const char* text : {"tokens/s", "validation sequences", "for one sequence", "Most confident mistakes",
                           "What the model is trained on", "The first of the 8 sequences in the first batch", "[MIN"})
    EXPECT_NE(page.find(text), std::string::npos) << text;
}

TEST_F(SequenceClassificationTest, NothingThatItShowsSpeaksOfImages) {
  trained(folder_ / "run", {"train.limit=\"8 steps\""});
  trained(folder_ / "other", {"train.limit=\"8 steps\"", "model.cache.kind=none"});
  const train::RunFolder run = train::RunFolder::open(folder_ / "run");
  const auto groups = read_groups({folder_ / "run", folder_ / "other"}).groups;
  const std::string compared = report::render_html(comparison_page(groups, "two"));
  for (const std::string& text : {io::read_text_file(run.report(), 1 << 24), io::read_text_file(run.log(), 1 << 20),
                                  compared, report::csv_table(published_table(groups))})
    for (const char* word : {"images", "Images", "one image", "img/s"}) {
      const size_t place = text.find(word);
      EXPECT_EQ(place, std::string::npos) << text.substr(place < 60 ? 0 : place - 60, 120);
    }
  for (const char* title : {"Top-1 on the validation sequences", "Loss on the validation sequences"})
    EXPECT_NE(compared.find(title), std::string::npos) << title;
  const auto curves = group_curves(groups);
  ASSERT_FALSE(curves[0].empty());
  EXPECT_EQ(curves[0][0].chart, "Top-1 on the validation sequences");
}

TEST_F(SequenceClassificationTest, ResumesBitByBit) {
  const auto whole = folder_ / "whole", parts = folder_ / "parts";
  trained(whole);
  trained(parts, {"train.limit=\"11 steps\""});
  trained(parts, {"train.limit=\"24 steps\""});
  const auto weights = [](const std::filesystem::path& run) { return read_weights(open_saved_run(run)); };
  const io::TensorMap one = weights(whole), other = weights(parts);
  ASSERT_EQ(one.size(), other.size());
  for (const auto& [name, tensor] : one) EXPECT_TRUE(tensor.equal(other.at(name))) << name;
}

// A run that does not know the key was trained by the rule of version 0.1.0.
TEST_F(SequenceClassificationTest, AnOlderRunKeepsThePatternOfItsBatches) {
  for (const char* kind : {"bigbird", "reformer"}) {
    const std::vector<std::string> attention{std::string("model.attention.kind=") + kind};
    config::Document older = document(attention), newer = document(attention);
    train::set_earlier_options(older);
    for (config::Document* recipe : {&older, &newer}) read_recipe(*recipe);
    const auto value_of = [](const config::Document& recipe) {
      for (const config::Document::Value& value : recipe.resolved())
        if (value.key == "model.attention.pattern_length") return value.toml;
      return std::string();
    };
    EXPECT_EQ(value_of(older), "\"batch\"");
    EXPECT_EQ(value_of(newer), "\"model\"") << "which a new run records";
    const std::vector<train::EarlierRule> rules = train::earlier_rules(older);
    ASSERT_EQ(std::ranges::count(rules, "model.attention.pattern_length", &train::EarlierRule::key), 1);
  }
}

TEST_F(SequenceClassificationTest, EvaluatesByLengthWhatItPredictsInOrder) {
  const RecipePlan made = plan({"model.cache.kind=\"none\""});
  const auto task = made.build(Splits::test);
  auto& sequences = dynamic_cast<ClassificationTask&>(*task);
  sequences.model().eval();
  std::vector<int64_t> in_order, by_length;
  std::map<int64_t, at::Tensor> scores;
  sequences.classify_in_order(0, [&](const ClassifiedBatch& batch) {
    for (size_t i = 0; i < batch.indices.size(); ++i) {
      in_order.push_back(batch.indices[i]);
      scores[batch.indices[i]] = batch.logits[static_cast<int64_t>(i)];
    }
  });
  sequences.classify_all(0, [&](const ClassifiedBatch& batch) {
    for (size_t i = 0; i < batch.indices.size(); ++i) {
      by_length.push_back(batch.indices[i]);
      EXPECT_TRUE(at::allclose(batch.logits[static_cast<int64_t>(i)], scores.at(batch.indices[i]), 1e-4, 1e-5))
          << batch.indices[i];
    }
  });
  EXPECT_TRUE(std::ranges::is_sorted(in_order));
  // Every third expression nests, and is longer.
  EXPECT_TRUE(std::ranges::is_partitioned(by_length, [](int64_t index) { return index % 3 != 0; }));
  std::ranges::sort(by_length);
  EXPECT_EQ(by_length, in_order);
}

// In the order of the lengths, in whose batches it evaluates: other batches would differ by roundings.
TEST_F(SequenceClassificationTest, EvaluatesByRecordsOfItsSamples) {
  const auto task = plan({"train.batch_size=4"}).build(Splits::test);
  task->model().eval();
  task->evaluate([](int64_t, int64_t) {});
  const std::string details = task->evaluation_details();
  const std::vector<Record> records = test::expect_records_are_the_evaluation(*task);
  EXPECT_EQ(task->evaluation_details(), details);
  std::vector<int64_t> samples;
  for (const Record& record : records) samples.push_back(nlohmann::json::parse(record).at("sample"));
  EXPECT_FALSE(std::ranges::is_sorted(samples));
  std::ranges::sort(samples);
  for (size_t i = 0; i < samples.size(); ++i) EXPECT_EQ(samples[i], static_cast<int64_t>(i));
}

TEST_F(SequenceClassificationTest, TrainingHoldsOutValidationAndEvaluationTheTest) {
  EXPECT_EQ(plan().build()->evaluation_size(), 24);
  EXPECT_EQ(plan({"task.held_out=test"}).build()->evaluation_size(), 21);
  trained(folder_ / "run", {"train.limit=\"2 steps\""});
  const auto task = load(open_saved_run(folder_ / "run"));
  EXPECT_EQ(task->evaluation_size(), 21);
  EXPECT_EQ(task->sample_words().held_out, "test");
  std::vector<Prediction> predictions;
  dynamic_cast<ClassificationTask&>(*task).predict(
      5, {.top = 3}, [&](const Prediction& prediction) { predictions.push_back(prediction); });
  ASSERT_EQ(predictions.size(), 16U);
  for (size_t i = 0; i < predictions.size(); ++i) {
    const auto index = static_cast<int64_t>(i) + 5;
    EXPECT_EQ(predictions[i].index, index) << "in the order of the data, whatever their lengths";
    EXPECT_EQ(predictions[i].label, std::min(index % 10, index * 7 % 10));
    EXPECT_EQ(predictions[i].top.size(), 3U);
  }
}

TEST_F(SequenceClassificationTest, GivenTextsArePredictedAsTestSamplesAre) {
  trained(folder_ / "run", {"train.limit=\"2 steps\""});
  const SavedRun saved = open_saved_run(folder_ / "run");
  std::vector<Prediction> tested;
  const auto task = load(saved);
  dynamic_cast<ClassificationTask&>(*task).predict(0, {.top = 10},
                                                   [&](const Prediction& prediction) { tested.push_back(prediction); });
  std::vector<std::string> expressions;
  std::ifstream file(folder_ / "basic_test.tsv");
  std::string line;
  for (std::getline(file, line); std::getline(file, line);) expressions.push_back(line.substr(0, line.find('\t')));
  for (const char* name : {"train", "val", "test"})
    std::filesystem::remove(folder_ / ("basic_" + std::string(name) + ".tsv"));

  const auto alone = load(saved, Splits::given);
  auto& answers = dynamic_cast<ClassificationTask&>(*alone);
  EXPECT_EQ(answers.sample_form(), SampleForm::text);
  EXPECT_EQ(answers.class_names()[9], "9");
  const auto given = test::given_predictions(*alone, expressions, 10);
  ASSERT_EQ(given.size(), tested.size());
  for (size_t i = 0; i < given.size(); ++i) {
    EXPECT_EQ(given[i].index, static_cast<int64_t>(i));
    EXPECT_EQ(given[i].text, expressions[i]);
    EXPECT_EQ(given[i].label, -1);
    for (size_t guess = 0; guess < 10; ++guess) {
      EXPECT_EQ(given[i].top[guess].label, tested[i].top[guess].label);
      // A sequence alone and one among eight, padded, may add in another order.
      EXPECT_NEAR(given[i].top[guess].probability, tested[i].top[guess].probability, 1e-5);
    }
  }
  EXPECT_EQ(test::thrown_message<io::Error>([&] {
              test::given_predictions(*alone, {"7", "[AVG 7 ]"}, 1);
            }).substr(0, 17),
            "sample 1: '[AVG' ");
  const std::string long_one = "[MAX 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 ]";
  EXPECT_EQ(test::given_predictions(*alone, {long_one}, 1).size(), 1U);
  EXPECT_EQ(answers.notes_on_given(),
            std::vector<std::string>{"1 sequence was longer than data.max_length and was truncated"});
}

TEST_F(SequenceClassificationTest, CanBeLookedInto) {
  trained(folder_ / "run", {"train.limit=\"4 steps\""});
  AnalysedRun run("run", folder_ / "run", {}, {12, 8, 4}, c10::kCPU);
  auto found = test::all_measured(run);
  for (const char* word : {"caches", "gates", "maps", "interventions", "similarity", "kernels"})
    EXPECT_TRUE(found.contains(word)) << word;
  const nlohmann::json& text = found["maps"]["samples"][0];
  EXPECT_EQ(text["tokens"][0], "[MIN");
  EXPECT_EQ(text["tokens"].back(), "]");
  EXPECT_EQ(text["maps"][0]["activations"].size(), text["tokens"].size());
}

// What is found in a run does not depend on how far its sequences are padded, nor on the order of their lengths.
TEST_F(SequenceClassificationTest, PaddingCountsInNoAnalysis) {
  for (const char* attention : {"softmax", "elu"}) {
    SCOPED_TRACE(attention);
    const std::filesystem::path place = folder_ / attention;
    trained(place, {"train.limit=\"4 steps\"", std::string("model.attention.kind=") + attention, "model.norm.kind=un",
                    "model.dropout=0"});
    AnalysedRun shortest("run", place, {}, {20, 8, 4}, c10::kCPU),
        longest("run", place, {"data.pad_to=max_length"}, {20, 8, 4}, c10::kCPU);
    const auto found = test::all_measured(shortest), padded = test::all_measured(longest);
    EXPECT_EQ(found.size(), 7U);
    for (const auto& [word, values] : found) test::expect_near(padded.at(word), values, 1e-4, word);
  }
}

TEST_F(SequenceClassificationTest, DryRunNeedsNoData) {
  const RecipePlan elsewhere = plan({"data.root=\"" + (folder_ / "nowhere").string() + "\""});
  const auto why = elsewhere.task->absent_data();
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("nowhere"), std::string::npos);
  EXPECT_FALSE(plan().task->absent_data());
  const RecipePlan small = reduced(elsewhere);
  const DryRun dry = dry_run(*small.build(Splits::synthetic), small.training);
  EXPECT_EQ(dry.step_samples, 4);
}

TEST_F(SequenceClassificationTest, ModelAndDataMustAgree) {
  const auto refused = [&](const std::vector<std::string>& settings) {
    return test::thrown_message<std::invalid_argument>([&] { plan(settings).build(); });
  };
  EXPECT_NE(refused({"model.classes=4"}).find("10 classes"), std::string::npos);
  EXPECT_NE(refused({"model.vocabulary=5"}).find("leave model.vocabulary out"), std::string::npos);
  EXPECT_NE(refused({"model.pairs=true"}).find("leave model.pairs out"), std::string::npos);
  EXPECT_NE(refused({"model.max_length=8"}).find("leave model.max_length out"), std::string::npos);
  const std::string given =
      test::thrown_message<std::invalid_argument>([&] { plan({"model.max_length=8"}).build(Splits::given); });
  EXPECT_NE(given.find("set data.max_length to 8 or less"), std::string::npos) << given;
  EXPECT_EQ(given.find("model.max_length"), std::string::npos) << given;
  EXPECT_NE(refused({"train.batch_size=100"}).find("64 training sequences"), std::string::npos);
  const std::string kind = test::thrown_message<config::Error>([&] { plan({"model.name=vit_tiny_patch16_224"}); });
  EXPECT_NE(kind.find("is not a sequence classifier"), std::string::npos) << kind;
}

TEST_F(SequenceClassificationTest, LabelSmoothingChangesTheLossAlone) {
  const auto first_loss = [&](const std::vector<std::string>& settings) {
    const auto task = plan(settings).build();
    auto stream = task->training_batches(0, 0);
    EXPECT_TRUE(stream->fetch());
    stream->prepare();
    return stream->forward().loss.item<double>();
  };
  EXPECT_DOUBLE_EQ(first_loss({}), first_loss({"task.label_smoothing=0.0"}));
  EXPECT_NE(first_loss({}), first_loss({"task.label_smoothing=0.2"}));
}

}  // namespace
}  // namespace cachet::tasks
