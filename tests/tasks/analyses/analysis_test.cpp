#include "cachet/tasks/analyses/analysis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cachet/analysis/plug_ins/stored_caches.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/tasks/analyses/cache_interventions.h"
#include "cachet/tasks/analyses/saved_results.h"
#include "cachet/tasks/plug_in_series.h"
#include "cachet/train/runs/event_log.h"
#include "tests/support/temporary_directory.h"
#include "tests/tasks/measured_analyses.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

using nlohmann::json;

const train::EvaluationProgress kUnseen = [](int64_t, int64_t) {};

class AnalysesTest : public ::testing::Test {
 protected:
  void SetUp() override { test::write_tiny_images(folder_.path() / "images"); }

  AnalysedRun trained(const std::string& name, const std::vector<std::string>& settings = {},
                      const AnalysisOptions& options = {16, 9, 8}) {
    std::vector<std::string> all{"train.epochs=1"};
    all.insert(all.end(), settings.begin(), settings.end());
    test::train_tiny(folder_.path() / "images", folder_.path() / name, all);
    return opened(name, options);
  }
  AnalysedRun opened(const std::string& name, const AnalysisOptions& options = {16, 9, 8}) {
    return {name, folder_.path() / name, {}, options, c10::Device(c10::kCPU)};
  }
  static const Analysis& named(const std::string& word) { return *analyses_named(word).at(0); }
  static json measured(const std::string& word, AnalysedRun& run, AnalysedRun* beside = nullptr) {
    return test::measured(named(word), run, beside);
  }
  static io::TensorMap state_of(torch::nn::Module& model) {
    io::TensorMap copies;
    for (const auto& [name, tensor] : io::state_dict(model)) copies[name] = tensor.clone();
    return copies;
  }
  static void expect_equal(const io::TensorMap& a, torch::nn::Module& model) {
    for (const auto& [name, tensor] : io::state_dict(model)) EXPECT_TRUE(tensor.equal(a.at(name))) << name;
  }

  test::TemporaryDirectory folder_;
};

TEST_F(AnalysesTest, CachesHaveSharesContributionsAndPlaces) {
  AnalysedRun run = trained("run");
  EXPECT_EQ(run.evaluation().evaluation_size(), 16);
  const io::TensorMap before = state_of(run.model());
  const json values = measured("caches", run);
  ASSERT_EQ(values["layers"].size(), 2u);
  for (const json& layer : values["layers"]) {
    ASSERT_EQ(layer["shares"].size(), 2u);
    for (const json& share : layer["contributions"]) {
      EXPECT_GT(share.get<double>(), 0);
      EXPECT_TRUE(std::isfinite(share.get<double>()));
    }
  }
  EXPECT_EQ(values["caches"][0]["places"], 5);  // four patches and the class token
  EXPECT_NEAR(values["caches"][0]["similarity"][2][2].get<double>(), 1, 1e-9);
  const auto steps = values["shares_over_steps"]["blocks.0.attn"]["steps"].get<std::vector<int64_t>>();
  EXPECT_EQ(steps.back(), 12);
  EXPECT_EQ(values["step"], 12);
  EXPECT_EQ(std::set<int64_t>(steps.begin(), steps.end()).size(), steps.size()) << "a step and its evaluation are one";
  expect_equal(before, run.model());
}

TEST_F(AnalysesTest, ALimitChangesNoPixel) {
  AnalysedRun run = trained("run", {}, {64, 9, 8});  // more than there are
  EXPECT_EQ(run.evaluation().evaluation_size(), test::kTinyTest);
  const train::Metrics metrics = run.evaluate(nullptr, kUnseen);
  const auto whole = load(run.saved(), Splits::test);
  const at::NoGradGuard no_grad;
  EXPECT_EQ(metrics.find("top1"), whole->evaluate(kUnseen).find("top1"));
  EXPECT_NEAR(*metrics.find("loss"), *whole->evaluate(kUnseen).find("loss"), 1e-6);
}

