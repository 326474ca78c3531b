#include "cachet/tasks/image_classification/image_classification.h"

#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
#include <stdexcept>

#include "cachet/io/files/read_file.h"
#include "cachet/tasks/dry_run.h"
#include "cachet/tasks/evaluated_run.h"
#include "cachet/tasks/image_classification/synthetic_images.h"
#include "cachet/tasks/plug_in_series.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/runs/event_log.h"
#include "tests/support/checkpoints.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/evaluation_records.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

using test::TemporaryDirectory;
using test::train_tiny;
using Names = std::vector<std::string>;

class ImageClassificationTest : public ::testing::Test {
 protected:
  ImageClassificationTest() { test::write_tiny_images(images()); }
  std::filesystem::path images() const { return folder_ / "images"; }
  std::filesystem::path run(const std::string& name = "run") const { return folder_ / name; }
  std::string report(const std::string& name = "run") const {
    return io::read_text_file(run(name) / "report.html", 64 << 20);
  }
  std::unique_ptr<ImageClassification> task(const Names& settings = {}) const {
    config::Document document = test::tiny_document(images(), settings);
    return test::as_images(read_recipe(document).build());
  }

  TemporaryDirectory folder_;
};

TEST_F(ImageClassificationTest, Learns) {
  const train::Outcome outcome = train_tiny(images(), run());
  EXPECT_EQ(outcome.ending, train::StopReason::finished);
  EXPECT_EQ(outcome.step, 72);
  EXPECT_GT(outcome.metrics.find("top1").value(), 0.9);
  EXPECT_FALSE(outcome.metrics.find("top5")) << "there are no more than five classes";
}

// Stopped within an epoch, resumed by another number of workers.
TEST_F(ImageClassificationTest, ResumesBitByBitWhateverTheWorkers) {
  train_tiny(images(), run("whole"));
  train_tiny(images(), run(), {"train.limit=17 steps", "data.workers=2"});
  EXPECT_EQ(test::last_checkpoint(run()).state.step, 17);
  train_tiny(images(), run());
  const train::Checkpoint whole = test::last_checkpoint(run("whole")), resumed = test::last_checkpoint(run());
  EXPECT_EQ(resumed.state.step, 72);
  test::expect_same_tensors(whole.model, resumed.model);
  test::expect_same_tensors(whole.optimizer, resumed.optimizer);
  test::expect_same_tensors(whole.random, resumed.random);
}

// Which rows are outliers is drawn by torch's generator, whose state a checkpoint has.
TEST_F(ImageClassificationTest, MeetsOutliersAndResumesBitByBit) {
  const Names outliers{"data.outliers={probability=0.5, share=0.2, scale=50.0}",
                       "model.outliers={probability=0.2, share=0.1, scale=30.0}"};
  const auto with = [&](Names settings) {
    settings.insert(settings.end(), outliers.begin(), outliers.end());
    return settings;
  };
  train_tiny(images(), run("plain"), {"train.limit=24 steps"});
  train_tiny(images(), run("whole"), with({"train.limit=24 steps"}));
  train_tiny(images(), run(), with({"train.limit=17 steps"}));
  train_tiny(images(), run(), with({"train.limit=24 steps"}));
  const train::Checkpoint plain = test::last_checkpoint(run("plain")), whole = test::last_checkpoint(run("whole")),
                          resumed = test::last_checkpoint(run());
  EXPECT_EQ(resumed.state.step, 24);
  test::expect_same_tensors(whole.model, resumed.model);
  EXPECT_FALSE(whole.model.at("norm.statistics").equal(plain.model.at("norm.statistics")));
}

TEST_F(ImageClassificationTest, ObservesSharesAndNormSteps) {
  const auto cached = task();
  const auto series = cached->observe();
  Names names;
  for (const train::Series& one : series) names.push_back(one.name);
  EXPECT_EQ(names, (Names{"share/blocks.0.attn", "share/blocks.1.attn", "cache/blocks.0.attn.cache",
                          "cache/blocks.1.attn.cache", "un/blocks.0.norm1", "un/blocks.0.norm2", "un/blocks.1.norm1",
                          "un/blocks.1.norm2", "un/norm"}));
  EXPECT_EQ(series[0].values, (std::vector<double>{0.5, 0.5})) << "sigmoid of 0 for each of two heads";
  EXPECT_EQ(series[2].values, std::vector<double>{0}) << "no sample has passed the cache";
  EXPECT_EQ(series[4].values, (std::vector<double>{0, 0, 0}));
  EXPECT_TRUE(task({"model.cache.kind=none", "model.norm.kind=layer"})->observe().empty());
}

