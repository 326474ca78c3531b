#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/commands/bench_case.h"
#include "cachet/analysis/cost/products.h"

namespace cachet::app {

/// The samples that a model processes in a second, and the memory that it uses (analysis::BenchmarkResult).
struct MeasuredSpeed {
  double samples_per_second = 0;
  double beside_first = 1;  // speed ÷ speed of the table's first model
  int64_t activation_bytes = 0, weight_bytes = 0;
  int64_t batch = 0;  // smaller than the requested batch if memory was short
};

/// A row of the papers' cost tables. A failed measurement is absent.
struct CostRow {
  std::string model;
  int64_t parameters = 0;
  analysis::Products macs;  // multiply–accumulates of a training pass over one sample
  std::optional<MeasuredSpeed> inference, training;
};

/// Returns a row for each model of `cases`. In `cases`, inference precedes training. `rows` are the measurements.
std::vector<CostRow> cost_rows(const std::vector<BenchCase>& cases, const std::vector<BenchRow>& rows);

struct CostTableForm {
  bool json = false, wide = false;
};
void show_cost_table(const std::vector<CostRow>& rows, const CostTableForm& form);

}  // namespace cachet::app
