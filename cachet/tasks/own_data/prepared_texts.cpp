#include "cachet/tasks/own_data/prepared_texts.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "cachet/config/counted.h"
#include "cachet/data/folder_walk.h"
#include "cachet/data/held_out.h"
#include "cachet/data/text/encoders/subword_encoder.h"
#include "cachet/data/text/encoders/subword_training.h"
#include "cachet/data/text/parallel/parallel_split.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/new_folder.h"
#include "cachet/tasks/own_data/text_encodings.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSubwordModel = "subwords.model";
constexpr double kHeldOutShare = 0.1;

using Lines = std::vector<std::string>;

/// The lines of three splits.
struct SplitLines {
  Lines train, validation, test;
};

/// "runs/data/stories-1f0c9a2b": a name with a digest of what the folder holds.
fs::path folder_for(const fs::path& prepared, const fs::path& data, const std::string& digest) {
  std::string stem = data.filename().stem().string();
  if (stem.empty() || stem == "." || stem == "..")
    stem = fs::absolute(data).lexically_normal().parent_path().filename().string();
  return prepared / (stem + "-" + digest.substr(0, 8));
}

std::string joined_lines(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) (text += line) += '\n';
  return text;
}

std::string digest_of_splits(const SplitLines& splits, const std::string& form) {
  return io::sha256_hex(form + io::sha256_hex(joined_lines(splits.train)) +
                        io::sha256_hex(joined_lines(splits.validation)) + io::sha256_hex(joined_lines(splits.test)));
}

/// As many pieces as so much text can use.
int64_t wanted_pieces(int64_t bytes) {
  if (bytes < 20'000) return 200;
  if (bytes < 200'000) return 500;
  if (bytes < 2'000'000) return 2'000;
  return bytes < 20'000'000 ? 4'000 : 8'000;
}

/// Trains a subword model with `pieces` pieces, or with as many as the texts allow. Throws io::Error if the training
/// fails.
std::string subwords_of(const Lines& lines, int64_t pieces) {
  constexpr size_t kMostLines = 200'000;
  Lines drawn;
  const size_t step = lines.size() / kMostLines + 1;
  for (size_t i = 0; i < lines.size(); i += step)
    if (!lines[i].empty()) drawn.push_back(lines[i]);
  const auto trained = [&drawn](int64_t size) {
    return data::train_subwords(drawn, {.vocabulary = size, .begin_and_end = true});
  };
  try {
    return trained(pieces);
  } catch (const data::TooFewPieces& error) {
    return trained(error.most());
  }
}

void write_lines(const fs::path& file, const Lines& lines) {
  io::write_new_file(file, std::string_view(joined_lines(lines)));
}

int64_t bytes_of(const Lines& lines) {
  int64_t bytes = 0;
  for (const std::string& line : lines) bytes += static_cast<int64_t>(line.size()) + 1;
  return bytes;
}

void add_lines(std::string_view text, Lines& lines) {
  for (const std::string_view line : lines_of(text)) lines.emplace_back(line);
}

Lines read_lines(const std::vector<fs::path>& files, TextReader& reader) {
  Lines lines;
  for (const fs::path& file : files) add_lines(reader.read(file), lines);
  return lines;
}

/// Moves the last `count` lines of `from` to a list of their own.
Lines last_lines(Lines& from, size_t count) {
  Lines last(std::make_move_iterator(from.end() - static_cast<std::ptrdiff_t>(count)),
             std::make_move_iterator(from.end()));
  from.resize(from.size() - count);
  return last;
}

/// The splits that the data have themselves, in words.
std::string given_splits(bool validation, bool test) {
  if (validation && test) return "train, validation and test";
  if (validation || test) return "train and test";
  return "";
}

void add_note(const TextReader& reader, PreparedTexts& prepared) {
  if (std::string note = reader.note(); !note.empty()) prepared.notes.push_back(std::move(note));
}

/// One line without tabs.
std::string as_field(std::string_view text) {
  std::string field;
  for (const char letter : text) {
    const bool blank = letter == '\t' || letter == '\n' || letter == '\r';
    if (blank && (field.empty() || field.back() == ' ')) continue;
    field += blank ? ' ' : letter;
  }
  while (field.ends_with(' ')) field.pop_back();
  return field;
}

struct LabelledText {
  std::string label, text;
};

Lines rows_of(const std::vector<LabelledText>& texts) {
  Lines rows;
  for (const LabelledText& each : texts) rows.push_back(each.label + "\t" + each.text);
  return rows;
}

/// Draws a tenth of each class.
std::vector<LabelledText> draw_texts(std::vector<LabelledText>& from, uint64_t seed) {
  std::map<std::string, int64_t> classes;
  std::vector<int64_t> strata;
  for (const LabelledText& each : from) {
    const auto [found, is_new] = classes.emplace(each.label, static_cast<int64_t>(classes.size()));
    strata.push_back(found->second);
  }
  if (from.size() < 3)
    throw io::Error("the data have " + config::counted(from.size(), "text") + ", but at least 3 are needed");
  const data::HeldOut parts = data::hold_out(strata, kHeldOutShare, seed);
  std::vector<LabelledText> kept, drawn;
  for (const int64_t i : parts.training) kept.push_back(std::move(from[static_cast<size_t>(i)]));
  for (const int64_t i : parts.validation) drawn.push_back(std::move(from[static_cast<size_t>(i)]));
  from = std::move(kept);
  return drawn;
}

std::vector<std::pair<std::string, std::string>> rows_of_two_columns(const fs::path& file, TextReader& reader) {
  std::vector<std::pair<std::string, std::string>> rows;
  const std::string text = reader.read(file);
  int64_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    if (line.empty()) continue;
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos)
      throw io::Error(file.string() + ":" + std::to_string(number) + ": must have a tab between two columns");
    rows.emplace_back(line.substr(0, tab), line.substr(tab + 1, line.find('\t', tab + 1) - tab - 1));
  }
  return rows;
}

