#include "cachet/tasks/detection/detection.h"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "cachet/data/vision/coco/coco_results.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/tensors/png.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/dry_run.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/tasks/weights/weight_import.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/trainer.h"
#include "tests/data/vision/coco/detection_files.h"
#include "tests/support/bytes.h"
#include "tests/support/exif.h"
#include "tests/support/mixed_scenes.h"
#include "tests/support/small_scenes.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/evaluation_records.h"
#include "tests/tasks/joint_steps.h"
#include "tests/tasks/measured_analyses.h"
#include "tests/tasks/tiny_run.h"

namespace cachet::tasks {
namespace {

class DetectionTest : public test::TinyRunTest {
 protected:
  DetectionTest() { test::write_small_scenes(data_, /*train=*/12, /*validation=*/5); }

  std::string recipe() const override {
    return test::small_scenes(data_.string()) + "[model]\nname = \"mask_rcnn_pvt_tiny_fpn\"\n" + test::kSmallPyramid +
           "stochastic_depth = 0.0\n" + test::kSmallNeck + test::kSmallRegions + R"([model.rpn_head.anchors]
scales = [4.0]
[model.roi_head.mask_head]
conv_out_channels = 8
[model.cache]
kind = "grc"
[train]
epochs = 3
batch_size = 4
threads = 1
log_every = "1 steps"
clip_norm = 10.0
[optimizer]
lr = 0.001
[schedule]
kind = "constant"
)";
  }

  std::filesystem::path data_ = folder_ / "shapes";
};

TEST_F(DetectionTest, TrainsEvaluatesAndReports) {
  const auto run = folder_ / "run";
  const train::Outcome outcome = trained(run);
  EXPECT_EQ(outcome.step, 9);
  EXPECT_TRUE(outcome.metrics.find("box_ap"));
  EXPECT_TRUE(outcome.metrics.find("mask_ap50"));
  for (const char* name : {"box_ap_stderr", "mask_ap_stderr"}) EXPECT_TRUE(outcome.metrics.find(name)) << name;
  EXPECT_FALSE(outcome.metrics.find("box_ap50_stderr"));
  const std::string log = io::read_text_file(train::RunFolder::open(run).metrics(), 1 << 20);
  for (const char* name :
       {"loss_rpn_cls", "loss_rpn_bbox", "loss_cls", "loss_bbox", "loss_mask", "box_ap", "mask_ar100"})
    EXPECT_NE(log.find(name), std::string::npos) << name;
  const std::string page = io::read_text_file(train::RunFolder::open(run).report(), 1 << 26);
  for (const char* text : {"AP, overlap 0.50 to 0.95, all sizes, 100 detections", "Confusion of classes",
                           "Worst images", "validation images", "triangle", "What the model is trained on",
                           "4 of the 4 images of the first batch", "data:image/jpeg;base64,"})
    EXPECT_NE(page.find(text), std::string::npos) << text;
}

TEST_F(DetectionTest, ResumesBitByBit) {
  const auto whole = folder_ / "whole", parts = folder_ / "parts";
  trained(whole);
  trained(parts, {"train.limit=\"4 steps\""});
  trained(parts, {"train.limit=\"9 steps\""});
  const auto weights = [](const std::filesystem::path& run) { return read_weights(open_saved_run(run)); };
  const io::TensorMap one = weights(whole), other = weights(parts);
  ASSERT_EQ(one.size(), other.size());
  for (const auto& [name, tensor] : one) EXPECT_TRUE(tensor.equal(other.at(name))) << name;
}

TEST_F(DetectionTest, AnswersTheEvaluationSetAndGivenImagesAlike) {
  const auto task = plan({"model.cache.kind=\"none\"", "train.batch_size=1"}).build(Splits::test);
  auto& detection = dynamic_cast<Detection&>(*task);
  detection.model().eval();
  std::vector<Record> records, rest;
  detection.answer_evaluation(0, {}, [&](const Record& record) { records.push_back(record); });
  detection.answer_evaluation(3, {}, [&](const Record& record) { rest.push_back(record); });
  ASSERT_EQ(records.size(), 5u);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(records[3], rest[0]);
  for (size_t i = 0; i < records.size(); ++i) {
    const auto found = found_objects_from_json(records[i]);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->index, static_cast<int64_t>(i));
    EXPECT_EQ(found->image_id, static_cast<int64_t>(i) + 1);
    PreparedSamples samples;
    const std::string file = (data_ / "images" / "val" / ("00000" + std::to_string(i + 1) + ".png")).string();
    samples.push_back(detection.prepare_given(file));
    samples.back()->given = file;
    const auto given = found_objects_from_json(detection.answer_given(samples, {}).at(0));
    ASSERT_TRUE(given.has_value());
    EXPECT_EQ(given->file, file);
    ASSERT_EQ(given->objects.size(), found->objects.size());
    for (size_t k = 0; k < given->objects.size(); ++k) {
      EXPECT_EQ(given->objects[k].box, found->objects[k].box);
      EXPECT_EQ(given->objects[k].mask, found->objects[k].mask);
    }
  }
}