TEST_F(ImageClassificationTest, TrainsOnWindowStatisticsBehindTheWarmUp) {
  train_tiny(images(), run(), {"train.limit=2 epochs"});
  const auto events = train::read_events(run() / "metrics.jsonl");
  for (const train::Series& series : events.back().series) {
    if (!series.name.starts_with("un/")) continue;
    EXPECT_EQ(series.values[0], 24) << series.name;
    EXPECT_EQ(series.values[1] + series.values[2], 20) << series.name << ": all but four steps of warm-up";
    EXPECT_GT(series.values[1], 0) << series.name;
  }
}

TEST_F(ImageClassificationTest, LogsTheFractionOfFilteredChannels) {
  train_tiny(images(), run(), {"train.limit=2 epochs", "model.norm.threshold=channel"});
  const auto events = train::read_events(run() / "metrics.jsonl");
  std::map<std::string, std::vector<double>> series;
  for (const train::Series& one : events.back().series) series[one.name] = one.values;
  double channels = 0;
  for (const auto& [name, values] : series) {
    if (!name.starts_with("un/")) continue;
    EXPECT_EQ(values[0], 24) << name;
    const double fraction = series.at("un_channels/" + name.substr(3)).at(0);
    EXPECT_DOUBLE_EQ(fraction, values[2] / 24) << name;
    EXPECT_LE(values[1] + values[2], 20) << name << ": four steps of warm-up";
    channels += fraction;
  }
  EXPECT_GT(channels, 0);
  const auto sections = plug_in_sections(events);
  ASSERT_EQ(sections.back().title, "Unified normalization");
  EXPECT_EQ(sections.back().blocks.size(), 3u);
}

TEST_F(ImageClassificationTest, EvaluatesEveryTestImageOnce) {
  const auto plain = task({"data.classes=6", "model.classes=6"});
  plain->model().eval();
  int64_t last_done = 0, batches = 0;
  const train::Metrics metrics = plain->evaluate([&](int64_t done, int64_t total) {
    last_done = done;
    batches = total;
  });
  EXPECT_EQ(batches, 5) << "33 images in batches of 8";
  EXPECT_EQ(last_done, 5);
  const double top1 = metrics.find("top1").value();
  EXPECT_NEAR(metrics.find("top1_stderr").value(), std::sqrt(top1 * (1 - top1) / 33), 1e-12);
  EXPECT_GE(metrics.find("top5").value(), top1);
  EXPECT_GT(metrics.find("loss").value(), 0);
}

TEST_F(ImageClassificationTest, EvaluatesByRecordsOfItsSamples) {
  for (const Names& settings : {Names{}, {"data.classes=6", "model.classes=6"}}) {
    const auto images = task(settings);
    images->model().eval();
    images->evaluate([](int64_t, int64_t) {});
    const std::string details = images->evaluation_details();
    std::vector<Record> records = test::expect_records_are_the_evaluation(*images);
    EXPECT_EQ(images->evaluation_details(), details) << "the matrix and the samples that a page shows, too";
    EXPECT_EQ(records[5].find("among_five") != std::string::npos, !settings.empty());
    records.pop_back();
    EXPECT_NE(test::thrown_message<std::runtime_error>([&] {
                test::metrics_of_records(*images, records);
              }).find("the evaluation is incomplete: there are records of 32 of 33 images"),
              std::string::npos);
  }
}

