#include "cachet/tasks/classification/prediction.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/tensors/png.h"
#include "cachet/tasks/samples/records.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/given_predictions.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

using test::TemporaryDirectory;

std::unique_ptr<ImageClassification> tiny_task(const TemporaryDirectory& folder) {
  test::write_tiny_images(folder / "images");
  config::Document document = test::tiny_document(folder / "images");
  auto task = test::as_images(read_recipe(document).build());
  task->model().eval();
  return task;
}

TEST(Predictions, OfFilesAreThoseOfTheSameTestImages) {
  const TemporaryDirectory folder;
  const auto task = tiny_task(folder);
  std::vector<std::string> files;
  for (int64_t i = 0; i < 3; ++i) {
    files.push_back((folder / (std::to_string(i) + ".png")).string());
    io::write_file_atomically(files.back(),
                              io::encode_png(task->test_images().images().image(i).permute({1, 2, 0}).contiguous()));
  }
  const auto of_files = test::given_predictions(*task, files, 4);
  std::vector<Prediction> of_data;
  task->predict(0, {.top = 4}, [&](const Prediction& p) { of_data.push_back(p); });
  ASSERT_EQ(of_files.size(), 3U);
  ASSERT_EQ(of_data.size(), 33U);
  for (size_t i = 0; i < of_files.size(); ++i) {
    EXPECT_EQ(of_files[i].file, files[i]);
    EXPECT_EQ(of_data[i].label, static_cast<int64_t>(i) % 4);
    for (size_t guess = 0; guess < 4; ++guess) {
      EXPECT_EQ(of_files[i].top[guess].label, of_data[i].top[guess].label);
      // A batch of one and a batch of eight may add in another order.
      EXPECT_NEAR(of_files[i].top[guess].probability, of_data[i].top[guess].probability, 1e-5);
    }
  }
}

TEST(Predictions, BeginWhereTheyAreToldTo) {
  const TemporaryDirectory folder;
  const auto task = tiny_task(folder);
  std::vector<int64_t> indices;
  task->predict(13, {.top = 1}, [&](const Prediction& p) { indices.push_back(p.index); });
  ASSERT_EQ(indices.size(), 20U);
  EXPECT_EQ(indices.front(), 13);
  EXPECT_EQ(indices.back(), 32);
}

TEST(Predictions, HaveTheLogitsOfEveryClassWhereTheyAreAskedFor) {
  const TemporaryDirectory folder;
  const auto task = tiny_task(folder);
  std::vector<Prediction> predictions;
  task->predict(0, {.top = 4, .logits = true}, [&](const Prediction& p) { predictions.push_back(p); });
  ASSERT_EQ(predictions.size(), 33U);
  for (const Prediction& prediction : predictions) {
    ASSERT_EQ(prediction.logits.size(), 4U);
    double sum = 0;
    for (const double logit : prediction.logits) sum += std::exp(logit);
    for (const Prediction::Guess& guess : prediction.top)
      EXPECT_NEAR(guess.probability, std::exp(prediction.logits[static_cast<size_t>(guess.label)]) / sum, 1e-6);
    EXPECT_GT(std::abs(std::log(sum)), 1e-3) << "they are no log-probabilities";
    EXPECT_EQ(nlohmann::json::parse(to_json_line(prediction, task->class_names()))["logits"].size(), 4U);
  }
  task->predict(32, {.top = 1}, [&](const Prediction& p) { predictions.push_back(p); });
  EXPECT_TRUE(predictions.back().logits.empty());
}

TEST(Predictions, GuessesAreSorted) {
  const auto guesses = top_guesses(at::tensor({0.2F, 0.5F, 0.3F}), 2);
  ASSERT_EQ(guesses.size(), 2U);
  EXPECT_EQ(guesses[0].label, 1);
  EXPECT_EQ(guesses[1].label, 2);
  EXPECT_EQ(top_guesses(at::tensor({0.2F, 0.8F}), 9).size(), 2U) << "no more than there are";
}

TEST(Predictions, AreOneJsonLineEach) {
  const std::string line = to_json_line({7, "", "", 1, {{0, 0.75}, {1, 0.25}}}, {"cat \"x\"", "dog"});
  EXPECT_EQ(line.back(), '\n');
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["index"], 7);
  EXPECT_EQ(json["label"], 1);
  EXPECT_EQ(json["predicted"], 0);
  EXPECT_EQ(json["top"][0]["class"], "cat \"x\"");
  EXPECT_FALSE(json.contains("file"));
  EXPECT_FALSE(json.contains("logits"));
}

