#include "cachet/train/runs/evaluation_details.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_directory.h"

namespace cachet::train {
namespace {

TEST(EvaluationDetails, AreKept) {
  const test::TemporaryDirectory folder;
  const std::filesystem::path file = folder / "evaluation.json";
  for (const std::string details : {R"({"zebra":[1,2.5,-3e-07],"ant":"the café's \"best\"","none":null})", "[]", "7"}) {
    write_evaluation_details(file, 12, details);
    EXPECT_EQ(read_evaluation_details(file, 12), details);
  }
}

TEST(EvaluationDetails, OfALaterStepAreIgnored) {
  const test::TemporaryDirectory folder;
  const std::filesystem::path file = folder / "evaluation.json";
  write_evaluation_details(file, 12, "{}");
  EXPECT_EQ(read_evaluation_details(file, 11), std::nullopt) << "the run was cut back behind it";
  EXPECT_EQ(read_evaluation_details(file, 12), "{}");
  EXPECT_EQ(read_evaluation_details(file, 20), "{}") << "the run went on, and was not evaluated since";
}

TEST(EvaluationDetails, AreNoneWhereTheFileIsMissingOrDamaged) {
  const test::TemporaryDirectory folder;
  const std::filesystem::path file = folder / "evaluation.json";
  EXPECT_EQ(read_evaluation_details(file, 12), std::nullopt);
  write_evaluation_details(file, 12, R"({"classes":3})");
  std::ifstream written(file);
  const std::string whole{std::istreambuf_iterator<char>(written), {}};
  ASSERT_EQ(read_evaluation_details(file, 12), R"({"classes":3})");
  for (size_t length = 0; length + 2 < whole.size(); ++length) {  // after it there is a line's end
    std::ofstream(file) << whole.substr(0, length);
    EXPECT_EQ(read_evaluation_details(file, 12), std::nullopt) << length;
  }
  for (const char* text :
       {"[]", "7", "null", "{}", R"({"schema":1,"step":3})", R"({"schema":1,"details":{}})",
        R"({"schema":2,"step":3,"details":{}})", R"({"schema":1,"step":"3","details":{}})", "\xff\xfe\x00"}) {
    std::ofstream(file) << text;
    EXPECT_EQ(read_evaluation_details(file, 12), std::nullopt) << text;
  }
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  EXPECT_EQ(read_evaluation_details(file, 12), std::nullopt);
}

}  // namespace
}  // namespace cachet::train
