#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// The content of a report as plain values, without drawing. render_html() (html.h) draws a Page. text_table.h writes
/// tables in other forms. All strings are plain UTF-8 text; the drawing code escapes them.
namespace cachet::report {

/// One line of a chart. The x values must not decrease. A point whose x or y is not finite is not drawn but marked on
/// the axis. If the lists x and y differ in length, only points with both values count.
struct Series {
  std::string name{};
  std::vector<double> x, y;
  std::vector<double> deviation{};  // half the height of a band around each point; no band if empty
};

struct LineChart {
  std::string title{};
  std::string x_label{}, y_label{};
  std::vector<Series> series{};
  bool log_y = false;        // whether the first scale is logarithmic (readers can switch if all values are positive)
  bool y_from_zero = false;  // whether the linear scale includes zero
  bool markers = false;      // whether each point has a dot; otherwise only points without neighbours have a dot
  std::string note{};        // a sentence below the chart
  bool large = false;        // whether the chart is as wide as the page
  std::vector<double> marks{};  // x values of dashed vertical lines, which the note explains
};

/// Small charts that are hidden until a reader opens all of them together. Each chart has its own scale and series
/// names.
struct ChartFold {
  std::string title{};
  std::vector<LineChart> charts{};
};

/// Many small charts that share their series' names and, by default, their vertical scale.
struct SmallMultiples {
  std::string title{};
  std::vector<LineChart> charts{};
  bool shared_scale = true;
  std::string note{};
};

struct HeatMap {
  std::string title{};
  std::string x_label{}, y_label{};
  std::vector<std::string> columns{}, rows{};
  std::vector<double> values{};       // rows × columns, row by row; missing or non-finite values are hatched
  std::optional<double> least, most;  // ends of the colour scale; if absent, the ends of the data's range
  std::string note{};
  bool square = false;  // whether cells are as high as wide
};

struct ConfusionMatrix {
  std::string title{};
  std::vector<std::string> classes{};
  std::vector<int64_t> counts{};  // classes × classes, a row for each true class
  std::string note{};
  std::string samples = "images";  // name of the counted samples
  bool ends_with_none = false;     // whether the last class means "no class", for objects missed or wrongly found
};

struct Picture {
  std::string png;  // the bytes of a PNG (or JPEG, GIF, WebP) file
  std::string truth, predicted;
  double probability = std::numeric_limits<double>::quiet_NaN();  // probability of `predicted`, in [0, 1]
};

enum class PictureSize {
  thumbnails,  // small squares, seen at a glance
  maps,        // larger squares, with room for the names of layers
  scenes,      // two in a row, in their own proportions, so that details are visible
};

struct ImageGrid {
  std::string title{};
  std::vector<Picture> pictures{};
  std::string note{};
  PictureSize size = PictureSize::thumbnails;
};

enum class Alignment { left, right };
enum class Better { neither, higher, lower };

struct Column {
  std::string name{};
  Alignment alignment = Alignment::left;
  Better better = Better::neither;  // kind of value that is marked as the column's best
  int importance = 0;               // a narrow terminal first omits the least important column (the last of equals)
};

/// A cell: its text for people, and an optional number for CSV files and for the choice of a column's best cell.
struct Cell {
  std::string text{};
  double value = std::numeric_limits<double>::quiet_NaN();
  Cell() = default;
  Cell(std::string text) : text(std::move(text)) {}
  Cell(const char* text) : text(text) {}
  Cell(std::string text, double value) : text(std::move(text)), value(value) {}
};

struct Table {
  std::string title{};
  std::vector<Column> columns{};
  std::vector<std::vector<Cell>> rows{};  // short rows are filled with empty cells, long rows are cut
  std::string note{};
  std::set<size_t> unranked{};  // rows that are shown but can never be the best of a column
};

struct CodeBlock {
  std::string title{};
  std::string text{};
};

using Block = std::variant<LineChart, ChartFold, SmallMultiples, HeatMap, ConfusionMatrix, ImageGrid, Table, CodeBlock>;

struct Section {
  std::string title{};
  std::vector<Block> blocks{};
  std::string note{};
  bool after_curves = false;  // whether a run's page shows the section after the training curves, or before them
};

/// A fact at the head of a page, with label, value and detail: "Top-1", "87.4 %", "epoch 15 of 15".
struct Fact {
  std::string label{}, value{}, detail{};
};

enum class Status { running, finished, interrupted, failed };

struct Page {
  std::string title{}, subtitle{};
  std::optional<Status> status;  // empty for a comparison
  std::string status_detail{};   // the reason of a failure, or where to resume
  std::vector<Fact> facts{};
  std::vector<Section> sections{};
  std::string footer{};   // the program that wrote the page, and the time
  std::string source{};   // command and inputs (letters, digits, spaces), by which a program recognises its own pages
  std::string written{};  // time at which the page was written, if the run is not finished
};

}  // namespace cachet::report