TEST_F(DetectionTest, GoesOnWithoutImagesThatAreDamaged) {
  const auto file = data_ / "images" / "val" / "000002.png";
  std::filesystem::resize_file(file, 50);
  const auto evaluated = [&](const std::string& rule) {
    const auto task = plan({"data.on_bad_image=\"" + rule + "\""}).build(Splits::test);
    task->model().eval();
    return task->evaluate([](int64_t, int64_t) {});
  };
  EXPECT_NE(test::thrown_message<io::Error>([&] { evaluated("stop"); }).find(file.string()), std::string::npos);
  EXPECT_TRUE(evaluated("skip").find("box_ap").has_value());
}

// What an evaluation found, and its numbers.
std::string found_by(
    Task& task, const train::EvaluationProgress& progress = [](int64_t, int64_t) {}) {
  task.model().eval();
  const train::Metrics metrics = task.evaluate(progress);
  EXPECT_TRUE(metrics.find("mask_ap"));
  return task.evaluation_details();
}

struct Left {};

TEST_F(DetectionTest, AnEvaluationThatWasCutGoesOn) {
  const std::vector<std::string> settings{"train.batch_size=2", "data.on_bad_image=\"stop\""};
  const std::string whole = found_by(*plan(settings).build(Splits::test));
  const auto kept = folder_ / "kept.jsonl";
  const auto keeping = [&] {
    auto task = plan(settings).build(Splits::test);
    task->keep_evaluations_in(kept);
    return task;
  };
  EXPECT_THROW(found_by(*keeping(),
                        [](int64_t done, int64_t) {
                          if (done == 4) throw Left();
                        }),
               Left);
  // As a process that is killed in the middle of its second batch leaves it.
  std::string records = test::read_bytes(kept);
  EXPECT_EQ(std::ranges::count(records, '\n'), 4);
  // Marks the first record as one of the interrupted evaluation.
  const auto marked = [](std::string text) { return text.insert(text.find(",\"source\""), ",\"of\":\"before\""); };
  const auto is_of_before = [&] { return test::read_bytes(kept).find(R"("of":"before")") != std::string::npos; };
  test::write_bytes(kept, marked(records.substr(0, records.rfind('\n', records.size() - 2) + 1)));
  // The first two images are not looked at again: their batch is done. The third is, and counts once.
  EXPECT_EQ(found_by(*keeping()), whole);
  EXPECT_TRUE(is_of_before());
  EXPECT_EQ(found_by(*keeping()), whole) << "all is there";
  std::ofstream(kept, std::ios::app) << R"({"ind)";  // torn
  EXPECT_EQ(found_by(*keeping()), whole);
  EXPECT_TRUE(is_of_before());
  {
    const auto other = keeping();
    const at::NoGradGuard no_grad;
    other->model().parameters().front().add_(1);
    found_by(*other);
    EXPECT_FALSE(is_of_before()) << "other weights begin anew";
  }
  EXPECT_EQ(found_by(*keeping()), whole);
  test::write_bytes(kept, marked(test::read_bytes(kept)));
  std::filesystem::resize_file(data_ / "images" / "val" / "000001.png", 50);
  EXPECT_THROW(found_by(*keeping()), io::Error) << "an image with other bytes is looked at again";
  EXPECT_FALSE(is_of_before());
}

