#include "cachet/tasks/own_data/found_data.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "cachet/io/error.h"
#include "tests/support/bytes.h"
#include "tests/support/jpeg_files.h"
#include "tests/support/tar_files.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;
using Kinds = std::vector<OwnDataKind>;

class FoundDataTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text = "one line\n") const {
    fs::create_directories((folder_ / name).parent_path());
    test::write_bytes(folder_ / name, text);
  }
  void write_images(std::initializer_list<const char*> names) const {
    for (const char* name : names) write(name, test::jpeg_file(8, 8));
  }
  /// Annotations of images of 40 by 30 pixels, each with an object.
  void write_annotations(const std::string& name, int images, const std::string& segmentation = "") const {
    std::string text = R"({"categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}], "images": [)", objects;
    for (int i = 0; i < images; ++i) {
      const std::string id = std::to_string(i);
      text += std::string(i == 0 ? "" : ", ") + R"({"id": )" + id + R"(, "width": 40, "height": 30, "file_name": ")" +
              id + R"(.jpg"})";
      objects += std::string(i == 0 ? "" : ", ") + R"({"id": )" + id + R"(, "image_id": )" + id +
                 R"(, "category_id": 1, "bbox": [1, 1, 5, 5], "area": 25, "iscrowd": 0)" + segmentation + "}";
    }
    write(name, text + R"(], "annotations": [)" + objects + "]}");
  }
  FoundData found(const std::string& name = ".") const { return find_own_data(folder_ / name); }
  std::string refusal(const std::string& name = ".") const {
    return test::thrown_message<io::Error>([&] { found(name); });
  }

  test::TemporaryDirectory folder_;
};

std::vector<std::string> names_of(const OwnSplit& split) {
  std::vector<std::string> names;
  for (const OwnClass& each : split.classes) names.push_back(each.name);
  return names;
}

TEST_F(FoundDataTest, ClassFoldersOfOneFolder) {
  write_images({"bee/1.JPG", "bee/deep/2.jpeg", "ant/1.png"});
  write("ant/notes.doc");
  const FoundData data = found();
  EXPECT_EQ(data.kinds, Kinds{OwnDataKind::images});
  EXPECT_EQ(data.folders.train.folder, ".");
  EXPECT_EQ(names_of(data.folders.train), (std::vector<std::string>{"ant", "bee"}));
  EXPECT_EQ(data.folders.train.images(), 3);
  EXPECT_EQ(data.folders.train.classes.front().others, 1);
  EXPECT_EQ(data.folders.validation.images() + data.folders.test.images(), 0);
}

