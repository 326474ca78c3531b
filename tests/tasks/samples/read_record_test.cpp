#include "cachet/tasks/samples/read_record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>

#include "tests/support/thrown_message.h"

namespace cachet::tasks {
namespace {

TEST(ReadRecord, GivesWhatItHas) {
  const ReadRecord record(R"({"index":3,"label":4,"loss":0.1,"ids":[0,5],"values":[1.5,null,2],"right":true})", 3);
  EXPECT_EQ(record.integer("label", 5), 4);
  EXPECT_EQ(record.number("loss"), 0.1);
  EXPECT_EQ(record.integers("ids", 6), (std::vector<int64_t>{0, 5}));
  const std::vector<double> values = record.numbers("values");
  ASSERT_EQ(values.size(), 3U);
  EXPECT_EQ(values[0], 1.5);
  EXPECT_TRUE(std::isnan(values[1])) << "what was not finite is null in JSON";
  EXPECT_TRUE(record.is_true("right"));
  EXPECT_FALSE(record.is_true("wrong"));
}

TEST(ReadRecord, RefusesWhatItHasNot) {
  const auto refusal = [](const std::string& text, const std::function<void(const ReadRecord&)>& ask) {
    return test::thrown_message<std::runtime_error>([&] { ask(ReadRecord(text, 3)); });
  };
  const auto nothing = [](const ReadRecord&) {};
  EXPECT_EQ(refusal(R"({"index":3})", nothing), "(nothing thrown)");
  for (const char* text : {"", "{", "[]", "7", "{}", R"({"index":2})", R"({"index":"3"})", R"({"index":3.0})"})
    EXPECT_NE(refusal(text, nothing).find("record 3 does not belong to this evaluation"), std::string::npos) << text;
  const auto label = [](const ReadRecord& record) { record.integer("label", 5); };
  for (const char* value : {"5", "-1", "1.5", "null", "\"1\"", "[1]", "18446744073709551615"})
    EXPECT_NE(refusal(R"({"index":3,"label":)" + std::string(value) + "}", label).find("record 3"), std::string::npos)
        << value;
  const auto loss = [](const ReadRecord& record) { record.number("loss"); };
  EXPECT_NE(refusal(R"({"index":3,"loss":"0.1"})", loss).find("\"loss\":\"0.1\""), std::string::npos);
  EXPECT_NE(refusal(R"({"index":3})", loss).find("record 3"), std::string::npos);
  const auto lists = [](const ReadRecord& record) {
    record.integers("ids", 6);
    record.numbers("values");
  };
  EXPECT_EQ(refusal(R"({"index":3,"ids":[],"values":[]})", lists), "(nothing thrown)");
  for (const char* text : {R"({"index":3,"ids":[6],"values":[]})", R"({"index":3,"ids":7,"values":[]})",
                           R"({"index":3,"ids":[],"values":["a"]})", R"({"index":3,"ids":[],"values":{"a":1}})"})
    EXPECT_NE(refusal(text, lists).find("record 3"), std::string::npos) << text;
}

TEST(SamplesOfRecords, AreEachThereOnce) {
  SamplesOfRecords samples(3);
  samples.add(2);
  samples.add(0);
  const auto said = [](const auto& act) { return test::thrown_message<std::runtime_error>(act); };
  EXPECT_EQ(said([&] { samples.add(2); }), "record 2 repeats sample 2 of an earlier record");
  EXPECT_EQ(said([&] { samples.require_all("images"); }),
            "the evaluation is incomplete: there are records of 2 of 3 images");
  samples.add(1);
  EXPECT_EQ(samples.records(), 3);
  samples.require_all("images");
}

}  // namespace
}  // namespace cachet::tasks
