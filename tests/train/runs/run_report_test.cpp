#include "cachet/train/runs/run_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cachet/io/files/read_file.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

using report::Better, report::ValueForm;

/// A run of a task that no code of the library knows.
RunDescription tides() {
  return {"tides",
          {"gauge", "gauges", "gauges/s", "next year's"},
          "tide_net",
          1234,
          56'000,
          0,
          {{"surge", "surge error", ValueForm::fixed, Better::lower, /*decides=*/true, "metres"},
           {"hits", "warned in time", ValueForm::percent, Better::higher}}};
}

/// Evaluations at steps 10, 20, … with these errors, a step line at each.
std::vector<Event> tide_events(const std::vector<double>& errors) {
  std::vector<Event> events;
  for (size_t i = 0; i < errors.size(); ++i) {
    const auto step = static_cast<int64_t>(10 * (i + 1));
    events.push_back({Event::Kind::step, step, 1, {{"surge", 2.0}, {"eddies", 5.0}, {"lr", 0.1}}, {}, {}});
    events.back().machine = {{"seconds", static_cast<double>(step)}, {"samples_per_second", 100}};
    events.push_back({Event::Kind::evaluation, step, 1, {{"surge", errors[i]}, {"hits", 0.871}}, {}, {}});
    events.back().metrics.set("surge_stderr", 0.0125);
  }
  return events;
}

/// The page of such a run.
std::string page_of(const RunDescription& run, const std::vector<Event>& events, int64_t processes = 1) {
  const test::TemporaryDirectory folder;
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  test::read_toy(document);
  RunFolder made = RunFolder::create(folder / "run", {"toy", test::kToyRecipe}, document, {});
  made.trained_by(processes);
  Status status;
  status.step = 20;
  status.total_steps = 30;
  status.epoch = 2;
  status.epochs = 3;
  write_run_report(made, run, status, events, {});
  return io::read_text_file(made.report(), 1 << 24);
}