TEST_F(DetectionTest, EvaluatesByWhatItAnswers) {
  const auto task = plan({"train.batch_size=2"}).build(Splits::test);
  task->model().eval();
  test::expect_records_are_the_evaluation(*task);
}

// Pictures of three sizes: batches have pictures of one size, and records keep the order of the data.
class MixedPicturesTest : public DetectionTest {
 protected:
  MixedPicturesTest() {
    std::filesystem::remove_all(data_);
    test::write_mixed_scenes(data_, /*train=*/4, /*validation=*/40);
  }
};

TEST_F(MixedPicturesTest, AreAnsweredInTheirOrderWhereverAnEvaluationBegins) {
  for (const char* batch : {"train.batch_size=1", "train.batch_size=2", "train.batch_size=3", "train.batch_size=8"}) {
    const auto task = plan({batch}).build(Splits::test);  // 40 pictures are up to three windows
    task->model().eval();
    const std::vector<Record> records = test::expect_records_are_the_evaluation(*task);
    EXPECT_EQ(records.size(), 40U) << batch;
  }
}

TEST_F(MixedPicturesTest, GiveANumberThatDoesNotDependOnTheBatch) {
  const auto metrics_of = [&](const std::string& batch) {
    const auto task = plan({"train.batch_size=" + batch}).build(Splits::test);
    task->model().eval();
    return task->evaluate([](int64_t, int64_t) {});
  };
  const train::Metrics alone = metrics_of("1");
  for (const char* batch : {"2", "8"}) {
    const train::Metrics together = metrics_of(batch);
    for (const char* name : {"box_ap", "mask_ap", "box_ar100"})
      EXPECT_NEAR(alone.find(name).value(), together.find(name).value(), 1e-9) << name << " of " << batch;
  }
}

TEST_F(MixedPicturesTest, LeaveOutAPictureThatCannotBeRead) {
  std::filesystem::resize_file(data_ / "images" / "val" / "000002.png", 50);
  const auto task = plan({"data.on_bad_image=\"skip\"", "train.batch_size=2"}).build(Splits::test);
  task->model().eval();
  const std::vector<Record> records = test::expect_records_are_the_evaluation(*task);
  for (size_t i = 0; i < records.size(); ++i)
    EXPECT_EQ(found_objects_from_json(records[i])->problem.empty(), i != 1) << i;
}

TEST_F(MixedPicturesTest, KnowTheDigestsOfTheEarlierRule) {
  const auto task = plan({"train.batch_size=2"}).build(Splits::test);
  auto& detection = dynamic_cast<Detection&>(*task);
  EXPECT_NE(detection.earlier_digest(2), detection.sample_digest(2));
  EXPECT_NE(detection.earlier_digest(2), detection.earlier_digest(3)) << "of the same batch, at another place";
}

