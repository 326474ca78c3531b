#include "cachet/train/runs/run_summary.h"

#include <algorithm>
#include <map>

#include "cachet/io/files/atomic_file.h"
#include "cachet/report/csv.h"

namespace cachet::train {
namespace {

using SummaryRow = std::map<std::string, std::string>;

void add_columns(const Metrics& metrics, const std::string& prefix, std::vector<std::string>& columns,
                 SummaryRow& row) {
  for (const auto& [name, value] : metrics) {
    const std::string column = prefix + name;
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
    row[column] = report::csv_number(value);
  }
}

}  // namespace

void write_summary(const std::filesystem::path& path, const std::vector<Event>& events) {
  std::vector<std::string> columns{"step", "epoch"};
  std::vector<SummaryRow> rows;
  Metrics training, machine;  // of the step line before the evaluation
  for (const Event& event : events) {
    if (event.kind == Event::Kind::step) {
      training = event.metrics;
      machine = event.machine;
      continue;
    }
    SummaryRow row{{"step", std::to_string(event.step)}, {"epoch", std::to_string(event.epoch)}};
    add_columns(event.metrics, "", columns, row);
    add_columns(training, "train_", columns, row);
    add_columns(machine, "", columns, row);
    rows.push_back(std::move(row));
  }
  std::string text = report::csv_line(columns);
  for (const SummaryRow& row : rows) {
    std::vector<std::string> fields;
    for (const std::string& column : columns) {
      const auto found = row.find(column);
      fields.push_back(found == row.end() ? "" : found->second);
    }
    text += report::csv_line(fields);
  }
  io::write_file_atomically(path, text);
}

}  // namespace cachet::train
