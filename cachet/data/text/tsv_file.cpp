#include "cachet/data/text/tsv_file.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

#include "cachet/data/data_file.h"
#include "cachet/io/error.h"
#include "cachet/io/files/line_reader.h"

namespace cachet::data {
namespace {

constexpr size_t kMaxLineBytes = size_t{1} << 24;
constexpr uint64_t kMaxUnpackedBytes = uint64_t{1} << 32;
constexpr size_t kShownLabelBytes = 20, kShownHeaderBytes = 40;

/// Names that a tab stands between, as a message shows them: 'Source', 'Target'.
std::string quoted_fields(std::string_view line) {
  std::string text;
  while (true) {
    const size_t tab = line.find('\t');
    text += io::in_quotes(line.substr(0, tab));
    if (tab == std::string_view::npos) return text;
    text += ", ";
    line.remove_prefix(tab + 1);
  }
}

std::string column_problem(std::string_view line, size_t wanted) {
  if (line.empty()) return "the line is empty; remove it";
  const auto columns = std::ranges::count(line, '\t') + 1;
  return std::to_string(columns) + (columns == 1 ? " column" : " columns") + ", but the line must have " +
         std::to_string(wanted) + ", with a tab between them";
}

/// False when there are not as many fields as `fields` has room for.
bool split_fields(std::string_view line, std::span<std::string_view> fields) {
  for (size_t i = 0; i < fields.size(); ++i) {
    const size_t tab = line.find('\t');
    const bool is_last = i + 1 == fields.size();
    if ((tab == std::string_view::npos) != is_last) return false;
    fields[i] = line.substr(0, tab);
    if (!is_last) line.remove_prefix(tab + 1);
  }
  return true;
}

/// What the names of files in the folder begin with that end as this one does.
std::set<std::string> other_files(const std::filesystem::path& folder, const std::string& ending) {
  std::set<std::string> others;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::filesystem::path file = entry->path().filename();
    if (file.extension() == ".gz" || file.extension() == ".xz") file.replace_extension();
    const std::string name = file.string();
    if (name.ends_with(ending) && name != ending) others.insert(name.substr(0, name.size() - ending.size()));
  }
  return others;
}

void require_file(const std::filesystem::path& folder, const TsvFileName& name) {
  if (has_data_file(folder, name.text())) return;
  const std::set<std::string> others = other_files(folder, name.ending);
  if (others.empty()) static_cast<void>(find_data_file(folder, name.text()));  // throws, since there is none
  throw io::Error("there is no " + name.text() + " in " + folder.string() + ", but there is a " + *others.begin() +
                  name.ending + "; set data.files = \"" + *others.begin() + "\"");
}

}  // namespace

void read_tsv(const io::ByteSource& source, const std::string& name, const TsvLayout& layout, const TakeRow& take) {
  io::LineReader lines(source, name, kMaxLineBytes);
  std::vector<std::string_view> fields(layout.columns);
  if (!layout.header.empty()) {
    const auto header = lines.next();
    if (!header) throw io::Error(name + ": the file is empty");
    if (*header != layout.header) {
      lines.fail("the first line must be " + quoted_fields(layout.header) +
                 " with a tab between the names, but it is " + quoted_fields(header->substr(0, kShownHeaderBytes)));
    }
  }
  while (const auto line = lines.next()) {
    if (!split_fields(*line, fields)) lines.fail(column_problem(*line, layout.columns));
    try {
      take(fields);
    } catch (const io::Error& problem) {
      lines.fail(problem.what());
    }
  }
}

std::filesystem::path read_tsv_file(const std::filesystem::path& folder, const TsvFileName& name,
                                    const TsvLayout& layout, const TakeRow& take) {
  require_file(folder, name);
  const std::filesystem::path path = find_data_file(folder, name.text());
  if (path.filename() == name.text()) {
    read_tsv(io::FileSource(path), path.string(), layout, take);
    return path;
  }
  const DataFile file = read_data_file(folder, name.text(), kMaxUnpackedBytes);
  read_tsv(io::MemorySource(std::as_bytes(std::span(file.bytes))), path.string(), layout, take);
  return path;
}

int parse_label(std::string_view field, int classes) {
  const std::string_view digits = field.ends_with(".0") ? field.substr(0, field.size() - 2) : field;
  int label = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), label);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  if (!is_number || label < 0 || label >= classes) {
    throw io::Error("the label " + io::in_quotes(field.substr(0, kShownLabelBytes)) +
                    " must be a whole number from 0 to " + std::to_string(classes - 1));
  }
  return label;
}

}  // namespace cachet::data
