#include "cachet/data/text/encoders/subword_training.h"

#include <unordered_set>
#include <utility>

#include "cachet/data/folder_walk.h"
#include "cachet/data/random.h"
#include "cachet/data/text/encoders/subword_encoder.h"
#include "cachet/data/text/text_lines.h"
#include "cachet/data/text/tsv_file.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"

namespace cachet::data {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxTrainingTextBytes = uint64_t{1} << 26;
constexpr TsvLayout kPairsOfTexts{.header = {}, .columns = 5};

/// Keeps all texts, or an even draw of so many (Vitter's algorithm R): which ones is a function of their number alone.
class SampledTexts {
 public:
  explicit SampledTexts(int64_t most) : most_(static_cast<uint64_t>(most)) {}

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

void add_texts_of_pairs(const fs::path& file, SampledTexts& texts) {
  std::unordered_set<std::string> seen;
  read_tsv(io::FileSource(file), file.string(), kPairsOfTexts, [&](std::span<const std::string_view> fields) {
    for (const std::string_view text : fields.last(2))
      if (seen.emplace(text).second) texts.add(text);
  });
}

void add_lines(const fs::path& file, SampledTexts& texts) {
  int64_t lines = 0;
  bool is_first = true;
  for_each_line(file, [&](std::string_view line) {
    if (std::exchange(is_first, false)) line = without_byte_order_mark(line);
    if (line.empty()) return;
    texts.add(line);
    ++lines;
  });
  if (lines == 0) throw io::Error(file.string() + ": all lines are empty");
}

FoundTexts add_folder(const fs::path& folder, SampledTexts& texts) {
  if (fs::is_directory(folder / "train") && fs::is_directory(folder / "test"))
    throw io::Error(folder.string() + ": contains the folders train and test; to use only the training texts, name " +
                    (folder / "train").string());
  FoundTexts found = text_files_below(folder);
  bool all_empty = true;
  for (const fs::path& file : found.files) {
    const std::string whole = io::read_text_file(file, kMaxTrainingTextBytes);
    const std::string_view text = without_byte_order_mark(whole);
    all_empty = all_empty && text.empty();
    texts.add(text);
  }
  if (all_empty) throw io::Error(folder.string() + ": all of its texts are empty");
  return found;
}

/// Whether SentencePiece would leave the text out without a word: it marks unknown characters with this one. A space
/// replaces it.
bool replace_reserved(std::string& text) {
  constexpr std::string_view kReserved = "\xE2\x96\x85";  // U+2585
  const bool has_some = text.find(kReserved) != std::string::npos;
  for (size_t place = text.find(kReserved); place != std::string::npos; place = text.find(kReserved, place + 1))
    text.replace(place, kReserved.size(), " ");
  return has_some;
}

}  // namespace

TrainingTexts read_training_texts(const std::vector<fs::path>& paths, int64_t most, TextNormalization form) {
  TrainingTexts all;
  SampledTexts kept(most);
  FoundTexts found;
  for (const fs::path& path : paths) {
    std::error_code error;
    if (!fs::exists(path, error))
      throw io::Error(path.string() +
                      ": does not exist; name a folder of .txt files, a TSV file of pairs, or a text file");
    if (fs::is_directory(path, error))
      found.add(add_folder(path, kept));
    else if (path.extension() == ".tsv")
      add_texts_of_pairs(path, kept);
    else
      add_lines(path, kept);
  }
  all.texts = kept.take();
  int64_t reserved = 0;
  for (std::string& text : all.texts) {
    text = with_valid_utf8(normalized(text, form), all.replaced);
    reserved += replace_reserved(text) ? 1 : 0;
  }
  if (reserved > 0)
    all.notes.push_back(std::to_string(reserved) + (reserved == 1 ? " text holds" : " texts hold") +
                        " the character U+2585, which SentencePiece reserves; it was read as a space");
  if (auto note = found.passed_over.note()) all.notes.push_back(*std::move(note));
  return all;
}

}  // namespace cachet::data