TEST_F(AnalysesTest, GatesAndDriftComeFromReplayedStepsWhichChangeNothing) {
  AnalysedRun run = trained("run");
  io::TensorMap before;
  run.replay(
      [&](torch::nn::Module& model) {
        before = state_of(model);
        EXPECT_TRUE(model.is_training());
        return AnalysedRun::Replay{[](const std::string&, nn::Signal, const at::Tensor&) {}};
      },
      kUnseen);
  const json values = measured("gates", run);
  ASSERT_EQ(values["gates"].size(), 2u);
  const json& update = values["gates"][0]["update"];
  EXPECT_GT(update["mean"].get<double>(), 0);
  EXPECT_LT(update["mean"].get<double>(), 1);
  ASSERT_EQ(values["drift"][1]["drift"].size(), 9u);
  for (const json& step : values["drift"][1]["drift"]) EXPECT_GT(step.get<double>(), 0);
  EXPECT_EQ(values, measured("gates", run));  // it begins where it began
  run.replay(
      [&](torch::nn::Module& model) {
        expect_equal(before, model);
        return AnalysedRun::Replay{[](const std::string&, nn::Signal, const at::Tensor&) {}};
      },
      kUnseen);
}

TEST_F(AnalysesTest, NormsHaveNormalityFluctuationAndRunningStatistics) {
  AnalysedRun run = trained("run");
  const json values = measured("norms", run);
  EXPECT_EQ(values["steps"], 9);
  ASSERT_EQ(values["layers"].size(), 5u);  // two a block, and the last one
  for (const json& layer : values["layers"]) {
    EXPECT_GE(layer["normal"].get<double>(), 0);
    EXPECT_LE(layer["normal"].get<double>(), 1);
    EXPECT_EQ(layer["used"].size(), 9u);
    EXPECT_EQ(layer["filtered"].size(), 9u);
    EXPECT_EQ(layer["fluctuation"]["steps"].size(), 9u);
    EXPECT_EQ(layer["gradient_fluctuation"]["steps"].size(), 9u);
    EXPECT_GT(layer["fluctuation"]["overall"].get<double>(), 0);
    ASSERT_EQ(layer["channels"].size(), 2u);
    for (const json& channel : layer["channels"]) {
      EXPECT_EQ(channel["window"], 4);
      for (const char* key : {"statistic", "geometric", "arithmetic", "gradient", "gradient_arithmetic"})
        ASSERT_EQ(channel[key].size(), 9u) << key;
      for (size_t step = 0; step < 9; ++step)
        EXPECT_LE(channel["geometric"][step].get<double>(), channel["arithmetic"][step].get<double>() * (1 + 1e-12));
    }
  }
}

TEST_F(AnalysesTest, NormalityIsRecordedWhileTheModelTrains) {
  const std::filesystem::path images = folder_.path() / "images";
  config::Document document =
      test::tiny_document(images, {"train.epochs=2", "train.normality_passes=8", "train.log_every=1 steps"});
  const RecipePlan plan = read_recipe(document);
  const auto task = plan.build();
  train::RunFolder folder = train::RunFolder::create(folder_.path() / "run", {"tiny", test::tiny_recipe(images)},
                                                     document, {"cachet", "train"});
  train::Trainer(*task, plan.training, folder, nullptr).run();
  const auto events = train::read_events(folder.metrics());
  std::map<int64_t, std::vector<std::vector<double>>> by_step;
  each_series(events, kNormalitySeries, [&](int64_t step, const std::string&, const std::vector<double>& values) {
    by_step[step].push_back(values);
  });
  ASSERT_FALSE(by_step.empty());
  EXPECT_EQ(by_step.begin()->first, 8) << "eight passes have gone by";
  EXPECT_EQ(by_step.rbegin()->first, 24);
  for (const auto& [step, layers] : by_step)
    for (const std::vector<double>& values : layers) {
      ASSERT_EQ(values.size(), 3u);
      EXPECT_GE(values[0], 0);
      EXPECT_LE(values[1], 1);
      EXPECT_EQ(values[2], 8);
    }
  EXPECT_EQ(by_step.at(9).size(), 5u);
  const auto sections = plug_in_sections(events);
  ASSERT_EQ(sections.back().title, "Normality of the statistics");
  EXPECT_EQ(sections.back().blocks.size(), 5u);  // means, two by layer, densities at the beginning and the end
}

TEST_F(AnalysesTest, NormalityIsAskedAtEachCheckpoint) {
  AnalysedRun run = trained("run", {"train.keep=9", "train.checkpoint_every=4 steps"});
  const io::TensorMap before = state_of(run.training().model());
  const json values = measured("norms", run);
  ASSERT_GE(values["checkpoints"].size(), 2u);
  EXPECT_EQ(values["checkpoints"][0]["step"], 4);
  // The last one is what is analysed.
  const json& last = values["checkpoints"].back();
  ASSERT_EQ(last["normal"].size(), 5u);
  for (size_t layer = 0; layer < 5; ++layer) {
    EXPECT_EQ(last["normal"][layer], values["layers"][layer]["normal"]);
    EXPECT_EQ(last["gradient_normal"][layer], values["layers"][layer]["gradient_normal"]);
  }
  expect_equal(before, run.training().model());
  EXPECT_EQ(values["step"], last["step"]);
}