/// The rows of a TSV file, whichever of the two columns has the classes: the one with fewer different values.
std::vector<LabelledText> labelled_rows(const fs::path& file, TextReader& reader) {
  const auto rows = rows_of_two_columns(file, reader);
  std::set<std::string_view> first, second;
  for (const auto& [one, other] : rows) {
    first.insert(one);
    second.insert(other);
  }
  const bool label_first = first.size() <= second.size();
  const size_t classes = std::min(first.size(), second.size());
  if (classes * 2 > rows.size())
    throw io::Error(file.string() +
                    ": neither of the first two columns can be the classes, because both have too many different "
                    "values. The number of different values must be at most half the number of rows");
  std::vector<LabelledText> texts;
  for (const auto& [one, other] : rows) texts.push_back({label_first ? one : other, label_first ? other : one});
  return texts;
}

std::vector<LabelledText> texts_of_split(const fs::path& root, const OwnSplit& split, TextReader& reader) {
  std::vector<LabelledText> texts;
  const fs::path folder = split.folder == "." ? root : root / split.folder;
  for (const OwnClass& each : split.classes) {
    if (each.name == "unsup") continue;  // IMDb's texts without a class
    if (each.texts == 0) throw io::Error((folder / each.name).string() + ": the class has no .txt files");
    for (const fs::path& file : data::text_files_below(folder / each.name).files)
      texts.push_back({each.name, reader.read(file)});
  }
  return texts;
}

/// Takes out what has no text.
int64_t make_fields(std::vector<LabelledText>& texts) {
  for (LabelledText& each : texts) {
    each.label = as_field(each.label);
    each.text = as_field(each.text);
  }
  return static_cast<int64_t>(
      std::erase_if(texts, [](const LabelledText& each) { return each.text.empty() || each.label.empty(); }));
}

bool is_there(const fs::path& folder, const char* file) {
  std::error_code unreadable;
  return fs::is_regular_file(folder / file, unreadable);
}

/// The classes, sorted, that a split has no text of.
std::vector<std::string> absent_classes(const std::set<std::string>& classes, const std::vector<LabelledText>& split) {
  std::set<std::string> absent = classes;
  for (const LabelledText& each : split) absent.erase(each.label);
  return {absent.begin(), absent.end()};
}

}  // namespace

std::string unmeasured_classes_note(const std::vector<std::string>& classes, const std::string& split) {
  if (classes.empty()) return "";
  const bool one = classes.size() == 1;
  return "note: " +
         (one ? "the class " + io::in_quotes(classes.front()) + " has"
              : std::to_string(classes.size()) + " classes have") +
         " too few samples for the " + split + " data, so the results do not measure " +
         (one ? "this class" : "these classes; the first is " + io::in_quotes(classes.front()));
}

