#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// What a report is made of: plain values, no drawing. render_html() (html.h) draws a Page; Tables have other forms too
/// (text_table.h). All strings are plain UTF-8 text, escaped where they are drawn.
namespace cachet::report {

/// One line of a chart. x must not decrease; a point whose x or y is not finite is left out and marked on the axis.
/// Where the lengths differ, the shorter one counts.
struct Series {
  std::string name{};
  std::vector<double> x, y;
  std::vector<double> deviation{};  // half the height of a band around each point; empty = no band
};

struct LineChart {
  std::string title{};
  std::string x_label{}, y_label{};
  std::vector<Series> series{};
  bool log_y = false;        // start on a logarithmic scale (readers can switch where all values are positive)
  bool y_from_zero = false;  // the linear scale includes zero
  bool markers = false;      // a dot at each point, not only at one without neighbours
  std::string note{};        // a sentence below the chart
  bool large = false;        // as wide as the page
};

/// Small charts that a reader opens together, each with its own scale and its own names.
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
  std::vector<double> values{};       // rows × columns, row by row; missing or not finite ones are hatched
  std::optional<double> least, most;  // ends of the colour scale; the data's own where absent
  std::string note{};
  bool square = false;  // cells as high as wide
};

struct ConfusionMatrix {
  std::string title{};
  std::vector<std::string> classes{};
  std::vector<int64_t> counts{};  // classes × classes, a row for each true class
  std::string note{};
  std::string samples = "images";  // what is counted
  bool ends_with_none = false;     // the last name stands for no class: nothing that was missed or found
};

struct Picture {
  std::string png;  // the bytes of a PNG (or JPEG, GIF, WebP) file
  std::string truth, predicted;
  double probability = std::numeric_limits<double>::quiet_NaN();  // of `predicted`, in [0, 1]
};

enum class PictureSize {
  thumbnails,  // squares to be seen at a glance
  maps,        // larger squares, with room for the names of layers
  scenes,      // two a row, in their own proportion: their details count
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
  int importance = 0;               // where a terminal has no room for all, the least goes first, of equals the last
};

/// A cell's text for people and, where it has one, its number for CSV files and for finding the best of a column.
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
  std::vector<std::vector<Cell>> rows{};  // short rows are filled with empty cells, long ones cut
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
  bool after_curves = false;  // on the page of a run: results come before the curves of training
};

/// A figure of the page's head: "Top-1", "87.4 %", "epoch 15 of 15".
struct Fact {
  std::string label{}, value{}, detail{};
};

enum class Status { running, finished, interrupted, failed };

struct Page {
  std::string title{}, subtitle{};
  std::optional<Status> status;  // a comparison has none
  std::string status_detail{};   // the reason of a failure, where to resume
  std::vector<Fact> facts{};
  std::vector<Section> sections{};
  std::string footer{};   // what wrote the page, and when
  std::string source{};   // what it is made of, for programs that look whether it is theirs: letters, digits, spaces
  std::string written{};  // when the page of a running run was written
};

}  // namespace cachet::report
