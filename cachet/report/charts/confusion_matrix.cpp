#include "cachet/report/charts/confusion_matrix.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cachet/report/charts/map_names.h"
#include "cachet/report/format.h"
#include "cachet/report/table.h"
#include "cachet/report/text/display_width.h"

namespace cachet::report {
namespace {

constexpr size_t kMaxDrawnClasses = 120;  // more make cells of less than four pixels
constexpr size_t kMaxTextClasses = 24, kMaxTableRows = 20;
constexpr double kMatrixWidth = 560;
constexpr int kRowLetters = 17, kColumnLetters = 13;

int64_t count_at(const ConfusionMatrix& matrix, size_t truth, size_t predicted) {
  return std::max<int64_t>(matrix.counts[truth * matrix.classes.size() + predicted], 0);
}

bool is_square(const ConfusionMatrix& matrix) {
  const size_t size = matrix.classes.size();
  return size > 0 && matrix.counts.size() / size == size && matrix.counts.size() % size == 0;
}

double row_sum(const ConfusionMatrix& matrix, size_t truth) {
  double sum = 0;
  for (size_t i = 0; i < matrix.classes.size(); ++i) sum += static_cast<double>(count_at(matrix, truth, i));
  return sum;
}

double column_sum(const ConfusionMatrix& matrix, size_t predicted) {
  double sum = 0;
  for (size_t i = 0; i < matrix.classes.size(); ++i) sum += static_cast<double>(count_at(matrix, i, predicted));
  return sum;
}

Cell percent_cell(double part, double whole) {
  return whole > 0 ? Cell(format_percent(part / whole), part / whole) : Cell("–");
}

void draw_matrix_row(Markup& svg, const ConfusionMatrix& matrix, size_t truth, double left, double head, double cell) {
  const double sum = row_sum(matrix, truth), top = head + truth * cell;
  for (size_t predicted = 0; predicted < matrix.classes.size(); ++predicted) {
    const int64_t count = count_at(matrix, truth, predicted);
    const double fraction = sum > 0 ? count / sum : 0, x = left + predicted * cell;
    const bool right = truth == predicted;
    // Mistakes are rare: the root lets few of them show.
    const double opacity = count == 0 ? 0.035 : right ? 0.12 + 0.88 * fraction : 0.10 + 0.90 * std::sqrt(fraction);
    if (count == 0 && matrix.classes.size() > kMaxTextClasses) continue;
    svg.open("rect", {{"class", count == 0 ? "cell"
                                : right    ? "cell right"
                                           : "cell wrong"},
                      {"x", x},
                      {"y", top},
                      {"width", cell * 0.94},
                      {"height", cell * 0.94},
                      {"rx", std::min(cell / 12, 3.0)},
                      {"fill-opacity", opacity}});
    svg.element("title", {},
                matrix.classes[truth] + " taken for " + matrix.classes[predicted] + ": " + std::to_string(count) +
                    " (" + format_percent(fraction) + ")")
        .close();
    if (count == 0 || matrix.classes.size() > kMaxTextClasses) continue;
    svg.element("text",
                {{"class", opacity > 0.68 ? "in-cell on-heat" : "in-cell"},
                 {"x", x + cell * 0.47},
                 {"y", top + cell * 0.47},
                 {"dy", "0.35em"},
                 {"text-anchor", "middle"}},
                count < 10'000 ? std::to_string(count) : format_count(static_cast<double>(count)));
  }
}

void draw_matrix(Markup& svg, const ConfusionMatrix& matrix) {
  const size_t size = matrix.classes.size();
  int letters = 4;
  for (const std::string& name : matrix.classes) letters = std::max(letters, display_width(name));
  const double left = std::min(letters, kRowLetters) * kMapLetter + 12;
  const double name = std::min(letters, kColumnLetters) * kMapLetter;  // of a leaning column
  const double head = name * kMapNameSine + 16, right = name * kMapNameCosine;
  const double cell = std::min((kMatrixWidth - left - right) / size, 56.0);
  const double width = left + std::max(right, cell / 2) + cell * size;
  svg.open("svg", {{"class", "plot"},
                   {"xmlns", "http://www.w3.org/2000/svg"},
                   {"role", "img"},
                   {"style", "max-width:" + coordinate(width * 1.15) + "px"},
                   {"viewBox", "0 0 " + coordinate(width) + " " + coordinate(head + cell * size)}});
  svg.element("title", {}, matrix.title);
  svg.element("desc", {}, "A row for each true class, a column for each predicted class.");
  const size_t stride = static_cast<size_t>(std::ceil(13 / cell));  // names that have room
  for (size_t i = 0; i < size; i += stride) {
    const double middle = (i + 0.47) * cell;
    svg.element("text", {{"x", left - 8}, {"y", head + middle}, {"dy", "0.35em"}, {"text-anchor", "end"}},
                fit_width(matrix.classes[i], kRowLetters));
    svg.element(
        "text",
        {{"transform", "translate(" + coordinate(left + middle + 2) + " " + coordinate(head - 8) + ") rotate(-42)"}},
        fit_width(matrix.classes[i], kColumnLetters));
  }
  for (size_t truth = 0; truth < size; ++truth) draw_matrix_row(svg, matrix, truth, left, head, cell);
  svg.close();
}

}  // namespace

Table class_table(const ConfusionMatrix& matrix, size_t most) {
  Table table;
  table.columns = {{"class"},
                   {"recall", Alignment::right},
                   {"precision", Alignment::right},
                   {matrix.samples, Alignment::right},
                   {"most often taken for"}};
  if (!is_square(matrix)) return table;
  const size_t size = matrix.classes.size();
  std::vector<double> found(size);
  for (size_t i = 0; i < size; ++i) {
    const double sum = row_sum(matrix, i);
    found[i] = sum > 0 ? count_at(matrix, i, i) / sum : 2;  // classes without samples go last
  }
  std::vector<size_t> order(matrix.ends_with_none ? size - 1 : size);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return found[a] < found[b]; });
  order.resize(std::min(order.size(), most));
  for (size_t i : order) {
    size_t confused = i;
    int64_t count = 0;
    for (size_t j = 0; j < size; ++j) {
      if (j != i && count_at(matrix, i, j) > count) count = count_at(matrix, i, j), confused = j;
    }
    const double hits = static_cast<double>(count_at(matrix, i, i)), images = row_sum(matrix, i);
    table.rows.push_back({matrix.classes[i], percent_cell(hits, images), percent_cell(hits, column_sum(matrix, i)),
                          Cell(format_fixed(images, 0), images),
                          count == 0 ? "–" : matrix.classes[confused] + " (" + std::to_string(count) + ")"});
  }
  return table;
}

void draw(Markup& html, const ConfusionMatrix& matrix) {
  html.open("figure", {{"class", "confusion wide"}}).element("figcaption", {}, matrix.title);
  if (!is_square(matrix)) {
    html.paragraph("note", "No predictions yet.").close();
    return;
  }
  const size_t size = matrix.classes.size();
  html.open("div", {{"class", "beside"}});
  if (size <= kMaxDrawnClasses) {
    html.open("div", {{"class", "matrix"}});
    draw_matrix(html, matrix);
    html.paragraph("note", "Rows: truth. Columns: prediction.").close();
  }
  html.open("div", {{"class", "classes"}});
  draw_rows(html, class_table(matrix, kMaxTableRows));
  html.close().close();
  std::string note = matrix.note;
  if (size > kMaxTableRows) {
    note += (note.empty() ? "" : " ") + std::string("The table has the ") + std::to_string(kMaxTableRows) +
            " weakest of " + std::to_string(size) + " classes.";
  }
  if (!note.empty()) html.paragraph("note", note);
  if (size > kMaxTableRows && size <= kMaxDrawnClasses) draw_details(html, "All classes", class_table(matrix, size));
  html.close();
}

}  // namespace cachet::report
