#include "cachet/tasks/detection/coco_table.h"

#include <array>
#include <cstdio>

#include "cachet/report/format.h"

namespace cachet::tasks {
namespace {

struct TableRow {
  bool recall;
  const char *overlap, *area;
  int detections;
};
constexpr const char *kAllOverlaps = "0.50:0.95", *kAllAreas = "all";
constexpr std::array<TableRow, 12> kTableRows{{
    {false, kAllOverlaps, kAllAreas, 100},
    {false, "0.50", kAllAreas, 100},
    {false, "0.75", kAllAreas, 100},
    {false, kAllOverlaps, "small", 100},
    {false, kAllOverlaps, "medium", 100},
    {false, kAllOverlaps, "large", 100},
    {true, kAllOverlaps, kAllAreas, 1},
    {true, kAllOverlaps, kAllAreas, 10},
    {true, kAllOverlaps, kAllAreas, 100},
    {true, kAllOverlaps, "small", 100},
    {true, kAllOverlaps, "medium", 100},
    {true, kAllOverlaps, "large", 100},
}};

std::string table_of(const char* metric, const std::array<double, 12>& numbers) {
  std::string table = std::string("IoU metric: ") + metric + "\n";
  for (size_t i = 0; i < kTableRows.size(); ++i) {
    const TableRow& row = kTableRows[i];
    char line[96];
    std::snprintf(line, sizeof(line), " %-18s %s @[ IoU=%-9s | area=%6s | maxDets=%3d ] = %0.3f\n",
                  row.recall ? "Average Recall" : "Average Precision", row.recall ? "(AR)" : "(AP)", row.overlap,
                  row.area, row.detections, numbers[i]);
    table += line;
  }
  return table;
}

std::string with_error(const OverlapNumbers& numbers) {
  return report::format_fixed(numbers.numbers[0], 3) + " ± " + report::format_fixed(*numbers.ap_error, 3);
}

}  // namespace

std::string coco_table(const DetectionEvaluation& evaluation) {
  std::string table = table_of("bbox", evaluation.boxes.numbers);
  if (evaluation.masks) table += table_of("segm", evaluation.masks->numbers);
  if (evaluation.boxes.ap_error) {
    table += "AP and its standard error over the images: bbox " + with_error(evaluation.boxes);
    if (evaluation.masks && evaluation.masks->ap_error) table += ", segm " + with_error(*evaluation.masks);
    table += "\n";
  }
  return table;
}

}  // namespace cachet::tasks
