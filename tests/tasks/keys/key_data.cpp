#include "tests/tasks/keys/key_data.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/data/text/encoders/subword_training.h"
#include "tests/data/text/review_files.h"
#include "tests/support/written_class_folders.h"
#include "tests/support/written_shards.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::test {
namespace {

namespace fs = std::filesystem;

constexpr int kTexts = 24;

void write_cifar(const fs::path& folder, const std::vector<std::string>& names, int label_bytes) {
  for (const std::string& name : names) {
    std::ofstream file(folder / (name + ".bin"), std::ios::binary);
    for (int record = 0; record < 8; ++record) {
      for (int i = 0; i < label_bytes; ++i) file.put(static_cast<char>(record));
      for (int pixel = 0; pixel < 3 * 32 * 32; ++pixel) file.put(static_cast<char>(pixel * (record + 3)));
    }
  }
}

void write_images(const fs::path& folder) {
  write_tiny_split(folder, "train", 16);
  write_tiny_split(folder, "t10k", 8);
}

std::string sentence(int i) {
  std::string text;
  for (int place = 0; place <= i % 6; ++place)
    text += (place > 0 ? " word" : "word") + std::to_string((i + place * place) % 11);
  return text;
}

void write_lines(const fs::path& file, int first, const std::string& before = "") {
  std::ofstream out(file);
  for (int i = first; i < first + kTexts; ++i) out << before << sentence(i) << '\n';
}

void write_vocabulary(const fs::path& file, const std::vector<std::string>& words) {
  std::ofstream out(file);
  out << "<eos>\t9\n";
  for (const std::string& word : words) out << word << "\t5\n";
  out << "<unk>\t0\n";
}

std::vector<std::string> eleven_words() {
  std::vector<std::string> words;
  for (int i = 0; i < 11; ++i) words.push_back("word" + std::to_string(i));
  return words;
}

void write_subwords(const fs::path& file, bool marks) {
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) texts.push_back(sentence(i));
  data::SubwordOptions options;
  options.vocabulary = 24;
  options.begin_and_end = marks;
  std::ofstream(file, std::ios::binary) << data::train_subwords(texts, options);
}

}  // namespace

void write_images_of_each_kind(const fs::path& folder) {
  write_images(folder);
  write_class_folders(folder / "folders", {"a", "b", "c", "d"}, 3, 2);
  write_shards_of(folder / "folders", folder / "shards", 4);
  fs::create_directories(folder / "cifar10");
  write_cifar(folder / "cifar10",
              {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"}, 1);
  fs::create_directories(folder / "cifar100");
  write_cifar(folder / "cifar100", {"train", "test"}, 2);
}

void write_corpus(const fs::path& folder) {
  for (const char* name : {"train.txt", "valid.txt", "test.txt"}) write_lines(folder / name, 0);
  write_vocabulary(folder / "words.txt", eleven_words());
  write_subwords(folder / "subwords.model", true);
}

void write_pairs(const fs::path& folder) {
  for (const char* name : {"train", "valid", "test"}) {
    write_lines(folder / (std::string(name) + ".de"), 0);
    write_lines(folder / (std::string(name) + ".en"), 1);
  }
  for (const char* name : {"words.txt", "source-words.txt", "target-words.txt"})
    write_vocabulary(folder / name, eleven_words());
  for (const char* name : {"subwords.model", "source.model", "target.model"}) write_subwords(folder / name, true);
}

void write_sequences(const fs::path& folder) {
  for (const char* split : {"train", "val", "test"}) {
    std::ofstream out(folder / ("basic_" + std::string(split) + ".tsv"));
    out << "Source\tTarget\n";
    for (int i = 0; i < kTexts; ++i) {
      std::string digit = std::to_string(i * 7 % 10);  // inside up to five lists of one
      for (int depth = 0; depth < i % 6; ++depth) digit = "( ( [MAX " + digit + " ) ] )";
      out << "( ( ( [MIN " << i % 10 << " ) " << digit << " ) ] )\t" << std::min(i % 10, i * 7 % 10) << '\n';
    }
  }
  write_reviews(folder / "reviews", 40, 4);
  for (const char* split : {"train", "eval", "test"}) {
    std::ofstream out(folder / ("new_aan_pairs." + std::string(split) + ".tsv"));
    for (int i = 0; i < kTexts; ++i) out << i % 2 << "\tone\tother\t" << sentence(i) << '\t' << sentence(3 * i) << '\n';
  }
  write_subwords(folder / "subwords.model", false);
  fs::create_directories(folder / "cifar10");
  write_cifar(folder / "cifar10",
              {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"}, 1);
}

}  // namespace cachet::test