const RecordOrigin kOrigin{"0123456789abcdef", "00112233445566aa"};
const RecordOrigin kOtherModel{"fedcba9876543210", "00112233445566aa"};
const RecordOrigin kOtherBytes{"0123456789abcdef", "00112233445566bb"};

OriginOf always(const RecordOrigin& origin) {
  return [origin](int64_t) { return origin; };
}

Record record_of(int64_t index) { return to_json_line({index, "", "", 1, {{index % 2, 1.0}}}, {"a", "b"}); }

/// As version 0.1.0 wrote it.
std::string old_line(int64_t index) {
  const Record record = record_of(index);
  return record.substr(0, record.size() - 2) + ",\"source\":\"0123456789abcdef\"}\n";
}

TEST(RecordFile, GoesOnBehindTheLastWholeLine) {
  const TemporaryDirectory folder;
  const auto path = folder / "predictions.jsonl";
  {
    RecordFile file(path, EarlierRecords::resumed);
    EXPECT_EQ(file.done(), 0) << "no file yet";
    for (const int64_t index : {0, 1}) file.append(record_of(index), kOrigin);
  }
  const std::string whole = io::read_text_file(path, 1 << 20);
  const auto first = nlohmann::json::parse(whole.substr(0, whole.find('\n')));
  EXPECT_EQ(first["source"], kOrigin.source);
  EXPECT_EQ(first["sample_digest"], kOrigin.sample);
  EXPECT_EQ(first["predicted"], 0) << "the record is as it was otherwise";
  std::ofstream(path, std::ios::app) << "{\"index\":2,\"to";
  EXPECT_EQ(RecordFile(path, EarlierRecords::resumed).done(), 2);
  EXPECT_EQ(io::read_text_file(path, 1 << 20), whole) << "the torn line is cut off";
  EXPECT_EQ(RecordFile(path, EarlierRecords::replaced).done(), 0);
  EXPECT_EQ(std::filesystem::file_size(path), 0U);
}

std::string text_of(const std::filesystem::path& path) { return io::read_text_file(path, 1 << 20); }

TEST(RecordFile, HasOneWriter) {
  const TemporaryDirectory folder;
  const auto path = folder / "predictions.jsonl";
  {
    RecordFile file(path, EarlierRecords::resumed);
    file.append(record_of(0), kOrigin);
    for (const auto earlier : {EarlierRecords::resumed, EarlierRecords::replaced})
      EXPECT_NE(test::thrown_message<io::FileInUse>([&] { RecordFile(path, earlier); }).find("another process"),
                std::string::npos);
    EXPECT_THROW(records_of(path, always(kOrigin)), io::FileInUse);
    file.append(record_of(1), kOrigin);
  }
  EXPECT_EQ(RecordFile(path, EarlierRecords::resumed).done(), 2);
}

TEST(RecordFile, IsNotWrittenThroughALink) {
  const TemporaryDirectory folder;
  std::ofstream(folder / "of_somebody") << "as it was";
  std::filesystem::create_symlink("of_somebody", folder / "link");
  EXPECT_NE(test::thrown_message<io::Error>([&] {
              RecordFile(folder / "link", EarlierRecords::resumed);
            }).find("is a symbolic link"),
            std::string::npos);
  RecordFile(folder / "link", EarlierRecords::replaced).append(record_of(0), kOrigin);
  EXPECT_FALSE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(text_of(folder / "of_somebody"), "as it was");
}

Record plain_record(int64_t index) { return "{\"index\":" + std::to_string(index) + ",\"predicted\":1}\n"; }

/// The lines of some records, each with its source.
std::vector<std::string> lines_of_records(int64_t count) {
  const TemporaryDirectory folder;
  std::vector<std::string> lines;
  for (int64_t i = 0; i < count; ++i) {
    const auto path = folder / std::to_string(i);
    RecordFile(path, EarlierRecords::resumed).append(plain_record(i), kOrigin);
    lines.push_back(text_of(path));
  }
  return lines;
}

