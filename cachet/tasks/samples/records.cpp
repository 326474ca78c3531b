#include "cachet/tasks/samples/records.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "cachet/data/data_digest.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/json/parse_json.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char *kSourceKey = "source", *kSampleKey = "sample_digest";
constexpr std::string_view kRecordBegin = "{\"index\":";

/// Keeps what is joined apart: no text holds the byte between them.
std::string joined(const std::string& first, const std::string& second) { return first + '\0' + second; }

/// The origin of a line that is record `index`; nothing of any other line.
std::optional<RecordOrigin> origin_in(const std::string& line, int64_t index) {
  const auto json = io::parse_json<nlohmann::json>(line, /*throws=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto number = json.find("index");
  if (number == json.end() || !number->is_number_integer() || number->get<int64_t>() != index) return std::nullopt;
  const auto text = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  return RecordOrigin{text(kSourceKey), text(kSampleKey)};
}

/// Whether an interrupted process may have left it of record `index`.
bool is_torn_record(const std::string& line, int64_t index) {
  const std::string begin = std::string(kRecordBegin) + std::to_string(index) + ",";
  return line.starts_with(begin) || begin.starts_with(line);
}

/// The contents of a file of records.
struct FoundRecords {
  std::vector<RecordOrigin> origins;  // of the records, from index 0 on
  std::vector<uint64_t> ends;  // of the records, in the file if no line is removed; a torn last line is after them
  std::vector<bool> kept;      // by line: whether it is one of the records
  int64_t removed = 0;         // lines that are not
  uint64_t bytes() const { return ends.empty() ? 0 : ends.back(); }
};

bool begins_as_record(const std::string& line) { return line.starts_with(kRecordBegin); }

bool is_object(const std::string& line) { return io::parse_json<nlohmann::json>(line, /*throws=*/false).is_object(); }

[[noreturn]] void refuse_line(const fs::path& file, int64_t line) {
  throw std::runtime_error(file.string() + ": line " + std::to_string(line + 1) +
                           " is not a prediction, so the file cannot be resumed; name another file");
}

/// Throws std::runtime_error for a file that holds something else. If two processes wrote at the same time, a line to
/// remove begins as a record: it repeats one, or is mixed of several. The end of a mixed record may be a line of its
/// own. A file with lines to remove counts as one of records only if each record that stays has a source.
FoundRecords find_records(const fs::path& file) {
  std::ifstream lines(file, std::ios::binary);
  if (!lines) throw std::runtime_error(file.string() + ": cannot be read");
  FoundRecords found;
  int64_t first_removed = 0;
  bool is_after_mixed = false;
  for (std::string line; std::getline(lines, line);) {
    const auto index = static_cast<int64_t>(found.origins.size()), number = static_cast<int64_t>(found.kept.size());
    const bool is_whole = !lines.eof();
    if (auto origin = is_whole ? origin_in(line, index) : std::nullopt) {
      found.origins.push_back(*std::move(origin));
      found.kept.push_back(true);
      found.ends.push_back(found.bytes() + line.size() + 1);
      is_after_mixed = false;
      continue;
    }
    if (!is_whole && is_torn_record(line, index)) break;
    if (begins_as_record(line))
      is_after_mixed = !is_object(line);
    else if (!is_after_mixed)
      refuse_line(file, number);
    if (found.removed++ == 0) first_removed = number;
    found.kept.push_back(false);
  }
  const bool has_sources = !found.origins.empty() && std::ranges::none_of(found.origins, [](const RecordOrigin& each) {
    return each.source.empty();
  });
  if (found.removed > 0 && !has_sources) refuse_line(file, first_removed);
  return found;
}

std::string saved_lines(const fs::path& file, const std::vector<bool>& kept) {
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

RecordSource::RecordSource(const SavedRun& saved, const AnswerOptions& options, const std::string& more) {
  const std::string weights = weights_digest(saved);
  const auto model_of = [&](const std::string& values) {
    const std::string model = joined(joined(weights, values), told(options));
    return more.empty() ? model : joined(model, more);
  };
  model_ = model_of(saved.what_answers_depend_on);
  for (const std::string& values : saved.old_answer_values) old_models_.push_back(model_of(values));
}

// Of all splits that are open: an evaluation may take statistics of the training images.
std::string RecordSource::of_evaluation(const train::TrainingTask& task) const {
  std::string source = joined(model_, std::to_string(task.evaluation_size()));
  for (const auto& [split, digest] : task.data_digests()) source = joined(source, joined(split, digest.contents));
  return data::digest_of(source);
}

RecordOrigin RecordSource::of_given(const std::string& sample, SampleForm form, const std::string& bytes) const {
  return {data::digest_of(joined(model_, sample)), form == SampleForm::text ? data::digest_of(sample) : bytes};
}

std::vector<std::string> RecordSource::old_sources_of_evaluation(const train::TrainingTask& task) const {
  const std::string size = std::to_string(task.evaluation_size()), data = task.data_fingerprints()["evaluation"];
  std::vector<std::string> sources;
  for (const std::string& model : old_models_) sources.push_back(data::digest_of(joined(joined(model, size), data)));
  return sources;
}

std::vector<std::string> RecordSource::old_sources_of_given(const std::string& sample, SampleForm form) const {
  std::error_code unreadable;  // the reader of the file reports why
  std::vector<std::string> sources;
  for (const std::string& model : old_models_)
    sources.push_back(data::digest_of(
        form == SampleForm::text ? joined(model, sample)
                                 : joined(joined(model, sample), std::to_string(fs::file_size(sample, unreadable)))));
  return sources;
}

Record with_index(const Record& record, int64_t index) {
  return std::string(kRecordBegin) + std::to_string(index) + record.substr(record.find(','));
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
    if (fs::file_size(path_) > found.bytes()) file_->cut(found.bytes());
    origins_ = std::move(found.origins);
    ends_ = std::move(found.ends);
    return true;
  }
  removed_lines_ = found.removed;
  io::write_file_atomically(path_, saved_lines(path_, found.kept));
  return false;
}