PreparedTexts prepare_text(const FoundData& found, const fs::path& prepared) {
  constexpr size_t kFewestLines = 3;
  constexpr int64_t kBytesForSubwords = 100'000;
  TextReader reader;
  SplitLines splits{read_lines(found.texts.train, reader), read_lines(found.texts.validation, reader),
                    read_lines(found.texts.test, reader)};
  PreparedTexts result{.given = given_splits(!splits.validation.empty(), !splits.test.empty())};
  if (splits.train.size() < kFewestLines)
    throw io::Error(found.path.string() + ": has " + config::counted(splits.train.size(), "training line") +
                    ", but at least 3 are needed");
  const auto tenth = [&] { return std::max<size_t>(1, splits.train.size() / 10); };
  if (splits.test.empty() && !splits.validation.empty()) splits.test = std::exchange(splits.validation, {});
  if (splits.test.empty()) splits.test = last_lines(splits.train, tenth());
  if (splits.validation.empty()) splits.validation = last_lines(splits.train, tenth());
  result.train = std::ssize(splits.train);
  result.validation = std::ssize(splits.validation);
  result.test = std::ssize(splits.test);
  result.train_bytes = bytes_of(splits.train);
  result.validation_bytes = std::min(bytes_of(splits.validation), bytes_of(splits.test));
  add_note(reader, result);
  result.folder = folder_for(prepared, found.path, digest_of_splits(splits, "text 1"));
  if (!is_there(result.folder, "test.txt")) {
    io::NewFolder folder(result.folder, io::NewFolder::Taken::replaced);
    if (result.train_bytes >= kBytesForSubwords) {
      try {
        io::write_new_file(folder.path() / kSubwordModel,
                           std::string_view(subwords_of(splits.train, wanted_pieces(result.train_bytes))));
      } catch (const io::Error&) {  // bytes need no model
      }
    }
    write_lines(folder.path() / "train.txt", splits.train);
    write_lines(folder.path() / "valid.txt", splits.validation);
    write_lines(folder.path() / "test.txt", splits.test);
    folder.finish();
  }
  if (is_there(result.folder, kSubwordModel)) {
    const std::string file = (result.folder / kSubwordModel).string();
    result.subwords = data::SubwordEncoder(TextReader::read_bytes(file), file).vocabulary().size;
  }
  return result;
}

