#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// The content of a report as plain values, without drawing. render_html() (html.h) draws a Page. Tables also have
/// other forms (text_table.h). All strings are plain UTF-8 text; the drawing code escapes them.
namespace cachet::report {

/// One line of a chart. x must not decrease. A point whose x or y is not finite is not drawn but marked on the axis. If
/// the lengths of x and y differ, the shorter one counts.
struct Series {
  std::string name{};
  std::vector<double> x, y;
  std::vector<double> deviation{};  // half the height of a band around each point; no band if empty
};

struct LineChart {
  std::string title{};
  std::string x_label{}, y_label{};
  std::vector<Series> series{};
  bool log_y = false;        // start on a logarithmic scale (if all values are positive, readers can switch)
  bool y_from_zero = false;  // the linear scale includes zero
  bool markers = false;      // a dot at each point; otherwise only at points without neighbours
  std::string note{};        // a sentence below the chart
  bool large = false;        // as wide as the page
};

/// Small charts, each with its own scale and series names, that a reader opens together.
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
  std::optional<double> least, most;  // ends of the colour scale; those of the data if absent
  std::string note{};
  bool square = false;  // cells as high as wide
};

struct ConfusionMatrix {
  std::string title{};
  std::vector<std::string> classes{};
  std::vector<int64_t> counts{};  // classes × classes, a row for each true class
  std::string note{};
  std::string samples = "images";  // name of the counted samples
  bool ends_with_none = false;     // the last name, "no class", is for objects that were missed or wrongly found
};

struct Picture {
  std::string png;  // the bytes of a PNG (or JPEG, GIF, WebP) file
  std::string truth, predicted;
  double probability = std::numeric_limits<double>::quiet_NaN();  // of `predicted`, in [0, 1]
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
  Better better = Better::neither;  // which value is marked as the column's best
  int importance = 0;               // a narrow terminal drops the least important column first, of equals the last
};

/// A cell: its text for people and, if it has one, its number, for CSV files and for finding the best of a column.
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
  std::set<size_t> unranked{};  // rows that are shown but are never the best of a column
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
  bool after_curves = false;  // on a run's page: comes after the training curves; other sections come before
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
  std::string footer{};   // the program that wrote the page, and when
  std::string source{};   // command and inputs, by which a program recognises its pages: letters, digits, spaces
  std::string written{};  // when the page was written, for a running run
};

}  // namespace cachet::report