TEST_F(DetectionTest, MeasuresByItsRecords) {
  const auto task = plan().build(Splits::test);
  auto& detection = dynamic_cast<Detection&>(*task);
  detection.model().eval();
  const train::Metrics metrics = detection.evaluate([](int64_t, int64_t) {});
  const std::string details = detection.evaluation_details(), table = detection.evaluation_table();
  std::vector<Record> records;
  detection.answer_evaluation(0, {}, [&](const Record& record) { records.push_back(record); });
  const auto measured = [&](size_t from, size_t to) {
    size_t next = from;
    return detection.evaluate_records(
        [&]() -> std::optional<Record> { return next == to ? std::nullopt : std::optional(records[next++]); });
  };
  EXPECT_EQ(measured(0, 5), metrics);
  EXPECT_EQ(detection.evaluation_details(), details);
  EXPECT_NE(
      table.find("IoU metric: segm\n Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0."),
      std::string::npos)
      << table;
  EXPECT_NE(table.find("\nAP and its standard error over the images: bbox 0."), std::string::npos) << table;
  const auto read = detection_evaluation_from_json(details, 6);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->metrics(), metrics);
  EXPECT_EQ(coco_table(*read), table);
  const auto said = [](const auto& act) { return test::thrown_message<std::runtime_error>(act); };
  EXPECT_NE(said([&] { measured(0, 4); }).find("the evaluation is incomplete: there are records of 4 of 5 images"),
            std::string::npos);
  EXPECT_NE(said([&] { measured(1, 5); }).find("record 0 does not belong to image 0"), std::string::npos);
  records[0] = "{\"index\":0}\n";
  EXPECT_NE(said([&] { measured(0, 5); }).find("is not a result of this detector"), std::string::npos);
  records[0] = R"({"index":0,"image_id":1,"detections":[{"label":6,"class":"?","score":1,"bbox":[0,0,9,9]}]})";
  EXPECT_NE(said([&] { measured(0, 5); }).find("is not a result of this detector"), std::string::npos);
  records[0] = R"({"index":0,"image_id":1,"detections":[{"label":1,"class":"?","score":1,"bbox":[0,0,9,9],)"
               R"("segmentation":{"size":[2,2],"counts":"4"}}]})";
  EXPECT_NE(said([&] { measured(0, 5); }).find("record 0 does not belong to image 0"), std::string::npos);
}

TEST_F(DetectionTest, MeasuresEveryBoxWhateverItsMaskAndArea) {
  trained(folder_ / "run");
  const auto file = data_ / "annotations" / "instances_val.json";
  const nlohmann::json original = nlohmann::json::parse(test::read_bytes(file));
  const auto evaluated = [&](const std::function<void(nlohmann::json & annotation, size_t number)>& change) {
    nlohmann::json changed = original;
    for (size_t i = 0; i < changed["annotations"].size(); ++i) change(changed["annotations"][i], i);
    test::write_bytes(file, changed.dump());
    const SavedRun saved = open_saved_run(folder_ / "run");
    return load(saved)->evaluate([](int64_t, int64_t) {});
  };
  const train::Metrics whole = evaluated([](auto&, size_t) {});
  ASSERT_GT(whole.find("box_ap").value(), 0);
  ASSERT_GT(whole.find("mask_ap").value(), 0);
  const train::Metrics maskless = evaluated([](auto& annotation, size_t i) {
    if (i % 2 == 0) annotation.erase("segmentation");
  });
  for (const auto& [name, value] : whole) {
    if (!name.starts_with("box_")) continue;
    EXPECT_EQ(maskless.find(name), value) << name;
  }
  EXPECT_NE(maskless.find("mask_ap"), whole.find("mask_ap"));
  // COCO's numbers over all sizes take objects without area, too.
  const train::Metrics without_area = evaluated([](auto& annotation, size_t i) {
    if (i % 2 == 0) annotation.erase("segmentation");
    if (i % 2 == 0) annotation["area"] = 0;
  });
  for (const char* name : {"box_ap", "box_ap50", "box_ap75", "box_ar1", "box_ar10", "box_ar100"})
    EXPECT_EQ(without_area.find(name), whole.find(name)) << name;
}

