#include <algorithm>
#include <unordered_set>

#include "cachet/data/text/subword_encoder.h"
#include "cachet/data/text/subword_training.h"
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

std::vector<std::string> texts_of_pairs(const fs::path& file) {
  std::vector<std::string> texts;
  std::unordered_set<std::string> seen;
  read_tsv(io::FileSource(file), file.string(), kPairsOfTexts, [&](std::span<const std::string_view> fields) {
    for (const std::string_view text : fields.last(2)) {
      if (seen.emplace(text).second) texts.emplace_back(text);
    }
  });
  return texts;
}

}  // namespace

std::vector<std::string> read_training_texts(const fs::path& path, int64_t& replaced) {
  std::vector<std::string> texts;
  std::error_code error;
  if (!fs::exists(path, error))
    throw io::Error(path.string() + ": there is no such folder of .txt files, nor such a TSV file of pairs");
  if (fs::is_regular_file(path)) {
    texts = texts_of_pairs(path);
  } else {
    if (fs::is_directory(path / "train") && fs::is_directory(path / "test"))
      throw io::Error(path.string() + ": holds train and test; name " + (path / "train").string());
    for (const fs::path& file : text_files_below(path))
      texts.push_back(io::read_text_file(file, kMostTrainingTextBytes));
  }
  if (texts.empty()) throw io::Error(path.string() + ": holds no .txt files");
  for (std::string& text : texts) text = with_valid_utf8(text, replaced);
  if (std::ranges::all_of(texts, &std::string::empty)) throw io::Error(path.string() + ": all of its texts are empty");
  return texts;
}

}  // namespace cachet::data
