#include "cachet/tasks/detection/given_results.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cachet::tasks {
namespace {

using nlohmann::json;

struct Files {
  json results, images;
};

FoundObjects found(int64_t index, const std::string& file) {
  return {.index = index, .file = file, .objects = {{.label = index % 2, .score = 0.5, .box = {0, 0, 2, 3}}}};
}

Files files_of(const std::vector<FoundObjects>& images) {
  GivenResults results({10, 20}, {"disc", "star"});
  for (const FoundObjects& image : images) results.add(image);
  const std::vector<NamedFile> files = std::move(results).finish();
  EXPECT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].name, "results.json");
  EXPECT_EQ(files[1].name, "images.json");
  return {json::parse(files[0].bytes), json::parse(files[1].bytes)};
}

std::vector<int64_t> ids(const json& list, const char* key) {
  std::vector<int64_t> all;
  for (const json& each : list) all.push_back(each.at(key));
  return all;
}

using Ids = std::vector<int64_t>;

TEST(GivenResults, NumbersInNames) {
  EXPECT_EQ(number_in_name("val2017/000000000139.jpg"), 139);
  EXPECT_EQ(number_in_name("0.png"), 0);
  EXPECT_EQ(number_in_name("9007199254740992.png"), int64_t{1} << 53);
  for (const char* name : {"a1.jpg", "1a.jpg", "-1.jpg", "+1.jpg", "1.5.jpg", ".jpg", "", "12/", "9007199254740993.png",
                           "99999999999999999999.jpg", " 1.jpg", "0x1.jpg"})
    EXPECT_EQ(number_in_name(name), std::nullopt) << name;
}

TEST(GivenResults, IdsAreTheNumbersOfNames) {
  const Files files = files_of({found(0, "b/0007.jpg"), found(1, "a/3.png"), found(2, "12.jpg")});
  EXPECT_EQ(ids(files.results, "image_id"), (Ids{7, 3, 12}));
  EXPECT_EQ(files.images.at("images"), json::parse(R"([{"id":7,"file_name":"b/0007.jpg"},
      {"id":3,"file_name":"a/3.png"},{"id":12,"file_name":"12.jpg"}])"));
  EXPECT_EQ(files.images.at("categories"), json::parse(R"([{"id":10,"name":"disc"},{"id":20,"name":"star"}])"));
  EXPECT_EQ(ids(files.results, "category_id"), (Ids{10, 20, 10}));
}

TEST(GivenResults, IdsAreIndicesIfANameIsNoNumberOfItsOwn) {
  for (const char* other : {"cat.jpg", "more/7.png", "007.jpg"}) {
    const Files files = files_of({found(0, "7.jpg"), found(1, "3.jpg"), found(2, other)});
    EXPECT_EQ(ids(files.results, "image_id"), (Ids{0, 1, 2})) << other;
    EXPECT_EQ(ids(files.images.at("images"), "id"), (Ids{0, 1, 2})) << other;
  }
}

TEST(GivenResults, AnImageThatCouldNotBeReadIsInNeither) {
  FoundObjects unreadable{.index = 1, .file = "3.jpg", .problem = "3.jpg: is empty"};
  Files files = files_of({found(0, "7.jpg"), unreadable, found(2, "2.jpg")});
  EXPECT_EQ(ids(files.images.at("images"), "id"), (Ids{7, 2}));
  unreadable.file = "cat.jpg";  // its name counts: the others have the ids that they have once it can be read
  files = files_of({found(0, "7.jpg"), unreadable, found(2, "2.jpg")});
  EXPECT_EQ(ids(files.images.at("images"), "id"), (Ids{0, 2}));
  EXPECT_EQ(ids(files.results, "image_id"), (Ids{0, 2}));
}

TEST(GivenResults, NamesOfAnyBytesAreJson) {
  const Files files = files_of({found(0, "a\"\\\n\xff.jpg")});
  EXPECT_EQ(files.images.at("images").at(0).at("file_name"), "a\"\\\n\xef\xbf\xbd.jpg");
}

TEST(GivenResults, OfNoImages) {
  const Files files = files_of({});
  EXPECT_TRUE(files.results.empty());
  EXPECT_TRUE(files.images.at("images").empty());
}

}  // namespace
}  // namespace cachet::tasks