TEST_F(DetectionTest, HasNoNumberWhereNothingCanBeMeasured) {
  const auto file = data_ / "annotations" / "instances_val.json";
  nlohmann::json instances = nlohmann::json::parse(test::read_bytes(file));
  instances["annotations"] = nlohmann::json::array();
  test::write_bytes(file, instances.dump());
  const auto task = plan().build(Splits::test);
  ASSERT_EQ(task->data_notes().size(), 2U);
  EXPECT_NE(task->data_notes()[0].find("does not store the names of its classes"), std::string::npos);
  EXPECT_EQ(task->data_notes()[1], file.string() + ": has no object of the model's classes, so AP cannot be measured");
  task->model().eval();
  const train::Metrics metrics = task->evaluate([](int64_t, int64_t) {});
  for (const char* name : {"box_ap", "mask_ap"}) EXPECT_TRUE(std::isnan(metrics.find(name).value())) << name;
  // A run is trained all the same, and no checkpoint of it is the best.
  EXPECT_EQ(trained(folder_ / "run").step, 9);
}

// Every picture of the validation set stored turned by 90°, with an EXIF block for it.
void turn_pictures(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const at::Tensor upright = io::decode_png(io::read_file(entry.path(), 1 << 20), "picture");
    const auto stored = io::encode_png(upright.rot90(1));  // counterclockwise; EXIF's 6 turns it back
    test::write_bytes(entry.path(), test::with_png_exif(test::text_of(stored), 6));
  }
}

TEST_F(DetectionTest, AppliesTheOrientationOfPictures) {
  const auto run = folder_ / "run";
  trained(run);
  const auto numbers = [&](const std::vector<std::string>& settings = {}) {
    return load(open_saved_run(run, settings))->evaluate([](int64_t, int64_t) {});
  };
  const train::Metrics upright = numbers();
  ASSERT_GT(upright.find("box_ap").value(), 0);
  turn_pictures(data_ / "images" / "val");
  EXPECT_EQ(numbers(), upright);
  const train::Metrics stored = numbers({"data.orientation=\"ignore\""});
  EXPECT_NE(stored.find("box_ap"), upright.find("box_ap"));
  // A picture that is given, and what is drawn over it.
  const auto task = load(open_saved_run(run), Splits::given);
  auto& detection = dynamic_cast<Detection&>(*task);
  const auto wide = folder_ / "wide.png";
  test::write_plain_png(wide, 90, 40, 9);
  test::write_bytes(wide, test::with_png_exif(test::read_bytes(wide), 6));
  PreparedSamples samples;
  samples.push_back(detection.prepare_given(wide.string()));
  const std::string picture = detection.picture_of_answer(*samples[0], detection.answer_given(samples, {}).at(0), 0);
  const at::Tensor drawn = io::decode_png(std::as_bytes(std::span(picture)), "picture");
  EXPECT_EQ(drawn.size(0) * 90, drawn.size(1) * 40);

  // A run of before the key ignores orientations, as it was trained; the key may still be given.
  const auto resolved = train::RunFolder::open(run).resolved();
  std::string recipe = test::read_bytes(resolved);
  const size_t key = recipe.find("orientation = \"apply\"");
  ASSERT_NE(key, std::string::npos);
  test::write_bytes(resolved, recipe.erase(key, recipe.find('\n', key) + 1 - key));
  EXPECT_EQ(numbers(), stored);
  EXPECT_EQ(numbers({"data.orientation=\"apply\""}), upright);
  const SavedRun old = open_saved_run(run);
  EXPECT_NE(old.recipe.find("orientation = \"ignore\""), std::string::npos);
  EXPECT_EQ(old.what_answers_depend_on.find("orientation"), std::string::npos) << "its saved answers stay its own";
}

