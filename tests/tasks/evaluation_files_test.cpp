#include "cachet/tasks/evaluation_files.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cachet/io/error.h"
#include "tests/support/thrown_message.h"

namespace cachet::tasks {
namespace {

constexpr const char* kSkip = "data.on_bad_image = \"skip\"";

std::string refusal(const EvaluationFiles& files) {
  return test::thrown_message<io::Error>([&] { checked(files); });
}

TEST(EvaluationFiles, ThatCanBeReadAreNoMatter) {
  EXPECT_TRUE(checked({}).empty());
  EXPECT_TRUE(checked({.faults = {.files = 4}}).empty());
}

TEST(EvaluationFiles, ThatCannotBeReadAreRefusedByName) {
  EXPECT_EQ(refusal({.faults = {4, 1, "a.png: is empty"}}),
            "1 of the 4 files of the evaluation cannot be read: a.png: is empty; put it back");
  EXPECT_EQ(refusal({.faults = {4, 3, "a.png: is empty"}, .setting_to_skip = kSkip}),
            "3 of the 4 files of the evaluation cannot be read; the first: a.png: is empty; put them back, or set "
            "data.on_bad_image = \"skip\" to continue without such files");
}

TEST(EvaluationFiles, ThatARecipeLeavesOutAreCounted) {
  EXPECT_EQ(checked({.faults = {4, 3, "a.png: is empty"}, .setting_to_skip = kSkip, .skips = true}),
            std::vector<std::string>{
                "3 of the 4 files of the evaluation cannot be read. The evaluation continues without them "
                "(data.on_bad_image = \"skip\"); the first: a.png: is empty"});
}

}  // namespace
}  // namespace cachet::tasks
