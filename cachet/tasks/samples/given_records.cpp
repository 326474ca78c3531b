#include "cachet/tasks/samples/given_records.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "cachet/data/data_digest.h"

namespace cachet::tasks {

GivenRecords::GivenRecords(RecordFile& file, NextSample next, SampleForm form, const RecordSource& source,
                           SampleLocations locations)
    : file_(file), next_(std::move(next)), form_(form), source_(source) {
  if (!match_in_place(locations)) match_anywhere();
  for (int64_t line = 0; line < file_.done(); ++line) {
    if (!file_.is_old(line)) continue;
    file_.forget_from(line);
    break;
  }
  for (auto& line : lines_)
    if (line && *line >= file_.done()) line.reset();
}

/// The sample of this number, asked for when it was not yet; nothing after the last.
const GivenSample* GivenRecords::sample(int64_t index) {
  while (static_cast<int64_t>(first_.size()) <= index) {
    auto next = next_();
    if (!next) return nullptr;
    first_.push_back(*std::move(next));
  }
  return &first_[static_cast<size_t>(index)];
}

RecordOrigin GivenRecords::origin_of(const GivenSample& sample) const {
  const bool is_file = form_ == SampleForm::image_file;
  return source_.of_given(sample.text, form_, is_file ? data::digest_of_image_file(sample.text) : std::string());
}

bool GivenRecords::is_of(int64_t line, const GivenSample& sample) const {
  if (!file_.is_old(line)) return file_.is_of(line, origin_of(sample));
  return std::ranges::count(source_.old_sources_of_given(sample.text, form_), file_.origin(line).source) > 0;
}

/// Whether each record is of the sample at its position. If a sample may not be elsewhere, throws for the first that is
/// not.
bool GivenRecords::match_in_place(SampleLocations locations) {
  for (int64_t line = 0; line < file_.done(); ++line) {
    const GivenSample* at_place = sample(line);
    if (at_place == nullptr) file_.require_at_most(line);
    if (is_of(line, *at_place)) {
      lines_.emplace_back(line);
      continue;
    }
    if (locations == SampleLocations::any) return false;
    if (file_.is_old(line)) file_.require_old(line, {});
    file_.require(line, origin_of(*at_place));
  }
  return true;
}

void GivenRecords::match_anywhere() {
  std::map<std::string, std::deque<int64_t>> now, old;  // samples by the sources that their records may have
  int64_t count = 0;
  for (; const GivenSample* each = sample(count); ++count) {
    now[source_.of_given(each->text, form_, "").source].push_back(count);
    for (const std::string& source : source_.old_sources_of_given(each->text, form_)) old[source].push_back(count);
  }
  lines_.assign(static_cast<size_t>(count), std::nullopt);
  std::map<int64_t, RecordOrigin> origins;  // of samples whose bytes were read
  for (int64_t line = 0; line < file_.done(); ++line) {
    const bool is_old = file_.is_old(line);
    std::deque<int64_t>& samples = (is_old ? old : now)[file_.origin(line).source];
    const auto is_free = [&](int64_t index) { return !lines_[static_cast<size_t>(index)]; };
    const auto is_its = [&](int64_t index) {
      if (!is_free(index)) return false;
      if (is_old) return true;
      const auto [origin, is_new] = origins.try_emplace(index);
      if (is_new) origin->second = origin_of(first_[static_cast<size_t>(index)]);
      return file_.is_of(line, origin->second);
    };
    const auto found = std::ranges::find_if(samples, is_its);
    if (found != samples.end()) {
      lines_[static_cast<size_t>(*found)] = line;
      samples.erase(found);
      continue;
    }
    if (is_old) file_.require_old(line, {});
    const auto changed = std::ranges::find_if(samples, is_free);
    file_.require(line, changed == samples.end() ? RecordOrigin{} : origins.at(*changed));
  }
}

NextSample GivenRecords::samples() {
  return [this, index = int64_t{0}]() mutable -> std::optional<GivenSample> {
    if (index < static_cast<int64_t>(first_.size())) return first_[static_cast<size_t>(index++)];
    return next_();
  };
}

void GivenRecords::append(const Record& record, int64_t sample, const RecordOrigin& origin) {
  const int64_t line = file_.done() + static_cast<int64_t>(appended_.size());
  file_.append(with_index(record, line), origin);
  appended_[sample] = line;
}

void GivenRecords::finish(int64_t samples) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < samples; ++i) order.push_back(has(i) ? *lines_[static_cast<size_t>(i)] : appended_.at(i));
  if (!std::ranges::is_sorted(order)) file_.arrange(order);
}

}  // namespace cachet::tasks