TEST_F(FoundDataTest, TarShards) {
  const auto write_shard = [&](const std::string& name, int samples) {
    std::vector<test::TarPart> parts;
    for (int i = 0; i < samples; ++i) {
      parts.push_back({std::to_string(i) + ".jpg", "x"});
      parts.push_back({std::to_string(i) + ".cls", std::to_string(i % 2)});
    }
    write(name, test::tar_archive(parts));
  };
  write_shard("train-000000.tar", 4);
  write_shard("train-000001.tar", 1);
  write_shard("val-000000.tar", 2);
  write("classes.txt", "ant\nbee\ncat\n");
  for (int i = 0; i < 2; ++i) {  // with the index files, too
    const FoundData data = found();
    EXPECT_EQ(data.kinds, Kinds{OwnDataKind::shards});
    EXPECT_EQ(data.shards.train.folder, "train-*.tar");
    EXPECT_EQ(names_of(data.shards.train), (std::vector<std::string>{"ant", "bee", "cat"}));
    EXPECT_EQ(data.shards.train.images(), 5);
    EXPECT_EQ(data.shards.train.classes[1].images, 2);
    EXPECT_EQ(data.shards.validation.folder, "val-*.tar");
    EXPECT_EQ(data.shards.validation.images(), 2);
    EXPECT_TRUE(data.shards.test.folder.empty());
  }
  write_shard("others/00.tar", 3);
  write_shard("others/01.tar", 3);
  const FoundData data = found("others");
  EXPECT_EQ(data.shards.train.folder, "*.tar");
  EXPECT_EQ(names_of(data.shards.train), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(data.shards.train.images(), 6);
}

TEST_F(FoundDataTest, ClassFoldersOfSplits) {
  write_images(
      {"Training/a/1.jpg", "Training/b/1.jpg", "dev/a/1.jpg", "TEST/a/1.jpg", "TEST/b/1.jpg", "other/a/1.jpg"});
  const OwnClassFolders folders = found().folders;
  EXPECT_EQ(folders.train.folder, "Training");
  EXPECT_EQ(folders.validation.folder, "dev");
  EXPECT_EQ(folders.test.folder, "TEST");
  EXPECT_EQ(folders.train.images() + folders.validation.images() + folders.test.images(), 5) << "other is no split";
}

TEST_F(FoundDataTest, SplitsWithoutTrainingAreClasses) {
  write_images({"val/a/1.jpg", "test/a/1.jpg"});
  EXPECT_EQ(names_of(found().folders.train), (std::vector<std::string>{"test", "val"}));
}

TEST_F(FoundDataTest, TextsInClassFolders) {
  for (const char* name : {"pos/1.txt", "pos/2.txt", "neg/1.txt"}) write(name);
  EXPECT_EQ(found().kinds, (Kinds{OwnDataKind::labelled_texts, OwnDataKind::text})) << "a model's task decides";
  EXPECT_EQ(found().folders.train.texts(), 3);
}

TEST_F(FoundDataTest, OneFileOfAnnotations) {
  write_annotations("labels.json", 2);
  write_images({"images/0.jpg", "images/1.jpg"});
  const FoundData data = found();
  EXPECT_EQ(data.kinds, Kinds{OwnDataKind::coco});
  EXPECT_EQ(data.coco.train.file, "labels.json");
  EXPECT_EQ(data.coco.train.images, "images");
  EXPECT_EQ(data.coco.train.pictures, 2);
  EXPECT_EQ(data.coco.classes, 2);
  EXPECT_EQ(data.coco.longest_side, 40);
  EXPECT_FALSE(data.coco.masks);
  EXPECT_FALSE(data.coco.validation.given() || data.coco.test.given());
}

TEST_F(FoundDataTest, ThreeFilesOfAnnotations) {
  write_annotations("annotations/instances_train2017.json", 3, R"(, "segmentation": [[1, 1, 6, 1, 6, 6]])");
  write_annotations("annotations/instances_val2017.json", 2);
  write_annotations("annotations/instances_test2017.json", 1);
  write("annotations/captions_train2017.json", "{}");
  write_images({"train2017/0.jpg", "val2017/0.jpg", "images/test2017/0.jpg"});
  const OwnCoco coco = found().coco;
  EXPECT_EQ(coco.train.images, "train2017");
  EXPECT_EQ(coco.validation.images, "val2017");
  EXPECT_EQ(coco.test.images, "images/test2017");
  EXPECT_EQ(coco.train.pictures, 3);
  EXPECT_EQ(coco.validation.pictures, 2);
  EXPECT_EQ(coco.test.pictures, 1);
  EXPECT_TRUE(coco.masks);
}

// As annotation programs export: each split in a folder with its file.
TEST_F(FoundDataTest, AnnotationsInTheFoldersOfSplits) {
  for (const std::string split : {"train", "valid", "test"}) {
    write_annotations(split + "/_annotations.coco.json", 1);
    write(split + "/0.jpg", test::jpeg_file(8, 8));
  }
  const OwnCoco coco = found().coco;
  EXPECT_EQ(coco.train.file, "train/_annotations.coco.json");
  EXPECT_EQ(coco.train.images, "train");
  EXPECT_EQ(coco.validation.images, "valid");
  EXPECT_EQ(coco.test.images, "test");
}

TEST_F(FoundDataTest, AnnotationsWithoutTheirImages) {
  write_annotations("annotations/instances_train.json", 1);
  EXPECT_NE(
      refusal().find("instances_train.json: the image 0.jpg is neither in the folder images nor next to the file"),
      std::string::npos)
      << refusal();
}

TEST_F(FoundDataTest, Texts) {
  write("book.txt");
  EXPECT_EQ(found("book.txt").kinds, Kinds{OwnDataKind::text});
  EXPECT_EQ(found().kinds, Kinds{OwnDataKind::text});
  write("deep/other.md");
  EXPECT_EQ(found().texts.train.size(), 2u);
  write("wiki.train.tokens");
  write("wiki.valid.tokens");
  const OwnTexts split = found().texts;
  EXPECT_EQ(split.train, std::vector<fs::path>{folder_.path() / "." / "wiki.train.tokens"});
  EXPECT_EQ(split.validation.size(), 1u);
  EXPECT_TRUE(split.test.empty());
}

TEST_F(FoundDataTest, ParallelFiles) {
  write("news.de");
  write("news.en");
  const OwnPairs pairs = found().pairs;
  EXPECT_EQ(found().kinds, Kinds{OwnDataKind::pairs});
  EXPECT_EQ(pairs.source + pairs.target, "deen");
  EXPECT_EQ(pairs.source_files.train.size(), 1u);
  for (const char* name : {"train.de", "train.en", "valid.de.gz", "valid.en.gz"}) write(name);
  EXPECT_EQ(found().pairs.source_files.train.size(), 1u) << "news.de is of no split";
  EXPECT_EQ(found().pairs.target_files.validation.size(), 1u);
  write("extra.de");
  EXPECT_NE(refusal().find("extra.de: there is no extra.en with the translations"), std::string::npos) << refusal();
}

TEST_F(FoundDataTest, TsvFiles) {
  write("pairs.tsv", "a\tb\n");
  EXPECT_EQ(found("pairs.tsv").kinds, (Kinds{OwnDataKind::pairs, OwnDataKind::labelled_texts, OwnDataKind::text}));
  EXPECT_EQ(found().kinds, found("pairs.tsv").kinds) << "the only file of a folder";
  write("pairs.tsv", "a b\n");
  EXPECT_NE(refusal("pairs.tsv").find("pairs.tsv: the first line has no tab"), std::string::npos);
}

TEST_F(FoundDataTest, WhatIsNoData) {
  EXPECT_NE(refusal("nowhere").find("there is no such folder or file"), std::string::npos);
  EXPECT_NE(refusal().find("contains no data that Cachet recognises"), std::string::npos);
  write("a.png");
  EXPECT_NE(refusal("a.png").find("is a single image; name the folder"), std::string::npos);
  write("README.md");
  EXPECT_NE(refusal().find("has images, but no folders of classes"), std::string::npos) << refusal();
  fs::remove(folder_ / "a.png");
  EXPECT_EQ(found().kinds, Kinds{OwnDataKind::text}) << "a text alone";
  fs::create_directories(folder_ / "ant");
  EXPECT_NE(refusal().find("contains no data that Cachet recognises"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace cachet::tasks