TEST_F(DetectionTest, AnswersImagesWithoutAnnotations) {
  const auto file = data_ / "annotations" / "instances_val.json";
  nlohmann::json instances = nlohmann::json::parse(test::read_bytes(file));
  instances.erase("annotations");
  test::write_bytes(file, instances.dump());
  const auto task = plan().build(Splits::test);
  ASSERT_FALSE(task->data_notes().empty());
  EXPECT_EQ(task->data_notes().back(), file.string() +
                                           ": has no 'annotations', so AP cannot be measured; `eval -o "
                                           "FOLDER` writes results for submission");
  auto& detection = dynamic_cast<Detection&>(*task);
  detection.model().eval();
  std::vector<Record> records;
  detection.answer_evaluation(0, {}, [&](const Record& record) { records.push_back(record); });
  EXPECT_EQ(records.size(), 5U);
  size_t next = 0;
  const auto files = detection.results_of_evaluation(
      [&]() -> std::optional<Record> { return next == 5 ? std::nullopt : std::optional(records[next++]); });
  EXPECT_EQ(files.size(), 2U);
  EXPECT_NE(files[0].bytes.find("\"image_id\": 5"), std::string::npos);
  EXPECT_EQ(test::thrown_message<io::Error>([&] { plan().build(); }),
            file.string() +
                ": has no 'annotations' to evaluate with during training; data.validation_annotations must "
                "name a file with annotations");
  const auto training = data_ / "annotations" / "instances_train.json";
  std::filesystem::copy_file(file, training, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(test::thrown_message<io::Error>([&] { plan({"data.evaluate_on=\"training\""}).build(); }),
            training.string() +
                ": has no 'annotations', which training needs; set data.train_annotations to a COCO file with "
                "annotations");
}

TEST_F(DetectionTest, WritesResultsOfBoxesAndMasksApart) {
  const auto task = plan().build(Splits::test);
  auto& detection = dynamic_cast<Detection&>(*task);
  detection.model().eval();
  std::vector<Record> records;
  size_t objects = 0;
  detection.answer_evaluation(0, {}, [&](const Record& record) {
    records.push_back(record);
    objects += found_objects_from_json(record)->objects.size();
  });
  ASSERT_GT(objects, 0U);
  size_t next = 0;
  const auto files = detection.results_of_evaluation([&]() -> std::optional<Record> {
    return next == records.size() ? std::nullopt : std::optional(records[next++]);
  });
  ASSERT_EQ(files.size(), 2U);
  for (const NamedFile& file : files) {
    const bool masks = file.name == "segm.json";
    EXPECT_TRUE(masks || file.name == "bbox.json");
    size_t count = 0;
    data::parse_coco_results(file.bytes, file.name, [&](const data::CocoDetection& entry) {
      ++count;
      EXPECT_EQ(entry.mask.has_value(), masks);
      EXPECT_EQ(entry.box.has_value(), !masks);
      EXPECT_TRUE(entry.image_id >= 1 && entry.image_id <= 5 && entry.category_id >= 1 && entry.category_id <= 6);
    });
    EXPECT_EQ(count, objects);
  }
}

TEST_F(DetectionTest, ClassesThatTheFileLacksHaveCategoriesOfTheirOwnInResults) {
  // The file has the first six as 1 to 6. 6 is taken, 7 is free.
  const auto task = plan({"data.classes=8",
                          R"(data.class_names=["disc", "square", "triangle", "star", "cross", "ring", "moon", "sun"])",
                          "data.category_ids=[11, 12, 13, 14, 15, 16, 6, 7]"})
                        .build(Splits::test);
  FoundObjects found;
  for (int64_t label = 0; label < 8; ++label) found.objects.push_back({label, 0.5, {1, 1, 9, 9}, std::nullopt});
  std::optional<Record> record = to_json_line(found, std::vector<std::string>(8, "name"));
  const auto files =
      dynamic_cast<Detection&>(*task).results_of_evaluation([&] { return std::exchange(record, std::nullopt); });
  std::vector<int64_t> ids;
  data::parse_coco_results(files.at(0).bytes, "bbox.json",
                           [&](const data::CocoDetection& entry) { ids.push_back(entry.category_id); });
  EXPECT_EQ(ids, (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 17, 7}));
}

