#include "cachet/tasks/samples/given_samples.h"

#include <gtest/gtest.h>

#include "cachet/io/error.h"

namespace cachet::tasks {
namespace {

/// Answers a text by itself, knows no "bad" one, and keeps how many it got at once.
class Echo : public Predictor {
 public:
  SampleForm sample_form() const override { return SampleForm::text; }
  std::unique_ptr<PreparedSample> prepare_given(const std::string& sample) override {
    if (sample == "bad") throw io::Error("is bad");
    prepared.push_back(sample);
    return std::make_unique<PreparedSample>();
  }
  std::vector<Record> answer_given(const PreparedSamples& samples, const AnswerOptions&) override {
    batches.push_back(samples.size());
    std::vector<Record> records;
    for (const auto& sample : samples) records.push_back(sample->given + "!");
    return records;
  }

  std::vector<std::string> prepared;
  std::vector<size_t> batches;
};

struct Answered {
  int64_t count = -1;
  std::vector<std::pair<int64_t, Record>> records;
  std::string error;
};

Answered answered(Echo& echo, const std::vector<std::string>& texts, const GivenOptions& options, int64_t done = 0) {
  size_t next = 0;
  const auto next_sample = [&]() -> std::optional<GivenSample> {
    if (next == texts.size()) return std::nullopt;
    const std::string place = "list:" + std::to_string(next + 1);
    return GivenSample{texts[next++], place};
  };
  Answered result;
  try {
    result.count = answer_all_given(
        echo, next_sample, options, [&](int64_t index, const std::string&) { return index < done; },
        [&](const PreparedSample& sample, const Record& record) { result.records.emplace_back(sample.index, record); });
  } catch (const io::Error& error) {
    result.error = error.what();
  }
  return result;
}

TEST(AnswerAllGiven, AnswersInOrderSeveralAtOnce) {
  Echo echo;
  const Answered all = answered(echo, {"a", "b", "c", "d", "e"}, {.batch = 2});
  EXPECT_EQ(all.count, 5);
  EXPECT_EQ(all.records,
            (std::vector<std::pair<int64_t, Record>>{{0, "a!"}, {1, "b!"}, {2, "c!"}, {3, "d!"}, {4, "e!"}}));
  EXPECT_EQ(echo.batches, (std::vector<size_t>{2, 2, 1}));
  EXPECT_EQ(answered(echo, {}, {}).count, 0);
}

TEST(AnswerAllGiven, NeitherReadsNorAnswersWhatIsSkipped) {
  Echo echo;
  const Answered rest = answered(echo, {"bad", "b", "c"}, {.batch = 8}, /*done=*/1);
  EXPECT_EQ(rest.count, 3);
  EXPECT_EQ(rest.records, (std::vector<std::pair<int64_t, Record>>{{1, "b!"}, {2, "c!"}}));
  EXPECT_EQ(echo.prepared, (std::vector<std::string>{"b", "c"}));
}

TEST(AnswerAllGiven, AnswersWhatStandsBeforeABadSample) {
  for (const int64_t batch : {1, 2, 8}) {
    Echo echo;
    const Answered before = answered(echo, {"a", "b", "c", "bad", "d"}, {.batch = batch});
    EXPECT_EQ(before.error, "list:4: is bad");
    EXPECT_EQ(before.records, (std::vector<std::pair<int64_t, Record>>{{0, "a!"}, {1, "b!"}, {2, "c!"}}));
  }
}

TEST(AnswerAllGiven, GoesOnBehindABadSampleWhereAsked) {
  for (const int64_t batch : {1, 2, 8}) {
    Echo echo;
    const Answered all =
        answered(echo, {"bad", "b", "bad", "d"}, {.batch = batch, .unreadable = UnreadableSamples::record});
    EXPECT_EQ(all.count, 4);
    EXPECT_EQ(all.error, "");
    ASSERT_EQ(all.records.size(), 4U);
    EXPECT_EQ(all.records[0].second, "{\"index\":0,\"text\":\"bad\",\"error\":\"list:1: is bad\"}\n");
    EXPECT_EQ(all.records[1].second, "b!");
    EXPECT_EQ(all.records[2].first, 2);
    EXPECT_EQ(all.records[3].second, "d!");
  }
}

TEST(AnswerAllGiven, OneAtATimeReadsNothingAhead) {
  Echo echo;
  size_t answers = 0, next = 0;
  answer_all_given(
      echo,
      [&]() -> std::optional<GivenSample> {
        EXPECT_EQ(answers, next) << "asked for a line before the last one was answered";
        if (next == 3) return std::nullopt;
        return GivenSample{std::to_string(next++), ""};
      },
      {.batch = 1}, [](int64_t, const std::string&) { return false; },
      [&](const PreparedSample&, const Record&) { ++answers; });
  EXPECT_EQ(answers, 3U);
}

}  // namespace
}  // namespace cachet::tasks