void expect_parts(const std::string& page, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST(RunReport, ShowsMetricsThatNoCodeKnows) {
  const std::string page = page_of(tides(), tide_events({0.75, 0.5, 0.625}));
  expect_parts(page, {"Surge error", "metres", "Warned in time", "Eddies", "Learning rate", "tide_net"});
  EXPECT_EQ(page.find("surge_stderr"), std::string::npos) << "a standard error is no curve";
  EXPECT_EQ(page.find("Surge_stderr"), std::string::npos);
}

TEST(RunReport, TellsHowManyProcessesTrained) {
  expect_parts(page_of(tides(), tide_events({0.75}), /*processes=*/3), {"3 processes", "each with "});
  EXPECT_EQ(page_of(tides(), tide_events({0.75})).find("each with "), std::string::npos);
}

TEST(RunReport, TellsWhatDecidesAndItsBest) {
  std::string page = page_of(tides(), tide_events({0.75, 0.5, 0.625}));
  expect_parts(page, {"Surge error", "0.625", "± 0.013", "Best surge error", "0.500"});
  RunDescription higher = tides();
  higher.metrics[0].better = Better::higher;
  page = page_of(higher, tide_events({0.25, 0.875, 0.625}));
  expect_parts(page, {"0.625", "Best surge error", "0.875"});
  page = page_of(tides(), tide_events({}));
  EXPECT_EQ(page.find("Best surge error"), std::string::npos) << "before the first evaluation";
}

TEST(RunReport, WritesFractionsInPercent) {
  RunDescription run = tides();
  run.metrics[0].decides = false;
  run.metrics[1].decides = true;
  expect_parts(page_of(run, tide_events({0.5})), {"Warned in time", "87.1 %", "Best warned in time"});
  run.metrics[1].form = ValueForm::number;
  EXPECT_EQ(page_of(run, tide_events({0.5})).find("87.1"), std::string::npos);
}

TEST(RunReport, SpeaksInTheWordsOfItsTask) {
  const std::string page = page_of(tides(), tide_events({0.75, 0.5}));
  expect_parts(page, {"of the next year&#39;s gauges", "for one gauge", "gauges/s"});
  for (const char* word : {"images", "one image", "img/s", "samples/s", "sequences"})
    EXPECT_EQ(page.find(word), std::string::npos) << word;
}

TEST(RunReport, CountsTokensWhereARunLogsThem) {
  std::vector<Event> events = tide_events({0.75, 0.5});
  for (Event& event : events)
    if (event.kind == Event::Kind::step) event.machine.set("tokens_per_second", 4000);
  const std::string page = page_of(tides(), events);
  expect_parts(page, {"tokens/s"});
  EXPECT_EQ(page.find("gauges/s"), std::string::npos);
}

TEST(RunReport, MetricsOfOneFamilyShareAChartAndTheOneThatDecidesIsLarge) {
  RunDescription run = tides();
  run.metrics.push_back({.name = "low", .title = "low water", .better = Better::lower, .family = "heights"});
  run.metrics.push_back({.name = "high", .title = "high water", .better = Better::lower, .family = "heights"});
  run.metrics.push_back({"samples_per_second", "gauges in a second"});
  std::vector<Event> events = tide_events({0.75, 0.5});
  for (Event& event : events)
    if (event.kind == Event::Kind::evaluation) {
      event.metrics.set("low", 1);
      event.metrics.set("high", 2);
    }
  const std::string page = page_of(run, events);
  expect_parts(page, {"<figure class=\"chart wide\"><figcaption>Surge error</figcaption>",
                      "<figure class=\"chart small\"><figcaption>Heights</figcaption>", "low water", "high water",
                      "More curves: warned in time, heights, eddies, learning rate, throughput"});
  EXPECT_EQ(page.find("Low water"), std::string::npos) << "no chart of its own";
  EXPECT_EQ(page.find("Gauges in a second"), std::string::npos) << "it is the throughput";
}

TEST(RunReport, WithoutAnEvaluationTheFirstMetricIsLarge) {
  std::vector<Event> events = tide_events({0.75, 0.5});
  std::erase_if(events, [](const Event& event) { return event.kind == Event::Kind::evaluation; });
  for (Event& event : events) event.metrics = {{"eddies", event.step == 10 ? 5.0 : 4.0}};
  expect_parts(page_of(tides(), events), {"<figure class=\"chart wide\"><figcaption>Eddies</figcaption>"});
}

TEST(RunReport, NamesTheSizeOfAModelThatDiffersFromItsName) {
  RunDescription run = tides();
  run.named_sizes = {
      {"image_size", "224"}, {"patch_size", "16"}, {"depth", "12"}, {"embed_dim", "192"}, {"mlp_ratio", "4.0"}};
  EXPECT_EQ(model_text(run, {{"model.image_size", "[224, 224]"}, {"model.patch_size", "16"}, {"model.mlp_ratio", "4"}}),
            "tide_net");
  EXPECT_EQ(model_text(run, {{"model.image_size", "[48, 48]"}, {"model.patch_size", "8"}, {"model.depth", "3"}}),
            "tide_net with 48 pixels, patch 8 and 3 blocks");
  EXPECT_EQ(model_text(run, {{"model.depth", "1"}}), "tide_net with 1 block");
  EXPECT_EQ(model_text(run, {{"model.image_size", "[32, 64]"}}), "tide_net with 32-64 pixels");
}

/// Describes its metrics as a test sets them.
class ToldTask : public test::ToyTask {
 public:
  explicit ToldTask(RunDescription run) : run_(std::move(run)) {}
  RunDescription describe() override { return run_; }

 private:
  RunDescription run_;
};

TEST(Trainer, RefusesATaskThatDoesNotSayWhatDecides) {
  RunDescription aimless = tides(), without_way = tides(), without_metrics = tides();
  aimless.metrics[0].decides = false;
  without_way.metrics[0].better = Better::neither;
  without_metrics.metrics.clear();
  for (const RunDescription& run : {aimless, without_way, without_metrics}) {
    const test::TemporaryDirectory folder;
    config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
    const Options options = test::read_toy(document);
    RunFolder made = RunFolder::create(folder / "run", {"toy", test::kToyRecipe}, document, {});
    ToldTask task(run);
    const std::string message = test::thrown_message<std::logic_error>([&] { Trainer(task, options, made, nullptr); });
    EXPECT_EQ(message, "the task \"tides\" has no metric that decides which checkpoint is the best");
  }
}

TEST(Trainer, KeepsTheBestWhereLowerIsBetter) {
  const test::TemporaryDirectory folder;
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  const Options options = test::read_toy(document);
  prepare_process(options.train);
  RunDescription run = tides();
  run.metrics[0].name = "loss";
  RunFolder made = RunFolder::create(folder / "run", {"toy", test::kToyRecipe}, document, {});
  ToldTask task(run);
  Trainer(task, options, made, nullptr).run();
  double least = INFINITY;
  for (const Event& event : read_events(made.metrics()))
    if (event.kind == Event::Kind::evaluation) least = std::min(least, event.metrics.find("loss").value());
  EXPECT_EQ(test::last_checkpoint(folder / "run").state.best, least);
}

/// Reports its data when it is made and once more whenever it was evaluated.
class NotingTask : public test::ToyTask {
 public:
  using ToyTask::ToyTask;
  train::Metrics evaluate(const train::EvaluationProgress& progress) override {
    if (notes_.size() < 3) notes_.push_back("note " + std::to_string(notes_.size()));
    return ToyTask::evaluate(progress);
  }
  std::vector<std::string> data_notes() const override { return notes_; }

 private:
  std::vector<std::string> notes_{"note 0"};
};

TEST(Trainer, LogsEachNoteOfTheDataOnce) {
  const test::TemporaryDirectory folder;
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  const Options options = test::read_toy(document);
  prepare_process(options.train);
  RunFolder made = RunFolder::create(folder / "run", {"toy", test::kToyRecipe}, document, {});
  NotingTask task;
  Trainer(task, options, made, nullptr).run();
  const std::string log = io::read_text_file(made.log(), 1 << 20);
  for (const char* note : {"note 0", "note 1", "note 2"}) {
    const size_t first = log.find(note);
    ASSERT_NE(first, std::string::npos) << note;
    EXPECT_EQ(log.find(note, first + 1), std::string::npos) << note;
  }
}

TEST(Trainer, SaysWhichMetricAnEvaluationLacks) {
  const test::TemporaryDirectory folder;
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  const Options options = test::read_toy(document);
  RunFolder made = RunFolder::create(folder / "run", {"toy", test::kToyRecipe}, document, {});
  ToldTask task(tides());
  const std::string message =
      test::thrown_message<std::runtime_error>([&] { Trainer(task, options, made, nullptr).run(); });
  EXPECT_EQ(message,
            "the result of the evaluation has no \"surge\", the metric that decides which checkpoint is the best");
}

}  // namespace
}  // namespace cachet::train
