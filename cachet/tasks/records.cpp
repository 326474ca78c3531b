#include "cachet/tasks/records.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <system_error>

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
  std::ifstream before;
  if (earlier == EarlierRecords::gone_on_with) before.open(path_, std::ios::binary);
  std::string line;
  uintmax_t whole = 0;
  while (std::getline(before, line)) {
    const bool is_whole = !before.eof();
    const auto source = is_whole ? source_in(line, done()) : std::nullopt;
    if (!source && (is_whole || !is_torn_record(line, done())))
      throw std::runtime_error(path_.string() + ": line " + std::to_string(done() + 1) +
                               " is no prediction that could be gone on with; name another file");
    if (!source) break;
    sources_.push_back(*source);
    whole += line.size() + 1;
  }
  if (before.is_open() && fs::file_size(path_) > whole) fs::resize_file(path_, whole);
  const auto mode = earlier == EarlierRecords::replaced ? std::ios::trunc : std::ios::app;
  file_.open(path_, std::ios::out | std::ios::binary | mode);
  if (!file_) throw std::runtime_error(path_.string() + ": cannot be written");
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
  // Behind the last field, so that the numbers before it stay as the task wrote them.
  const size_t end = record.rfind('}');
  file_ << record.substr(0, end) << ",\"" << kSourceKey << "\":\"" << source << '"' << record.substr(end);
  if (!file_.flush()) throw std::runtime_error(path_.string() + ": cannot be written");
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
