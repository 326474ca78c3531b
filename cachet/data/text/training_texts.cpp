#include <algorithm>
#include <unordered_set>

#include "cachet/data/random.h"
#include "cachet/data/text/subword_encoder.h"
#include "cachet/data/text/subword_training.h"
#include "cachet/data/text/text_lines.h"
#include "cachet/data/text/tsv_file.h"
#include "cachet/io/error.h"
#include "cachet/io/read_file.h"

namespace cachet::data {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostTrainingTextBytes = uint64_t{1} << 26;
constexpr TsvLayout kPairsOfTexts{.header = {}, .columns = 5};

std::vector<fs::path> text_files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".txt") files.push_back(entry->path());
  }
  if (error) throw io::Error(folder.string() + ": cannot be listed: " + error.message());
  std::ranges::sort(files);
  return files;
}

/// Keeps all texts, or an even draw of so many (Vitter's algorithm R): which ones is a function of their number alone.
class KeptTexts {
 public:
  explicit KeptTexts(int64_t most) : most_(static_cast<uint64_t>(most)) {}

  void add(std::string_view text) {
    const uint64_t number = seen_++;
    if (most_ == 0 || number < most_) {
      texts_.emplace_back(text);
      return;
    }
    const uint64_t place = CounterRandom(0, RandomStream::subset, 0, number).below(number + 1);
    if (place < most_) texts_[place] = text;
  }
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  uint64_t most_, seen_ = 0;
  std::vector<std::string> texts_;
};

void add_texts_of_pairs(const fs::path& file, KeptTexts& texts) {
  std::unordered_set<std::string> seen;
  read_tsv(io::FileSource(file), file.string(), kPairsOfTexts, [&](std::span<const std::string_view> fields) {
    for (const std::string_view text : fields.last(2))
      if (seen.emplace(text).second) texts.add(text);
  });
}

void add_lines(const fs::path& file, KeptTexts& texts) {
  int64_t lines = 0;
  for_each_line(file, [&](std::string_view line) {
    if (line.empty()) return;
    texts.add(line);
    ++lines;
  });
  if (lines == 0) throw io::Error(file.string() + ": holds no lines with a text");
}

void add_folder(const fs::path& folder, KeptTexts& texts) {
  if (fs::is_directory(folder / "train") && fs::is_directory(folder / "test"))
    throw io::Error(folder.string() + ": holds train and test; name " + (folder / "train").string());
  const std::vector<fs::path> files = text_files_below(folder);
  if (files.empty()) throw io::Error(folder.string() + ": holds no .txt files");
  bool all_empty = true;
  for (const fs::path& file : files) {
    const std::string text = io::read_text_file(file, kMostTrainingTextBytes);
    all_empty = all_empty && text.empty();
    texts.add(text);
  }
  if (all_empty) throw io::Error(folder.string() + ": all of its texts are empty");
}

}  // namespace

std::vector<std::string> read_training_texts(const std::vector<fs::path>& paths, int64_t most, int64_t& replaced,
                                             TextNormalization form) {
  KeptTexts kept(most);
  for (const fs::path& path : paths) {
    std::error_code error;
    if (!fs::exists(path, error))
      throw io::Error(path.string() + ": there is no such folder of .txt files, TSV file of pairs, or text");
    if (fs::is_directory(path, error))
      add_folder(path, kept);
    else if (path.extension() == ".tsv")
      add_texts_of_pairs(path, kept);
    else
      add_lines(path, kept);
  }
  std::vector<std::string> texts = kept.take();
  for (std::string& text : texts) text = with_valid_utf8(normalized(text, form), replaced);
  return texts;
}

}  // namespace cachet::data