TEST_F(AnalysesTest, ChartsOverCheckpointsHavePointsAndADensityForEachCheckpoint) {
  AnalysedRun run = trained("run", {"train.keep=9", "train.checkpoint_every=4 steps"});
  const auto charts = [&](json values) {
    std::vector<report::LineChart> found;
    for (const report::Block& block : named("norms").section({{"run", "", values.dump(), {}}}).blocks)
      if (const auto* chart = std::get_if<report::LineChart>(&block)) found.push_back(*chart);
    return found;
  };
  const auto count = [](const std::vector<report::LineChart>& all, const std::string& title) {
    return std::ranges::count_if(all, [&](const report::LineChart& chart) { return chart.title.starts_with(title); });
  };
  json values = json::parse(named("norms").measure(run, nullptr, kUnseen).values);
  const std::string density = "Normal channels over layers";
  EXPECT_EQ(count(charts(values), density), 2);
  for (const report::LineChart& chart : charts(values)) {
    const bool over_checkpoints = chart.title.find(" over checkpoints") != std::string::npos;
    EXPECT_EQ(chart.markers, over_checkpoints) << chart.title;
    EXPECT_EQ(chart.marks, over_checkpoints ? std::vector<double>{values["step"].get<double>()} : std::vector<double>())
        << chart.title;
  }
  values["step"] = values["checkpoints"][0]["step"];  // the earliest is analysed
  EXPECT_EQ(count(charts(values), density), 1);
  const report::Section section = named("norms").section({{"run", "", values.dump(), {}}});
  std::set<std::string> names;
  for (const report::Column& column : std::get<report::Table>(section.blocks.at(0)).columns)
    EXPECT_TRUE(names.insert(column.name).second) << column.name << " twice";
}

TEST_F(AnalysesTest, LayersAreLikeThemselvesAndCheckpointsMove) {
  AnalysedRun run = trained("run", {"train.keep=9", "train.checkpoint_every=4 steps"});
  const json values = measured("similarity", run);
  EXPECT_EQ(values["rows"], (std::vector<std::string>{"blocks.0", "blocks.1"}));
  EXPECT_EQ(values["batches"], 2);
  EXPECT_NEAR(values["cka"][0][0].get<double>(), 1, 1e-9);
  EXPECT_NEAR(values["cka"][1][1].get<double>(), 1, 1e-9);
  EXPECT_EQ(values["cka"][0][1], values["cka"][1][0]);
  EXPECT_EQ(values["parts"]["rows"].size(), 8u);
  EXPECT_EQ(values["parts"]["rows"][1], "blocks.0.attn");
  for (size_t part = 0; part < 8; ++part) EXPECT_NEAR(values["parts"]["cka"][part][part].get<double>(), 1, 1e-9);
  ASSERT_GE(values["checkpoints"].size(), 2u);
  EXPECT_LT(values["checkpoints"][0]["step"].get<int64_t>(), values["checkpoints"].back()["step"].get<int64_t>());
  EXPECT_NEAR(values["checkpoints"].back()["cka"][0].get<double>(), 1, 1e-6);
  AnalysedRun other = trained("other", {"model.depth=3", "train.seed=5"});
  const json both = measured("similarity", run, &other);
  EXPECT_EQ(both["cka"].size(), 2u);
  EXPECT_EQ(both["cka"][0].size(), 3u);
  EXPECT_LT(both["cka"][0][0].get<double>(), 1);
}

TEST_F(AnalysesTest, SimilarityOfOtherDataIsRefused) {
  AnalysedRun run = trained("run"), other = trained("other", {"data.subset_seed=3"});
  EXPECT_THROW(named("similarity").measure(run, &other, kUnseen), NotMeasurable);
  AnalysedRun few = opened("run", {3, 9, 3});
  EXPECT_THROW(named("similarity").measure(few, nullptr, kUnseen), NotMeasurable);
}