TEST(RecordFile, KeepsWhatTwoWritersLeft) {
  const TemporaryDirectory folder;
  const auto path = folder / "predictions.jsonl";
  const std::vector<std::string> record = lines_of_records(4);
  const std::string first_half = record[1].substr(0, record[1].size() / 2),
                    second_half = record[1].substr(first_half.size());
  struct Left {
    std::string text;
    int64_t kept, removed;
  };
  const std::vector<Left> all{
      {record[0] + record[0] + record[1] + record[1] + record[2] + record[2], 3, 3},
      {record[0] + record[1] + record[2] + record[0] + record[1] + record[2], 3, 3},
      {record[0] + record[0] + record[1] + record[2] + record[1], 3, 2},
      {record[0] + first_half + record[1] + second_half + record[1] + record[2], 3, 2},
      {record[0] + first_half + record[1] + second_half + record[2] + record[3], 1, 4},  // record 1 is lost
      {record[0] + record[0] + record[1] + first_half, 2, 2},                            // and one of them was killed
      {record[0] + record[1] + first_half + "\n" + record[2], 3, 1},
  };
  for (const Left& left : all) {
    std::ofstream(path) << left.text;
    {
      RecordFile file(path, EarlierRecords::resumed);
      EXPECT_EQ(file.done(), left.kept) << left.text;
      EXPECT_EQ(file.removed_lines(), left.removed) << left.text;
      for (int64_t i = 0; i < file.done(); ++i) file.require(i, kOrigin);
      EXPECT_THROW(RecordFile(path, EarlierRecords::resumed), io::FileInUse) << "the repaired file is locked";
      for (int64_t i = file.done(); i < 4; ++i) file.append(plain_record(i), kOrigin);
    }
    EXPECT_EQ(text_of(path), record[0] + record[1] + record[2] + record[3]) << left.text;
    EXPECT_EQ(RecordFile(path, EarlierRecords::resumed).removed_lines(), 0);
  }
}

TEST(RecordsOf, StayUpToTheFirstOfAnotherOrigin) {
  const TemporaryDirectory folder;
  const auto path = folder / "evaluation.jsonl";
  for (const int64_t index : {0, 1}) records_of(path, always(kOrigin)).append(record_of(index), kOrigin);
  EXPECT_EQ(records_of(path, always(kOrigin)).done(), 2);
  const NextRecord next = records_in(path, 2);
  EXPECT_NE(next()->find("\"index\":0"), std::string::npos);
  EXPECT_EQ(next()->back(), '\n');
  EXPECT_FALSE(next().has_value());
  const NextRecord more = records_in(path, 3);
  EXPECT_TRUE(more() && more());
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] { more(); }).find("lost predictions"), std::string::npos);
  {
    RecordFile kept = records_of(path, [](int64_t index) { return index == 1 ? kOtherBytes : kOrigin; });
    EXPECT_EQ(kept.done(), 1);
    kept.append(record_of(1), kOtherBytes);
  }
  EXPECT_TRUE(RecordFile(path, EarlierRecords::resumed).is_of(1, kOtherBytes));
  EXPECT_EQ(records_of(path, always(kOtherModel)).done(), 0);
  EXPECT_EQ(std::filesystem::file_size(path), 0U);
  std::ofstream(path) << old_line(0);
  EXPECT_EQ(records_of(path, always(kOrigin)).done(), 0) << "of version 0.1.0";
  std::ofstream(path) << "a letter to my aunt\n";
  EXPECT_EQ(records_of(path, always(kOrigin)).done(), 0);
}

TEST(RecordFile, RefusesRecordsOfSomethingElse) {
  const TemporaryDirectory folder;
  const auto path = folder / "predictions.jsonl";
  const auto said = [&](const std::function<void()>& use) { return test::thrown_message<std::runtime_error>(use); };
  RecordFile(path, EarlierRecords::resumed).append(record_of(0), kOrigin);
  {
    const RecordFile file(path, EarlierRecords::resumed);
    file.require(0, kOrigin);
    file.require_at_most(1);
    EXPECT_NE(said([&] { file.require(0, kOtherModel); }).find("line 1 belongs to another model"), std::string::npos);
    EXPECT_NE(said([&] {
                file.require(0, kOtherBytes);
              }).find("line 1 is the prediction of a sample whose bytes have changed"),
              std::string::npos);
    EXPECT_NE(said([&] { file.require_at_most(0); }).find("has 1 predictions, but only 0 samples"), std::string::npos);
  }
  for (const std::string& text : {std::string("a letter to my aunt\n"), record_of(1), record_of(0) + record_of(0)}) {
    std::ofstream(path) << text;
    EXPECT_NE(said([&] { RecordFile(path, EarlierRecords::resumed); }).find("is not a prediction"), std::string::npos);
    EXPECT_EQ(io::read_text_file(path, 1 << 20), text) << "it is left as it is";
  }
  const std::string mixed = lines_of_records(1).front() + "a letter to my aunt\n";
  std::ofstream(path) << mixed;
  EXPECT_NE(said([&] { RecordFile(path, EarlierRecords::resumed); }).find("line 2 is not a prediction"),
            std::string::npos);
  EXPECT_EQ(io::read_text_file(path, 1 << 20), mixed);
  std::ofstream(path) << record_of(0);
  EXPECT_THROW(RecordFile(path, EarlierRecords::resumed).require(0, kOrigin), std::runtime_error)
      << "older files do not tell";
}