TEST_F(DetectionTest, CanBeLookedInto) {
  trained(folder_ / "run", {"train.limit=\"4 steps\""});
  AnalysedRun run("run", folder_ / "run", {}, {5, 8, 4}, c10::kCPU);
  auto found = test::all_measured(run);
  for (const char* word : {"caches", "gates", "maps", "interventions", "similarity", "kernels"})
    EXPECT_TRUE(found.contains(word)) << word;
  const nlohmann::json& sample = found["maps"]["samples"][1];
  EXPECT_EQ(sample["name"], "000002.png");
  // Four stages of one block, of which three are shown; the picture is filled up to 64 by 64, of patches of 4.
  ASSERT_EQ(sample["maps"].size(), 9u);
  EXPECT_EQ(sample["maps"][0]["grid"], (std::vector<int64_t>{16, 16}));
  EXPECT_TRUE(sample["maps"][0].contains("picture"));
  EXPECT_TRUE(found["interventions"].dump().find("box_ap") != std::string::npos);
}

TEST_F(DetectionTest, MayBeEvaluatedOnWhatItLearns) {
  const auto task = plan({"data.evaluate_on=\"training\"", "data.limit=4", "train.batch_size=2"}).build();
  EXPECT_EQ(task->evaluation_size(), 4);
  const auto digests = task->data_fingerprints();
  EXPECT_EQ(digests.at("training"), digests.at("evaluation"));
  EXPECT_TRUE(task->data_notes().empty()) << "a subset leaves nothing out by rule";
  const auto alone = plan({"data.evaluate_on=\"training\"", "data.limit=4"}).build(Splits::test);
  EXPECT_EQ(alone->evaluation_size(), 4);
  EXPECT_NE(test::thrown_message<config::Error>([&] { plan({"data.evaluate_on=\"test\""}); }).find("data.evaluate_on"),
            std::string::npos);
}

TEST_F(DetectionTest, ARunKeepsTheNamesOfItsClasses) {
  const SavedFiles keep = plan().task->files_to_keep();
  EXPECT_EQ(keep.settings,
            (std::vector<std::string>{R"(data.class_names=["disc", "square", "triangle", "star", "cross", "ring"])",
                                      "data.category_ids=[1, 2, 3, 4, 5, 6]", R"(data.other_categories="refuse")"}));
  EXPECT_EQ(plan({"data.other_categories=leave_out"}).task->files_to_keep().settings.size(), 2U);
  const std::vector<std::string> two{R"(data.class_names=["ring", "disc"])", "data.classes=2"};
  EXPECT_EQ(plan(two).task->files_to_keep().settings, std::vector<std::string>{"data.category_ids=[6, 1]"});
  EXPECT_NE(test::thrown_message<config::Error>([&] {
              plan({two[0], two[1], "data.category_ids=[6]"});
            }).find("data.category_ids: must have as many entries as class_names (2)"),
            std::string::npos);
  EXPECT_TRUE(plan(keep.settings).task->files_to_keep().settings.empty());
  EXPECT_TRUE(plan({"data.root=\"nowhere\""}).task->files_to_keep().settings.empty());
  EXPECT_TRUE(plan({"data.classes=5"}).task->files_to_keep().settings.empty()) << "building says what is wrong";
}

TEST_F(DetectionTest, TakesImagesOfAnyProportion) {
  const auto task = plan({"data.transform.long_side=256"}).build(Splits::test);
  auto& detection = dynamic_cast<Detection&>(*task);
  detection.model().eval();
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{40, 12000}, {12000, 40}, {1, 20000}, {1, 1}}) {
    const auto file = folder_ / "wide.png";
    test::write_plain_png(file, height, width, 90);
    PreparedSamples samples;
    samples.push_back(detection.prepare_given(file.string()));
    const Record record = detection.answer_given(samples, {}).at(0);
    const auto found = found_objects_from_json(record);
    ASSERT_TRUE(found.has_value());
    for (const FoundObject& object : found->objects) {
      EXPECT_EQ(object.mask->size(), (geometry::Size{height, width}));
      EXPECT_LE(object.box.right, static_cast<double>(width));
    }
    const std::string picture = detection.picture_of_answer(*samples[0], record, 0);
    const auto drawn = io::decode_png(std::as_bytes(std::span(picture)), "picture");
    EXPECT_GE(drawn.size(0), height);
    EXPECT_GE(drawn.size(1), width);
  }
}