TEST_F(AnalysesTest, InterventionsEvaluateAgainAndPutCachesBack) {
  AnalysedRun run = trained("run", {"model.cache.inference=frozen"}),
              other = trained("other", {"train.seed=5", "model.cache.inference=frozen"});
  const io::TensorMap before = state_of(run.model());
  const json rows = measured("interventions", run)["rows"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["what"], "as trained");
  EXPECT_EQ(rows[1]["what"], "shuffled");
  EXPECT_EQ(rows[2]["what"], "zeroed");
  EXPECT_NE(rows[0]["metrics"]["loss"], rows[1]["metrics"]["loss"]);
  EXPECT_NE(rows[0]["metrics"]["loss"], rows[2]["metrics"]["loss"]);
  const json taken = measured("interventions", run, &other)["rows"];
  EXPECT_EQ(taken[0]["what"], "from other");
  EXPECT_NE(rows[0]["metrics"]["loss"], taken[0]["metrics"]["loss"]);
  const auto change = [&](const json& row) {
    EXPECT_GT(row["loss_change"]["stderr"].get<double>(), 0);
    EXPECT_NEAR(row["loss_change"]["mean"].get<double>(),
                row["metrics"]["loss"].get<double>() - rows[0]["metrics"]["loss"].get<double>(), 1e-12);
  };
  for (const json& row : {rows[1], rows[2], taken[0]}) change(row);
  for (const auto& [name, value] : run.evaluate(nullptr, kUnseen)) EXPECT_EQ(rows[0]["metrics"][name], value) << name;
  EXPECT_GT(rows[0]["metrics"]["loss_stderr"].get<double>(), 0);
  EXPECT_FALSE(rows[0].contains("loss_change"));
  expect_equal(before, run.model());
  EXPECT_EQ(named("interventions").jobs(2).size(), 4u);
}

TEST_F(AnalysesTest, ResultsOfInterventionsHaveTheErrorsThatAnEvaluationHas) {
  const json metric{{"title", "top-1"}, {"form", "percent"}, {"unit", ""}, {"share", true}};
  const json loss{{"title", "loss"}, {"form", "number"}, {"unit", ""}, {"share", false}};
  const json all_right{{"loss", 0.2976}, {"top1", 1.0}, {"top1_stderr", 0.0}, {"loss_stderr", 0.021}};
  const json values{
      {"described", {{"loss", loss}, {"top1", metric}}},
      {"samples", 18},
      {"rows",
       {{{"what", "as trained"}, {"metrics", all_right}},
        {{"what", "zeroed"}, {"metrics", all_right}, {"loss_change", {{"mean", 0.0016}, {"stderr", 0.0021}}}}}}};
  const report::Section section = named("interventions").section({{"run", "", values.dump(), {}}});
  const auto& table = std::get<report::Table>(section.blocks.at(0));
  std::vector<std::string> cells;
  for (const report::Cell& cell : table.rows.at(1)) cells.push_back(cell.text);
  EXPECT_EQ(cells,
            (std::vector<std::string>{"zeroed", "0.298 ± 0.021", "+0.0016 ± 0.0021", "100.0 % (94.7 % to 100.0 %)"}));
  EXPECT_EQ(table.columns.at(2).name, "change of the loss");
  EXPECT_NE(section.note.find("more than twice its standard error"), std::string::npos) << section.note;
}

TEST(LossesOfRecordsTest, AreOfSamplesPairsAndBlocksOfText) {
  const std::vector<PartLoss> samples = losses_of_records({R"({"index":0,"loss":0.5})", R"({"index":1,"loss":1.5})"});
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(mean_loss(samples).mean, 1);
  EXPECT_DOUBLE_EQ(mean_loss(samples).error.value(), 0.5);  // √½ ÷ √2
  const std::vector<PartLoss> pairs = losses_of_records(
      {R"({"index":0,"tokens":3,"loss":6})", R"({"index":1,"tokens":1,"loss":4})", R"({"index":2,"translation":[5]})"});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(mean_loss(pairs).mean, 2.5);
  EXPECT_DOUBLE_EQ(mean_loss(pairs).error.value(), 0.75);  // √(2 · (1.5² + 1.5²)) ÷ 4
  const std::string segment =
      R"({"loss_by_place":[],"tokens_by_place":[],"loss_by_lane":[300,100],"tokens_by_lane":[300,100]})";
  const std::vector<PartLoss> blocks = losses_of_records({segment, segment, segment});
  ASSERT_EQ(blocks.size(), 3u) << "a full block of the first batch row, its rest, and the second batch row";
  EXPECT_EQ(blocks[0].weight, 600);
  EXPECT_EQ(mean_loss(blocks).mean, 1);
  EXPECT_TRUE(losses_of_records({R"({"index":0,"boxes":[]})"}).empty());
}