TEST(RecordFile, RecordsThatDoNotTellTheirBytesAreMadeAgain) {
  const TemporaryDirectory folder;
  const auto path = folder / "predictions.jsonl";
  RecordFile(path, EarlierRecords::resumed).append(record_of(0), kOrigin);
  std::ofstream(path, std::ios::app) << old_line(1) << old_line(2);
  RecordFile file(path, EarlierRecords::resumed);
  EXPECT_EQ(file.done(), 3);
  const auto sources = [](const std::string& source) { return [source] { return std::vector<std::string>{source}; }; };
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] {
              require_all(file, always(kOrigin), sources(kOtherModel.source));
            }).find("line 2 belongs to another model"),
            std::string::npos);
  EXPECT_EQ(file.forgotten(), 0);
  require_all(file, always(kOrigin), sources(kOrigin.source));
  EXPECT_EQ(file.done(), 1);
  EXPECT_EQ(file.forgotten(), 2);
  file.append(record_of(1), kOrigin);
  EXPECT_EQ(file.forgotten(), 2);
}

TEST(RecordFile, RecordsOfAnEarlierRuleAreMadeAgain) {
  const TemporaryDirectory folder;
  const auto path = folder / "predictions.jsonl";
  {
    RecordFile file(path, EarlierRecords::resumed);
    file.append(record_of(0), kOrigin);
    for (const int64_t index : {1, 2}) file.append(record_of(index), kOtherBytes);
  }
  RecordFile file(path, EarlierRecords::resumed);
  const auto sources = [] { return std::vector<std::string>(); };
  EXPECT_THROW(require_all(file, always(kOrigin), sources), std::runtime_error) << "no earlier rule";
  EXPECT_THROW(require_all(file, always(kOrigin), sources, always(kOtherModel)), std::runtime_error);
  EXPECT_EQ(file.done(), 3);
  require_all(file, always(kOrigin), sources, always(kOtherBytes));
  EXPECT_EQ(file.done(), 1);
  EXPECT_EQ(file.forgotten(), 0) << "they say which bytes their samples had";
  EXPECT_EQ(file.forgotten(WhyForgotten::earlier_rule), 2);
}

TEST(RecordFile, AllRecordsAreComparedBeforeOneIsForgotten) {
  const TemporaryDirectory folder;
  const auto path = folder / "predictions.jsonl";
  std::string other = old_line(2);
  other.replace(other.find(kOrigin.source), kOrigin.source.size(), kOtherModel.source);
  std::ofstream(path) << old_line(0) << old_line(1) << other;
  const std::string held = io::read_text_file(path, 1 << 20);
  RecordFile file(path, EarlierRecords::resumed);
  const auto sources = [] { return std::vector<std::string>{kOrigin.source}; };
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] {
              require_all(file, always(kOrigin), sources);
            }).find("line 3 belongs to another model"),
            std::string::npos);
  EXPECT_EQ(file.forgotten(), 0);
  EXPECT_EQ(io::read_text_file(path, 1 << 20), held);
}

TEST(RecordFile, CanBePutIntoAnotherOrder) {
  const TemporaryDirectory folder;
  const auto path = folder / "predictions.jsonl", expected = folder / "expected.jsonl";
  const auto write = [](const std::filesystem::path& file, const std::vector<RecordOrigin>& origins) {
    RecordFile records(file, EarlierRecords::resumed);
    for (size_t i = 0; i < origins.size(); ++i)
      records.append(with_index(record_of(7), static_cast<int64_t>(i)), origins[i]);
  };
  write(path, {kOrigin, kOtherBytes, kOtherModel});
  write(expected, {kOtherModel, kOrigin, kOtherBytes});
  RecordFile(path, EarlierRecords::resumed).arrange({2, 0, 1});
  EXPECT_EQ(io::read_text_file(path, 1 << 20), io::read_text_file(expected, 1 << 20));
  EXPECT_EQ(RecordFile(path, EarlierRecords::resumed).done(), 3);
}

TEST(RecordFile, WhatWasMadeAgainStays) {
  const TemporaryDirectory folder;
  const auto path = folder / "predictions.jsonl";
  std::ofstream(path) << old_line(0) << old_line(1);
  const auto sources = [] { return std::vector<std::string>{kOrigin.source}; };
  {
    RecordFile file(path, EarlierRecords::resumed);
    require_all(file, always(kOrigin), sources);
    file.append(record_of(0), kOrigin);
  }
  RecordFile again(path, EarlierRecords::resumed);
  EXPECT_EQ(again.done(), 1);
  require_all(again, always(kOrigin), sources);
  EXPECT_EQ(again.forgotten(), 0);
}

}  // namespace
}  // namespace cachet::tasks
