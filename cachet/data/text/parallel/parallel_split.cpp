#include "cachet/data/text/parallel/parallel_split.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "cachet/data/random.h"
#include "cachet/data/sample_groups.h"
#include "cachet/data/text/split_key.h"
#include "cachet/data/text/text_lines.h"
#include "cachet/data/text/tsv_file.h"
#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/new_folder.h"

namespace cachet::data {
namespace {

constexpr std::array kPairSplits{"train", "valid", "test"};
constexpr std::string_view kNoLanguage = "-";

using SentencePair = std::array<std::string, 2>;

/// The two columns that have a language.
struct PairColumns {
  std::array<size_t, 2> indices{};
  std::array<std::string, 2> languages{};
  size_t by = 0;  // 0 or 1
};

PairColumns pair_columns(const PairSplitOptions& options) {
  PairColumns columns;
  size_t found = 0;
  for (size_t i = 0; i < options.columns.size(); ++i) {
    const std::string& language = options.columns[i];
    if (language == kNoLanguage) continue;
    if (language.empty() || language.find('/') != std::string::npos)
      throw std::invalid_argument("a language must be the ending of a file name, without \"/\", but is '" + language +
                                  "'");
    if (found < 2) {
      columns.indices[found] = i;
      columns.languages[found] = language;
    }
    ++found;
  }
  if (found != 2 || columns.languages[0] == columns.languages[1])
    throw std::invalid_argument("exactly two columns must have a language, and the two languages must differ");
  if (!options.by.empty()) {
    const auto by = std::ranges::find(columns.languages, options.by);
    if (by == columns.languages.end()) throw std::invalid_argument("no column has the language " + options.by);
    columns.by = static_cast<size_t>(by - columns.languages.begin());
  }
  if (options.held_out < 1) throw std::invalid_argument("the number of held-out sentences must be at least 1");
  return columns;
}

std::vector<SentencePair> read_rows(const std::filesystem::path& tsv, const PairSplitOptions& options,
                                    const PairColumns& columns, PairSplitCounts& counts) {
  std::vector<SentencePair> pairs;
  std::unordered_set<std::string> seen;
  const TextFile file(tsv);
  bool is_first = true;
  read_tsv(file.source(), tsv.string(), {.header = {}, .columns = options.columns.size()},
           [&](std::span<const std::string_view> fields) {
             SentencePair pair{std::string(fields[columns.indices[0]]), std::string(fields[columns.indices[1]])};
             // Rows are written in another order.
             if (std::exchange(is_first, false) && fields[0].starts_with(kByteOrderMark)) {
               counts.byte_order_mark = true;
               for (size_t side = 0; side < 2; ++side)
                 if (columns.indices[side] == 0) pair[side].erase(0, kByteOrderMark.size());
             }
             if (pair[0].empty() || pair[1].empty())
               ++counts.empty;
             else if (!seen.insert(pair[0] + '\t' + pair[1]).second)
               ++counts.repeated;
             else
               pairs.push_back(std::move(pair));
           });
  return pairs;
}

/// Pairs that stay together, and how many different sentences of one language each group has.
struct PairGroups {
  std::vector<std::vector<int64_t>> pairs;
  std::vector<int64_t> sentences;
};

PairGroups groups_of(const std::vector<SentencePair>& pairs, size_t by) {
  SampleGroups samples;
  std::vector<std::string> sentence(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const std::array<std::string, 2> keys = pair_keys(split_key(pairs[i][0]), split_key(pairs[i][1]));
    sentence[i] = keys[by];
    samples.add(keys);
  }
  PairGroups groups{samples.groups(), {}};
  for (const std::vector<int64_t>& group : groups.pairs) {
    std::unordered_set<std::string_view> different;
    for (const int64_t pair : group) different.insert(sentence[static_cast<size_t>(pair)]);
    groups.sentences.push_back(static_cast<int64_t>(different.size()));
  }
  return groups;
}

std::string pair_file_name(const std::string& split, const std::string& language) { return split + "." + language; }

}  // namespace

PairSplitCounts write_pair_folder(const std::filesystem::path& tsv, const std::filesystem::path& folder,
                                  const PairSplitOptions& options, bool replace) {
  const PairColumns columns = pair_columns(options);
  PairSplitCounts counts;
  const std::vector<SentencePair> pairs = read_rows(tsv, options, columns, counts);
  const PairGroups groups = groups_of(pairs, columns.by);
  counts.groups = static_cast<int64_t>(groups.pairs.size());
  std::array<int64_t, kPairSplits.size()> sentences{};
  std::array<std::vector<int64_t>, kPairSplits.size()> splits;
  const std::vector<size_t> parts = dealt_groups(groups.sentences, {options.held_out, options.held_out},
                                                 {options.seed, RandomStream::held_out, 0, 0});
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::vector<int64_t>& group = groups.pairs[i];
    const size_t split = (parts[i] + 1) % kPairSplits.size();  // validation, test, and the rest to train on
    splits[split].insert(splits[split].end(), group.begin(), group.end());
    sentences[split] += groups.sentences[i];
    counts.sentences += groups.sentences[i];
    counts.largest_group = std::max(counts.largest_group, static_cast<int64_t>(group.size()));
  }
  if (sentences[0] == 0 || sentences[1] < options.held_out || sentences[2] < options.held_out)
    throw io::Error(tsv.string() + ": has " + std::to_string(counts.sentences) + " different sentences of " +
                    columns.languages[columns.by] + " in " + std::to_string(counts.groups) +
                    " groups that share no sentence. These are too few for two held-out splits; the number of "
                    "sentences in each must be at least " +
                    std::to_string(options.held_out));
  io::NewFolder result(folder, replace ? io::NewFolder::Taken::replaced : io::NewFolder::Taken::refused);
  for (size_t split = 0; split < splits.size(); ++split) {
    const auto count = static_cast<int64_t>(splits[split].size());
    std::array<std::string, 2> texts;
    for (const int64_t place : permutation(count, {options.seed, RandomStream::pairs, split, 0})) {
      const SentencePair& pair = pairs[static_cast<size_t>(splits[split][static_cast<size_t>(place)])];
      for (size_t side = 0; side < 2; ++side) texts[side] += pair[side] + '\n';
    }
    for (size_t side = 0; side < 2; ++side)
      io::write_new_file(result.path() / pair_file_name(kPairSplits[split], columns.languages[side]), texts[side]);
  }
  result.finish();
  counts.train = static_cast<int64_t>(splits[0].size());
  counts.validation = static_cast<int64_t>(splits[1].size());
  counts.test = static_cast<int64_t>(splits[2].size());
  return counts;
}

bool is_pair_folder(const std::filesystem::path& folder, const std::vector<std::string>& columns) {
  std::set<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    names.insert(entry->path().filename().string());
  std::set<std::string> made;
  for (const std::string& language : columns)
    if (language != kNoLanguage)
      for (const char* split : kPairSplits) made.insert(pair_file_name(split, language));
  return !error && names == made;
}

}  // namespace cachet::data