TEST_F(ImageClassificationTest, ReportsAFinishedRun) {
  train_tiny(images(), run(), {"train.limit=2 epochs"});
  const std::string page = report();
  for (const char* part : {"finished", "Top-1", "blocks.1.attn", "blocks.0.norm2", "data:image/png;base64,", "<svg",
                           "num_heads", "What the model is trained on", "8 of the 8 images of the first batch"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

const report::Section& trained_on(const std::vector<report::Section>& sections) {
  return *std::ranges::find(sections, "What the model is trained on", &report::Section::title);
}

std::vector<std::string> first_pictures(ImageClassification& task) {
  const std::vector<report::Section> sections = task.report_sections({}, {});
  std::vector<std::string> files;
  for (const report::Picture& picture : std::get<report::ImageGrid>(trained_on(sections).blocks.at(0)).pictures)
    files.push_back(picture.png);
  return files;
}

TEST_F(ImageClassificationTest, ShowsWhatItIsTrainedOnAndDrawsNothingForIt) {
  const auto shown = task();
  at::manual_seed(3);
  const at::Tensor undisturbed = at::rand({4});
  at::manual_seed(3);
  const Names files = first_pictures(*shown);
  EXPECT_TRUE(at::rand({4}).equal(undisturbed));
  EXPECT_EQ(files.size(), 8u);
  EXPECT_EQ(first_pictures(*shown), files);
  EXPECT_EQ(first_pictures(*task()), files) << "a run that goes on shows the same";
  EXPECT_NE(first_pictures(*task({"train.seed=4"})), files);
}

class TaskWithoutSamples : public ImageClassification {
 public:
  using ImageClassification::ImageClassification;

 protected:
  std::vector<report::Block> training_samples() const override { throw std::runtime_error("the disk is on fire"); }
};

TEST_F(ImageClassificationTest, APageWithoutItsFirstSamplesSaysWhy) {
  config::Document document = test::tiny_document(images());
  const RecipePlan plan = read_recipe(document);
  TaskWithoutSamples without(test::image_plan(plan), plan.training.train);
  const std::vector<report::Section> sections = without.report_sections({}, {});
  EXPECT_EQ(std::get<report::CodeBlock>(trained_on(sections).blocks.at(0)).text, "the disk is on fire");
}

class InterruptedTask : public ImageClassification {
 public:
  using ImageClassification::ImageClassification;
  std::vector<train::Series> observe() override {
    std::raise(SIGINT);
    return ImageClassification::observe();
  }
};

class FailingTask : public ImageClassification {
 public:
  using ImageClassification::ImageClassification;
  std::vector<train::Series> observe() override { throw std::runtime_error("the disk is on fire"); }
};

TEST_F(ImageClassificationTest, ReportsEveryEnding) {
  EXPECT_EQ(train_tiny<InterruptedTask>(images(), run("stopped")).ending, train::StopReason::interrupted);
  EXPECT_NE(report("stopped").find("--resume"), std::string::npos) << "the report says how to go on";
  EXPECT_EQ(train_tiny(images(), run("blown"), {"optimizer.lr=1e30", "train.clip_norm=0"}).ending,
            train::StopReason::not_finite);
  EXPECT_NE(report("blown").find("failed"), std::string::npos);
  EXPECT_THROW(train_tiny<FailingTask>(images(), run("failed")), std::runtime_error);
  EXPECT_NE(report("failed").find("the disk is on fire"), std::string::npos);
}

TEST_F(ImageClassificationTest, RefusesImagesThatDoNotFit) {
  EXPECT_NE(test::thrown_message<std::invalid_argument>([&] {
              task({"model.image_size=12"});
            }).find("the images are 1 x 8 x 8, but the model takes 1 x 12 x 12"),
            std::string::npos);
  EXPECT_NE(test::thrown_message<std::invalid_argument>([&] { task({"model.classes=7"}); }).find("4 classes"),
            std::string::npos);
  EXPECT_NE(test::thrown_message<std::invalid_argument>([&] { task({"train.batch_size=97"}); }).find("96 training"),
            std::string::npos);
}

TEST_F(ImageClassificationTest, SaysAllProblemsOfARecipeAtOnce) {
  config::Document document =
      test::tiny_document(images(), {"task.kind=image_clasification", "model.cahce.ratio=0.5", "train.epochs=-1"});
  const std::string message = test::thrown_message<config::Error>([&] { read_recipe(document); });
  for (const char* part : {"did you mean 'image_classification'", "model.cahce", "train.epochs"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " in\n" << message;
}

TEST_F(ImageClassificationTest, GivesTheSameMetricsFromTheFile) {
  const train::Outcome outcome = train_tiny(images(), run(), {"train.limit=2 epochs", "train.keep=5"});
  const auto last = train::CheckpointStore(run() / "checkpoints", "", 5).last();
  const SavedRun saved = open_saved_run(*last);
  EXPECT_EQ(saved.run, run());
  EXPECT_TRUE(load(saved)->evaluate([](int64_t, int64_t) {}) == outcome.metrics);
  EXPECT_EQ(load(open_saved_run(run(), {"data.limit=5"}))->evaluation_size(), 5);
}

// Means of pixels are those of the whole training data, however few images are evaluated.
TEST_F(ImageClassificationTest, ALimitOfAnEvaluationLeavesTheTrainingDataAlone) {
  train_tiny(images(), run(), {"train.limit=1 epochs", "data.normalization.source=data"});
  const SavedRun whole = open_to_evaluate(run());
  const auto task = test::as_images(load(whole));
  const auto all = task->evaluated_samples();
  EXPECT_EQ(all.count, all.split);
  for (const SavedRun& few : {open_to_evaluate(run(), {}, 5), open_to_evaluate(run(), {"data.limit=5"}),
                              open_to_evaluate(run(), {"data={limit=7}"}, 5)}) {
    const auto limited = test::as_images(load(few));
    EXPECT_EQ(limited->evaluated_samples().count, 5);
    EXPECT_EQ(limited->evaluated_samples().split, all.split);
    EXPECT_EQ(limited->image_preparation()->mean, task->image_preparation()->mean);
    EXPECT_EQ(limited->image_preparation()->deviation, task->image_preparation()->deviation);
  }
  EXPECT_THROW(open_to_evaluate(run(), {}, 0), std::invalid_argument);
}

TEST_F(ImageClassificationTest, DryRunTriesOneOfEach) {
  config::Document document = test::tiny_document(images());
  const RecipePlan plan = read_recipe(document);
  const auto tried = plan.build();
  const DryRun dry = dry_run(*tried, plan.training);
  EXPECT_EQ(dry.total_steps, 72);
  EXPECT_EQ(dry.step_samples, 8);
  EXPECT_EQ(dry.evaluations, 6);
  EXPECT_GT(dry.step_seconds, 0);
  EXPECT_GT(dry.checkpoint_bytes, 1000U);
  EXPECT_GE(dry.total_seconds(), 72 * dry.step_seconds);
  EXPECT_EQ(tried->observe().back().values[0], 2) << "two steps, and the evaluation trains nothing";
}

// What an ImageNet recipe is tried with where there is no ImageNet.
TEST_F(ImageClassificationTest, DryRunNeedsNoData) {
  config::Document document =
      test::tiny_document(folder_ / "nowhere", {"train.batch_size=1024", "train.accumulate=4", "data.classes=100"});
  const RecipePlan plan = read_recipe(document);
  const auto why = plan.task->absent_data();
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("nowhere"), std::string::npos);
  const RecipePlan small = reduced(plan);
  const auto tried = small.build(Splits::synthetic);
  const DryRun dry = dry_run(*tried, small.training);
  EXPECT_EQ(dry.step_samples, 4);
  EXPECT_GT(dry.evaluation_seconds, 0);
  EXPECT_GT(dry.checkpoint_bytes, 1000U);
  EXPECT_EQ(test::image_plan(small).options().model.classes, 100) << "the model is the recipe's own";
  EXPECT_EQ(tried->observe().back().values[0], 2);
  document = test::tiny_document(images());
  EXPECT_FALSE(read_recipe(document).task->absent_data());
}

TEST_F(ImageClassificationTest, SyntheticImagesAreTheSameEveryTime) {
  config::Document document = test::tiny_document(images());
  const RecipePlan plan = read_recipe(document);
  const auto& model = test::image_plan(plan).options().model;
  const data::LabelledImages first = synthetic_images(model, 6), second = synthetic_images(model, 6);
  for (int64_t i = 0; i < 6; ++i) EXPECT_TRUE(first.images().image(i).equal(second.images().image(i)));
  EXPECT_EQ(first.labels().values(), (std::vector<int64_t>{0, 1, 2, 3, 0, 1}));
  EXPECT_EQ(first.images().shape(), (data::ImageShape{1, 8, 8}));
}

}  // namespace
}  // namespace cachet::tasks