PreparedTexts prepare_pairs(const FoundData& found, const fs::path& prepared) {
  const OwnPairs& pairs = found.pairs;
  TextReader reader;
  PreparedTexts result;
  const std::string source = pairs.source.empty() ? "source" : pairs.source,
                    target = pairs.target.empty() ? "target" : pairs.target;
  struct Sides {
    Lines source, target;
  };
  const auto read = [&](const std::vector<fs::path>& sources, const std::vector<fs::path>& targets) {
    Sides sides;
    for (size_t i = 0; i < sources.size(); ++i) {
      const Lines one = read_lines({sources[i]}, reader), other = read_lines({targets[i]}, reader);
      if (one.size() != other.size())
        throw io::Error(sources[i].string() + " has " + config::counted(one.size(), "line") + ", but " +
                        targets[i].string() + " has " + std::to_string(other.size()) +
                        "; each line of one file must be the translation of the same line of the other");
      sides.source.insert(sides.source.end(), one.begin(), one.end());
      sides.target.insert(sides.target.end(), other.begin(), other.end());
    }
    return sides;
  };
  Sides train, validation, test;
  if (!pairs.tsv.empty()) {
    for (auto& [one, other] : rows_of_two_columns(pairs.tsv, reader)) {
      train.source.push_back(std::move(one));
      train.target.push_back(std::move(other));
    }
  } else {
    train = read(pairs.source_files.train, pairs.target_files.train);
    validation = read(pairs.source_files.validation, pairs.target_files.validation);
    test = read(pairs.source_files.test, pairs.target_files.test);
  }
  result.given = given_splits(!validation.source.empty(), !test.source.empty());
  if (train.source.size() < 3)
    throw io::Error(found.path.string() + ": has " + config::counted(train.source.size(), "pair") +
                    " of sentences, but at least 3 are needed");
  if (test.source.empty() && !validation.source.empty()) test = std::exchange(validation, {});
  const int64_t divided = test.source.empty() ? std::ssize(train.source) : 0;  // pairs to divide into splits
  const SplitLines both{train.source, validation.source, test.source},
      others{train.target, validation.target, test.target};
  result.folder =
      folder_for(prepared, found.path, digest_of_splits(both, "pairs 1 " + source + digest_of_splits(others, target)));
  const auto file = [&](const char* split, const std::string& language) { return std::string(split) + "." + language; };
  TextReader plain;  // of files that Cachet wrote
  if (!is_there(result.folder, kSubwordModel)) {
    const auto count = static_cast<int64_t>(train.source.size());
    const int64_t held_out = std::clamp<int64_t>(count / 20, 1, 1'000);
    if (test.source.empty()) {
      Lines rows;
      for (size_t i = 0; i < train.source.size(); ++i)
        rows.push_back(as_field(train.source[i]) + "\t" + as_field(train.target[i]));
      fs::create_directories(prepared);
      const fs::path tsv = io::temporary_path(fs::path(result.folder.string() + ".tsv"));
      write_lines(tsv, rows);
      try {
        data::write_pair_folder(tsv, result.folder, {.columns = {source, target}, .held_out = held_out},
                                /*replace=*/true);
      } catch (...) {
        fs::remove(tsv);
        throw;
      }
      fs::remove(tsv);
    } else {
      if (validation.source.empty()) {
        validation.source = last_lines(train.source, static_cast<size_t>(held_out));
        validation.target = last_lines(train.target, static_cast<size_t>(held_out));
      }
      io::NewFolder folder(result.folder, io::NewFolder::Taken::replaced);
      for (const auto& [split, sides] :
           std::map<std::string, const Sides*>{{"train", &train}, {"valid", &validation}, {"test", &test}}) {
        write_lines(folder.path() / file(split.c_str(), source), sides->source);
        write_lines(folder.path() / file(split.c_str(), target), sides->target);
      }
      folder.finish();
    }
    Lines texts = read_lines({result.folder / file("train", source), result.folder / file("train", target)}, plain);
    io::write_file_atomically(result.folder / kSubwordModel,
                              std::string_view(subwords_of(texts, wanted_pieces(bytes_of(texts)))));
  }
  const auto lines = [&](const char* split) {
    return std::ssize(read_lines({result.folder / file(split, source)}, plain));
  };
  result.train = lines("train");
  result.validation = lines("valid");
  result.test = lines("test");
  if (const int64_t used = result.train + result.validation + result.test; divided > used)
    result.notes.push_back("left out: " + config::counted(divided - used, "pair") +
                           " with an empty side, or equal to another pair");
  add_note(reader, result);
  const std::string model = (result.folder / kSubwordModel).string();
  result.subwords = data::SubwordEncoder(TextReader::read_bytes(model), model).vocabulary().size;
  return result;
}

PreparedTexts prepare_labelled_texts(const FoundData& found, const fs::path& prepared) {
  TextReader reader;
  std::vector<LabelledText> train, validation, test;
  if (!found.labelled.empty()) {
    train = labelled_rows(found.labelled, reader);
  } else {
    train = texts_of_split(found.path, found.folders.train, reader);
    validation = texts_of_split(found.path, found.folders.validation, reader);
    test = texts_of_split(found.path, found.folders.test, reader);
  }
  PreparedTexts result{.given = given_splits(!validation.empty(), !test.empty())};
  const int64_t empty = make_fields(train) + make_fields(validation) + make_fields(test);
  if (empty > 0)
    result.notes.push_back(std::to_string(empty) + (empty == 1 ? " empty text is" : " empty texts are") + " left out");
  std::set<std::string> names;
  for (const LabelledText& each : train) names.insert(each.label);
  result.class_names.assign(names.begin(), names.end());
  if (names.size() < 2)
    throw io::Error(found.path.string() + ": has " + config::counted(names.size(), "class", "classes") +
                    " of texts, but at least two are needed");
  for (const auto* split : {&validation, &test})
    for (const LabelledText& each : *split)
      if (!names.contains(each.label))
        throw io::Error(found.path.string() + ": the class " + io::in_quotes(each.label) + " has no training texts");
  try {
    if (test.empty() && !validation.empty()) test = std::exchange(validation, {});
    if (test.empty()) test = draw_texts(train, /*seed=*/1);
    if (validation.empty()) validation = draw_texts(train, /*seed=*/0);
  } catch (const io::Error& error) {
    throw io::Error(found.path.string() + ": " + error.what());
  }
  for (const auto& [split, texts] : {std::pair{"validation", &validation}, std::pair{"test", &test}})
    if (std::string note = unmeasured_classes_note(absent_classes(names, *texts), split); !note.empty())
      result.notes.push_back(std::move(note));
  result.train = std::ssize(train);
  result.validation = std::ssize(validation);
  result.test = std::ssize(test);
  std::vector<int64_t> lengths;
  for (const LabelledText& each : train) {
    lengths.push_back(std::ssize(each.text));
    result.train_bytes += lengths.back();
  }
  const size_t usual = lengths.size() * 19 / 20;
  std::ranges::nth_element(lengths, lengths.begin() + static_cast<std::ptrdiff_t>(usual));
  result.usual_length = lengths[usual];
  add_note(reader, result);
  const SplitLines rows{rows_of(train), rows_of(validation), rows_of(test)};
  result.folder = folder_for(prepared, found.path, digest_of_splits(rows, "labelled 1"));
  if (!is_there(result.folder, "test.tsv")) {
    io::NewFolder folder(result.folder, io::NewFolder::Taken::replaced);
    write_lines(folder.path() / "train.tsv", rows.train);
    write_lines(folder.path() / "validation.tsv", rows.validation);
    write_lines(folder.path() / "test.tsv", rows.test);
    folder.finish();
  }
  return result;
}

}  // namespace cachet::tasks
