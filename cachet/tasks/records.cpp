#include "cachet/tasks/records.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "cachet/io/atomic_file.h"
#include "cachet/io/parse_json.h"
#include "cachet/io/sha256.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSourceKey = "source";

/// Keeps what is joined apart: no text holds the byte between them.
std::string joined(const std::string& first, const std::string& second) { return first + '\0' + second; }

std::string short_digest(const std::string& text) { return io::sha256_hex(text).substr(0, 16); }

/// The source of a line that is record `index`; nothing of any other line.
std::optional<std::string> source_in(const std::string& line, int64_t index) {
  const auto json = io::parse_json<nlohmann::json>(line, /*throws=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto number = json.find("index"), source = json.find(kSourceKey);
  if (number == json.end() || !number->is_number_integer() || number->get<int64_t>() != index) return std::nullopt;
  return source != json.end() && source->is_string() ? source->get<std::string>() : "";
}

/// Whether an interrupted process may have left it of record `index`.
bool is_torn_record(const std::string& line, int64_t index) {
  const std::string begin = "{\"index\":" + std::to_string(index) + ",";
  return line.starts_with(begin) || begin.starts_with(line);
}

/// What a file of records holds.
struct FoundRecords {
  std::vector<std::string> sources;  // of the records, from index 0 on
  std::vector<bool> kept;            // by line: whether it is one of the records
  int64_t removed = 0;               // lines that are not
  uintmax_t bytes = 0;               // of the records; a torn last line is after them
};

/// Whether it ends as a record does.
bool ends_with_source(const std::string& line) {
  constexpr size_t kDigits = 16;
  const std::string begin = std::string(",\"") + kSourceKey + "\":\"", end = "\"}";
  if (line.size() < begin.size() + kDigits + end.size() || !line.ends_with(end)) return false;
  return line.compare(line.size() - end.size() - kDigits - begin.size(), begin.size(), begin) == 0;
}

/// Whether two processes that wrote at the same time may have left it: a whole record, or pieces of several.
bool is_of_two_writers(const std::string& line) { return line.starts_with("{\"index\":") || ends_with_source(line); }

[[noreturn]] void refuse_line(const fs::path& file, int64_t line) {
  throw std::runtime_error(file.string() + ": line " + std::to_string(line + 1) +
                           " is no prediction that could be gone on with; name another file");
}

/// Throws std::runtime_error for a file that holds something else. A file with lines to remove counts as one of records
/// only if each record that stays has a source.
FoundRecords find_records(const fs::path& file) {
  std::ifstream lines(file, std::ios::binary);
  if (!lines) throw std::runtime_error(file.string() + ": cannot be read");
  FoundRecords found;
  int64_t first_removed = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto index = static_cast<int64_t>(found.sources.size()), number = static_cast<int64_t>(found.kept.size());
    const bool is_whole = !lines.eof();
    if (const auto source = is_whole ? source_in(line, index) : std::nullopt) {
      found.sources.push_back(*source);
      found.kept.push_back(true);
      found.bytes += line.size() + 1;
      continue;
    }
    if (!is_whole && is_torn_record(line, index)) break;
    if (!is_of_two_writers(line)) refuse_line(file, number);
    if (found.removed++ == 0) first_removed = number;
    found.kept.push_back(false);
  }
  const bool has_sources =
      !found.sources.empty() && std::ranges::none_of(found.sources, [](const auto& each) { return each.empty(); });
  if (found.removed > 0 && !has_sources) refuse_line(file, first_removed);
  return found;
}

std::string kept_lines(const fs::path& file, const std::vector<bool>& kept) {
  std::ifstream lines(file, std::ios::binary);
  std::string text, line;
  for (size_t i = 0; i < kept.size() && std::getline(lines, line); ++i)
    if (kept[i]) text += line + '\n';
  return text;
}

/// Records of files that are older than logits have no word for them.
std::string told(const AnswerOptions& options) {
  return options.logits ? joined(std::to_string(options.top), "logits") : std::to_string(options.top);
}

}  // namespace

RecordSource::RecordSource(const SavedRun& saved, const AnswerOptions& options, const std::string& more)
    : model_(joined(joined(weights_digest(saved), saved.what_answers_depend_on), told(options))) {
  if (!more.empty()) model_ = joined(model_, more);
}

std::string RecordSource::of_evaluation(const train::Task& task) const {
  return short_digest(
      joined(joined(model_, std::to_string(task.evaluation_size())), task.data_fingerprints()["evaluation"]));
}

std::string RecordSource::of_given(const std::string& sample, SampleForm form) const {
  if (form == SampleForm::text) return short_digest(joined(model_, sample));
  std::error_code unreadable;  // whoever opens the file says so
  const uintmax_t bytes = fs::file_size(sample, unreadable);
  return short_digest(joined(joined(model_, sample), std::to_string(bytes)));
}

RecordFile::RecordFile(fs::path path, EarlierRecords earlier) : path_(std::move(path)) {
  std::error_code absent;
  if (earlier == EarlierRecords::replaced && fs::is_symlink(fs::symlink_status(path_, absent))) fs::remove(path_);
  const auto open = [&] { file_ = std::make_unique<io::GrowingFile>(path_, io::FileAccess::locked); };
  open();
  if (earlier == EarlierRecords::replaced) {
    file_->cut(0);
  } else {
    while (!read_records()) open();
  }
}

bool RecordFile::read_records() {
  FoundRecords found = find_records(path_);
  if (found.removed == 0) {
    sources_ = std::move(found.sources);
    if (fs::file_size(path_) > found.bytes) file_->cut(found.bytes);
    return true;
  }
  removed_lines_ = found.removed;
  io::write_file_atomically(path_, kept_lines(path_, found.kept));
  return false;
}

void RecordFile::require(int64_t index, const std::string& source) const {
  if (is_of(index, source)) return;
  throw std::runtime_error(path_.string() + ": line " + std::to_string(index + 1) +
                           " is of another model, another sample, other data or options; name another file, or begin "
                           "this one anew with --overwrite");
}

void RecordFile::require_at_most(int64_t samples) const {
  if (done() <= samples) return;
  throw std::runtime_error(path_.string() + ": holds " + std::to_string(done()) + " predictions, but " +
                           std::to_string(samples) + (samples == 1 ? " sample is" : " samples are") +
                           " asked for; name another file, or begin this one anew with --overwrite");
}

void RecordFile::append(const Record& record, const std::string& source) {
  if (!record.starts_with("{\"index\":"))
    throw std::logic_error("a record begins with its index, not with " + record.substr(0, 20));
  // After the last field, so that the numbers before it stay as the task wrote them.
  const size_t end = record.rfind('}');
  file_->append(record.substr(0, end) + ",\"" + kSourceKey + "\":\"" + source + '"' + record.substr(end));
}

RecordFile records_of(const fs::path& file, const std::string& source) {
  try {
    RecordFile records(file, EarlierRecords::gone_on_with);
    bool all = true;
    for (int64_t i = 0; i < records.done(); ++i) all = all && records.is_of(i, source);
    if (all) return records;
  } catch (const std::runtime_error&) {  // no records, or none that can be read
  }
  return {file, EarlierRecords::replaced};
}

NextRecord records_in(const fs::path& file, int64_t count) {
  auto lines = std::make_shared<std::ifstream>(file, std::ios::binary);
  return [lines, file, left = count]() mutable -> std::optional<Record> {
    if (left == 0) return std::nullopt;
    --left;
    Record record;
    if (!std::getline(*lines, record))
      throw std::runtime_error(file.string() + ": holds fewer predictions than before");
    return record + '\n';
  };
}

}  // namespace cachet::tasks