TEST(LossesOfRecordsTest, ChangesArePaired) {
  const std::vector<PartLoss> before{{1}, {5}, {9}}, after{{1.1}, {5.1}, {9.1}};
  const MeanLoss change = change_of_loss(before, after).value();
  EXPECT_NEAR(change.mean, 0.1, 1e-12);
  EXPECT_NEAR(change.error.value(), 0, 1e-12) << "although the losses differ from sample to sample";
  EXPECT_FALSE(mean_loss({{1}}).error);
  EXPECT_FALSE(change_of_loss(before, {{1}, {2}}));
  EXPECT_FALSE(change_of_loss(before, {{1}, {5}, {9, 2}}));
  EXPECT_FALSE(change_of_loss({}, {}));
}

TEST_F(AnalysesTest, CachesAreExchangedByShape) {
  AnalysedRun run = trained("run");
  torch::nn::Module& model = run.model();
  const auto caches = analysis::stored_caches(model);
  const at::Tensor first = caches[0].tokens.clone(), second = caches[1].tokens.clone();
  EXPECT_EQ(rotate_caches(model), 2);
  EXPECT_TRUE(caches[0].tokens.equal(second));
  EXPECT_TRUE(caches[1].tokens.equal(first));
  EXPECT_EQ(zero_caches(model), 2);
  EXPECT_EQ(caches[1].tokens.abs().max().item<double>(), 0);
  AnalysedRun again = opened("run");
  EXPECT_EQ(take_caches(model, again.model()), 2);
  EXPECT_TRUE(caches[0].tokens.equal(first));
}

TEST_F(AnalysesTest, KernelsBesideTheSoftmaxOfTheSameQueries) {
  AnalysedRun run = trained("run", {"model.attention.kind=kernel", "model.attention.form=orthogonal_linear"});
  const json values = measured("kernels", run);
  const json& layer = values["layers"][0];
  EXPECT_EQ(layer["attention"], "kernel");
  EXPECT_GT(layer["distance"].get<double>(), 0);
  EXPECT_LE(layer["distance"].get<double>(), 1);
  EXPECT_LE(layer["entropy"].get<double>(), 1 + 1e-5);
  EXPECT_FALSE(layer["orthogonality"].empty());
  double row = 0;
  for (const json& weight : layer["weights"][0]) row += weight.get<double>();
  EXPECT_NEAR(row, 1, 1e-3);
}