TEST_F(DetectionTest, ItsBackboneBeginsWithAClassifiers) {
  config::Document recipe = config::Document::from_text(R"([model]
name = "pvt_tiny"
image_size = 32
embed_dims = [8, 16, 16, 32]
depths = [1, 1, 1, 1]
num_heads = [1, 2, 2, 4]
mlp_ratios = [1, 1, 1, 1]
[model.cache]
kind = "grc"
)",
                                                        "classifier.toml");
  const auto classifier = models::read_image_classifier(recipe.root().table("model")).build();
  io::TensorMap weights = io::state_dict(*classifier);
  for (auto& [name, tensor] : weights) {
    if (tensor.is_floating_point()) tensor.uniform_(1, 2);
  }
  io::write_safetensors(folder_ / "classifier.safetensors", weights);
  const auto task = plan().build();
  const WeightImportReport report = import_weights(task->model(), folder_ / "classifier.safetensors");
  EXPECT_TRUE(report.missing.empty() && report.left_over.empty());
  EXPECT_FALSE(report.classifying.empty());
  int64_t caches = 0, shares = 0;
  for (const auto& [name, tensor] : io::state_dict(task->model())) {
    if (!name.starts_with("backbone.")) continue;
    const auto found = weights.find(name.substr(9));
    if (name.ends_with("cache.tokens")) {
      ++caches;
      EXPECT_EQ(tensor.abs().sum().item<double>(), 0) << name << ": a cache begins empty";
    } else if (!name.ends_with("pos_embed") && tensor.is_floating_point()) {
      shares += name.ends_with("share") || name.find("_gate.") != std::string::npos ? 1 : 0;
      ASSERT_NE(found, weights.end()) << name;
      EXPECT_TRUE(tensor.equal(found->second)) << name;
    }
  }
  EXPECT_GT(caches, 0);
  EXPECT_GT(shares, caches) << "gates and shares are the classifier's";
  EXPECT_EQ(report.resized.size(), 4U);
}

TEST_F(DetectionTest, RefusesASetOfOtherClasses) {
  EXPECT_NE(test::thrown_message<std::invalid_argument>([&] {
              plan({"data.classes=5"}).build();
            }).find("has 6 categories, but the model has 5 classes; set data.classes, or list the categories"),
            std::string::npos);
  EXPECT_NE(test::thrown_message<io::Error>([&] {
              plan({"data.class_names=[\"disc\", \"cube\"]", "data.classes=2"}).build();
            }).find("has no category 'cube'"),
            std::string::npos);
  EXPECT_NE(
      test::thrown_message<config::Error>([&] { plan({"model.classes=9"}); }).find("must be equal to data.classes (6)"),
      std::string::npos);
  EXPECT_EQ(plan({"data.class_names=[\"ring\", \"disc\"]", "data.classes=2"}).build()->evaluation_size(), 5);
}

TEST_F(DetectionTest, IsTriedWithMadeUpScenes) {
  const RecipePlan small = reduced(plan({"data.root=\"nowhere\""}));
  const auto task = small.build(Splits::synthetic);
  const DryRun tried = dry_run(*task, small.training);
  EXPECT_GT(tried.step_seconds, 0);
}

// Images are as large as the largest of a process's part, so the whole batch's are not.
TEST_F(DetectionTest, IsTrainedByTwoProcesses) {
  const test::JointSteps left = test::train_joint_steps(plan({"optimizer.kind=\"sgd\""}), 4, Splits::both);
  test::expect_alike(left);
  EXPECT_TRUE(std::isfinite(left.losses[1]));
}

}  // namespace
}  // namespace cachet::tasks