void RecordFile::refuse(int64_t index, const std::string& why) const {
  throw std::runtime_error(path_.string() + ": line " + std::to_string(index + 1) + " " + why +
                           "; name another file, or overwrite this file with --overwrite");
}

void RecordFile::require(int64_t index, const RecordOrigin& origin) const {
  if (is_of(index, origin)) return;
  if (this->origin(index).source == origin.source)
    refuse(index, "is the prediction of a sample whose bytes have changed since the prediction");
  refuse(index, "belongs to another model or sample, or to other data or options");
}

void RecordFile::require_old(int64_t index, const std::vector<std::string>& sources) const {
  if (std::ranges::find(sources, origin(index).source) == sources.end())
    refuse(index, "belongs to another model or sample, or to other data or options");
}

void RecordFile::forget_from(int64_t index, WhyForgotten why) {
  forgotten_.at(static_cast<size_t>(why)) += done() - index;
  file_->cut(index == 0 ? 0 : ends_.at(static_cast<size_t>(index - 1)));
  origins_.resize(static_cast<size_t>(index));
  ends_.resize(static_cast<size_t>(index));
}

void RecordFile::require_at_most(int64_t samples) const {
  if (done() <= samples) return;
  throw std::runtime_error(path_.string() + ": has " + std::to_string(done()) + " predictions, but only " +
                           std::to_string(samples) + (samples == 1 ? " sample is" : " samples are") +
                           " requested; name another file, or overwrite this file with --overwrite");
}

void RecordFile::append(const Record& record, const RecordOrigin& origin) {
  if (!begins_as_record(record))
    throw std::logic_error("a record begins with its index, not with " + record.substr(0, 20));
  // After the last field, so that the numbers before it stay as the task wrote them.
  const size_t end = record.rfind('}');
  const auto field = [](const char* key, const std::string& value) {
    return ",\"" + std::string(key) + "\":\"" + value + '"';
  };
  file_->append(record.substr(0, end) + field(kSourceKey, origin.source) + field(kSampleKey, origin.sample) +
                record.substr(end));
}

void RecordFile::arrange(const std::vector<int64_t>& order) {
  std::ifstream file(path_, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  std::string text;
  for (size_t i = 0; i < order.size(); ++i)
    text += with_index(lines.at(static_cast<size_t>(order[i])), static_cast<int64_t>(i)) + '\n';
  io::write_file_atomically(path_, text);
  file_.reset();
}

void require_all(RecordFile& file, const OriginOf& origin, const std::function<std::vector<std::string>()>& old_sources,
                 const OriginOf& earlier) {
  std::optional<std::vector<std::string>> old;
  std::optional<int64_t> first_old;
  for (int64_t i = 0; i < file.done(); ++i) {
    if (file.is_old(i)) {
      if (!old) old = old_sources();
      file.require_old(i, *old);
    } else if (const RecordOrigin now = origin(i); file.is_of(i, now) || !earlier || !file.is_of(i, earlier(i))) {
      file.require(i, now);
      continue;
    }
    if (!first_old) first_old = i;
  }
  if (!first_old) return;
  file.forget_from(*first_old, file.is_old(*first_old) ? WhyForgotten::unsaid_bytes : WhyForgotten::earlier_rule);
}

RecordFile records_of(const fs::path& file, const OriginOf& origin) {
  try {
    RecordFile records(file, EarlierRecords::resumed);
    int64_t same = 0;
    while (same < records.done() && records.is_of(same, origin(same))) ++same;
    if (same < records.done()) records.forget_from(same);
    return records;
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
    if (!std::getline(*lines, record)) throw std::runtime_error(file.string() + ": lost predictions while it was read");
    return record + '\n';
  };
}

}  // namespace cachet::tasks