TEST_F(AnalysesTest, MapsLieOverThePicturesThatTheModelSaw) {
  AnalysedRun run = trained("run");
  const AnalysisResult result = named("maps").measure(run, nullptr, kUnseen);
  const json samples = json::parse(result.values)["samples"];
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[0]["maps"].size(), 6u);  // two layers, three branches
  EXPECT_EQ(samples[0]["maps"][0]["grid"], (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(samples[0]["maps"][0]["activations"].size(), 4u);
  EXPECT_EQ(result.files.size(), 4u * 11);
  for (const json& sample : samples) {
    ASSERT_EQ(sample["mean_maps"].size(), 4u);  // both middle layers, two branches
    for (const json& map : sample["mean_maps"]) {
      const auto values = map["values"].get<std::vector<double>>();
      EXPECT_EQ(*std::ranges::min_element(values), 0);
      EXPECT_EQ(*std::ranges::max_element(values), 1);
    }
  }
  EXPECT_EQ(samples[0]["mean_maps"][1]["branch"], "ō_mem");
  EXPECT_EQ(result.files[0].bytes.substr(1, 3), "PNG");
  measured("maps", run);
}

TEST_F(AnalysesTest, MapsAreOfSamplesOfDifferentClasses) {
  AnalysedRun run = trained("run");
  const json samples = json::parse(named("maps").measure(run, nullptr, kUnseen).values)["samples"];
  std::set<std::string> classes, right;
  for (const json& sample : samples) {
    classes.insert(sample["name"].get<std::string>());
    right.insert(sample["name"] == sample["answer"] ? "right" : "wrong");
  }
  EXPECT_GE(classes.size(), 3u) << "one may be exchanged for one that is predicted otherwise";
  // The evaluation has right and wrong answers, and so have the samples.
  const double top1 = run.evaluate(nullptr, kUnseen).find("top1").value();
  EXPECT_EQ(right.size(), top1 > 0 && top1 < 1 ? 2u : 1u) << top1;
}

TEST_F(AnalysesTest, TheScaleOfSimilarityEndsWhereTheValuesEnd) {
  AnalysedRun run = trained("run");
  const AnalysisResult result = named("similarity").measure(run, nullptr, kUnseen);
  const auto section = named("similarity").section({{"run", "", result.values, {}}});
  const auto& map = std::get<report::HeatMap>(section.blocks.front());
  EXPECT_TRUE(map.square);
  ASSERT_EQ(map.rows, map.columns);
  double least = INFINITY;
  for (size_t i = 0; i < map.values.size(); ++i)
    if (i / map.columns.size() != i % map.columns.size()) least = std::min(least, map.values[i]);
  EXPECT_EQ(map.least, least);
  EXPECT_LT(map.most.value(), 1);
}

TEST_F(AnalysesTest, TheScaleOfTwoRunsHasTheLayersOfOneName) {
  AnalysedRun run = trained("run"), other = trained("other", {"train.seed=5"});
  const AnalysisResult result = named("similarity").measure(run, &other, kUnseen);
  const auto section = named("similarity").section({{"run", "other", result.values, {}}});
  for (const size_t block : {0, 1}) {  // transformer blocks, and parts of blocks
    const auto& map = std::get<report::HeatMap>(section.blocks.at(block));
    ASSERT_EQ(map.rows, map.columns);
    const auto [least, most] = std::minmax_element(map.values.begin(), map.values.end());
    EXPECT_EQ(map.least, *least);
    EXPECT_EQ(map.most, *most);
    EXPECT_EQ(map.note.find("no colour"), std::string::npos) << map.note;
  }
}

TEST_F(AnalysesTest, AReplayCountsMoreThanAnEvaluation) {
  AnalysedRun run = trained("run");
  EXPECT_EQ(named("caches").passes(run), 16);
  EXPECT_EQ(named("interventions").passes(run), 3 * 16);
  EXPECT_EQ(named("gates").passes(run), 3 * 9 * 8);
  EXPECT_LT(named("maps").passes(run), named("caches").passes(run));
}

TEST_F(AnalysesTest, AModelWithoutThePlugInLacksIt) {
  AnalysedRun plain = trained("plain", {"model.cache.kind=none"});
  for (const char* word : {"caches", "gates", "maps", "interventions"})
    EXPECT_EQ(named(word).lacks(plain.model()), "has no cache") << word;
  for (const char* word : {"norms", "similarity", "kernels"}) EXPECT_FALSE(named(word).lacks(plain.model())) << word;
  EXPECT_EQ(analyses_named("").size(), analyses().size());
  EXPECT_EQ(analyses_named("norms,caches").front()->word(), "caches");  // in the order of the page
  try {
    analyses_named("cachs");
    FAIL();
  } catch (const std::invalid_argument& unknown) {
    EXPECT_NE(std::string(unknown.what()).find("'caches'"), std::string::npos) << unknown.what();
  }
}

TEST_F(AnalysesTest, WhatAFolderHoldsIsNotMeasuredAgain) {
  AnalysedRun run = trained("run");
  const SavedResults kept(folder_.path() / "analysis");
  const SavedResult first = measured_or_kept(named("maps"), run, nullptr, kept, kUnseen);
  AnalysedRun again = opened("run");
  bool measured = false;
  const auto seen = [&](int64_t, int64_t) { measured = true; };
  const SavedResult second = measured_or_kept(named("maps"), again, nullptr, kept, seen);
  EXPECT_FALSE(measured);
  EXPECT_EQ(json::parse(first.values), json::parse(second.values));
  EXPECT_EQ(second.file(json::parse(second.values)["samples"][0]["picture"]).substr(1, 3), "PNG");
  AnalysedRun more = opened("run", {24, 9, 8});
  measured_or_kept(named("maps"), more, nullptr, kept, seen);
  EXPECT_TRUE(measured);
  EXPECT_TRUE(is_analysis_folder(folder_.path() / "analysis"));
  empty_analysis_folder(folder_.path() / "analysis");
  measured = false;
  measured_or_kept(named("maps"), again, nullptr, kept, seen);
  EXPECT_TRUE(measured);
}

}  // namespace
}  // namespace cachet::tasks
