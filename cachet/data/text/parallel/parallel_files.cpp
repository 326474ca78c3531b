#include "cachet/data/text/parallel/parallel_files.h"

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>

#include "cachet/config/counted.h"
#include "cachet/data/data_file.h"
#include "cachet/data/text/text_lines.h"
#include "cachet/data/text/tsv_file.h"
#include "cachet/io/error.h"
#include "cachet/io/files/line_reader.h"

namespace cachet::data {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& chosen_stems(const ParallelOptions& options, SequenceSplit split) {
  if (split == SequenceSplit::train) return options.train;
  return split == SequenceSplit::validation ? options.validation : options.test;
}

std::vector<std::string> usual_stems(SequenceSplit split) {
  if (split == SequenceSplit::train) return {"train"};
  if (split == SequenceSplit::test) return {"test", "test_2016_flickr"};
  return {"valid", "val", "dev", "validation"};
}

bool has_parallel_files(const ParallelOptions& options, const fs::path& root, const std::string& stem) {
  return has_data_file(root, stem + "." + options.source) || has_data_file(root, stem + "." + options.target) ||
         has_data_file(root, stem + ".tsv");
}

size_t column_of(const ParallelOptions& options, const std::string& language) {
  const auto found = std::ranges::find(options.columns, language);
  if (found == options.columns.end())
    throw std::invalid_argument("no column of the .tsv file has the language \"" + language + "\"");
  return static_cast<size_t>(found - options.columns.begin());
}

[[noreturn]] void refuse_unequal(const std::string& shorter, const std::string& longer, int64_t lines) {
  throw io::Error(shorter + ": has " + config::counted(lines, "line") + ", but " + longer + " has more: its line " +
                  std::to_string(lines + 1) + " has no translation");
}

}  // namespace

std::string ParallelFiles::name() const {
  return is_tsv() ? source.string() : source.string() + " and " + target.filename().string();
}

std::string parallel_token_file_name(const std::string& stem, const std::string& language) {
  return stem + "." + language + ".tokens-cachet";
}

std::vector<std::string> parallel_stems(const ParallelOptions& options, SequenceSplit split, const fs::path& root) {
  if (const auto& chosen = chosen_stems(options, split); !chosen.empty()) return chosen;
  const std::vector<std::string> usual = usual_stems(split);
  for (const std::string& stem : usual)
    if (has_parallel_files(options, root, stem)) return {stem};
  throw io::Error(root.string() + ": has no pairs for the split " + to_string(split) + ": neither " + usual[0] + "." +
                  options.source + " and " + usual[0] + "." + options.target + " nor " + usual[0] +
                  ".tsv (plain, .gz or .xz). If the files have other names, set data." + to_string(split));
}

std::vector<ParallelFiles> find_parallel_files(const ParallelOptions& options, SequenceSplit split,
                                               const fs::path& root) {
  std::vector<ParallelFiles> all;
  for (const std::string& stem : parallel_stems(options, split, root)) {
    const std::string source = stem + "." + options.source, target = stem + "." + options.target, tsv = stem + ".tsv";
    if (!has_data_file(root, source) && !has_data_file(root, target) && has_data_file(root, tsv)) {
      if (options.columns.empty())
        throw io::Error((root / tsv).string() + ": set data.columns to the languages of its columns, such as [\"" +
                        options.source + "\", \"" + options.target + "\"]");
      const fs::path file = find_data_file(root, tsv);
      all.push_back({file, file});
    } else {
      all.push_back({find_data_file(root, source), find_data_file(root, target)});
    }
  }
  return all;
}

std::vector<ParallelFiles> find_parallel_token_files(const ParallelOptions& options, const fs::path& root) {
  const std::vector<std::string> stems = options.train.empty() ? usual_stems(SequenceSplit::train) : options.train;
  std::vector<ParallelFiles> all;
  for (const std::string& stem : stems) {
    std::error_code unreadable;
    const fs::path source = root / parallel_token_file_name(stem, options.source),
                   target = root / parallel_token_file_name(stem, options.target);
    if (!fs::exists(source, unreadable) || !fs::exists(target, unreadable)) return {};
    all.push_back({source, target});
  }
  return all;
}

void read_pair_lines(const io::ByteSource& source, const std::string& source_name, const io::ByteSource& target,
                     const std::string& target_name, const TakePair& take) {
  io::LineReader sources(source, source_name, kMaxSentenceBytes), targets(target, target_name, kMaxSentenceBytes);
  int64_t lines = 0;
  for (;; ++lines) {
    const auto left = sources.next(), right = targets.next();
    if (!left && !right) break;
    if (!left) refuse_unequal(source_name, target_name, lines);
    if (!right) refuse_unequal(target_name, source_name, lines);
    take(*left, *right);
  }
  if (lines == 0) throw io::Error(source_name + ": is empty, and so is " + target_name);
}

void read_pair_rows(const io::ByteSource& text, const std::string& name, const ParallelOptions& options,
                    const TakePair& take) {
  const size_t source = column_of(options, options.source), target = column_of(options, options.target);
  int64_t rows = 0;
  read_tsv(text, name, {.header = {}, .columns = options.columns.size()},
           [&](std::span<const std::string_view> fields) {
             take(fields[source], fields[target]);
             ++rows;
           });
  if (rows == 0) throw io::Error(name + ": is empty");
}

void read_pairs(const ParallelFiles& files, const ParallelOptions& options, const TakePair& take) {
  const TextFile source(files.source);
  if (files.is_tsv()) return read_pair_rows(source.source(), files.source.string(), options, take);
  const TextFile target(files.target);
  read_pair_lines(source.source(), files.source.string(), target.source(), files.target.string(), take);
}

}  // namespace cachet::data
