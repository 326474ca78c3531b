#include "cachet/report/charts/confusion_matrix.h"

#include <gtest/gtest.h>

#include "tests/report/well_formed.h"

namespace cachet::report {
namespace {

std::string drawing(const ConfusionMatrix& matrix) {
  Markup html;
  draw(html, matrix);
  EXPECT_EQ(test::markup_error(html.str()), "");
  return html.str();
}

TEST(ConfusionMatrixTest, ClassTableIsWeakestFirst) {
  const ConfusionMatrix matrix{"", {"cat", "dog", "none"}, {6, 4, 0, 1, 9, 0, 0, 0, 0}, ""};
  const Table table = class_table(matrix, 10);
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.columns[1].name, "recall");
  EXPECT_EQ(table.columns[2].name, "precision");
  EXPECT_EQ(table.rows[0][0].text, "cat");
  EXPECT_EQ(table.rows[0][1].text, "60.0 %");
  EXPECT_EQ(table.rows[0][2].text, "85.7 %");  // 6 of the 7 that were named cat
  EXPECT_EQ(table.rows[0][3].text, "10");
  EXPECT_EQ(table.rows[0][4].text, "dog (4)");
  EXPECT_EQ(table.rows[2][0].text, "none");
  EXPECT_EQ(table.rows[2][1].text, "–");
  EXPECT_EQ(class_table(matrix, 1).rows.size(), 1u);
}

// Of detections: 69 that meet no object, 3 dogs that were missed.
TEST(ConfusionMatrixTest, ClassTableLeavesOutWhatIsNoClass) {
  ConfusionMatrix matrix{"", {"cat", "dog", "nothing"}, {6, 4, 0, 1, 6, 3, 60, 9, 0}, ""};
  matrix.ends_with_none = true;
  const Table table = class_table(matrix, 10);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][0].text, "cat");
  EXPECT_EQ(table.rows[0][2].text, "9.0 %") << "6 of the 67 that were named cat";
  EXPECT_EQ(table.rows[1][1].text, "60.0 %");
}

TEST(ConfusionMatrixTest, CellsTellTruthAndPrediction) {
  const std::string html = drawing({"m", {"cat", "dog"}, {6, 4, 1, 9}, ""});
  EXPECT_NE(html.find("cat taken for dog: 4 (40.0 %)"), std::string::npos);
  EXPECT_NE(html.find("dog taken for cat: 1 (10.0 %)"), std::string::npos);
}

TEST(ConfusionMatrixTest, WrongSizesAndManyClassesAreNoTrouble) {
  EXPECT_NE(drawing({"m", {"cat", "dog"}, {1, 2, 3}, ""}).find("No predictions yet"), std::string::npos);
  EXPECT_NE(drawing({"m", {}, {1}, ""}).find("No predictions yet"), std::string::npos);
  for (size_t size : {100u, 1000u}) {
    ConfusionMatrix matrix{"m", {}, std::vector<int64_t>(size * size), ""};
    for (size_t i = 0; i < size; ++i) {
      matrix.classes.push_back("class " + std::to_string(i));
      matrix.counts[i * size + i] = 50;
    }
    const std::string html = drawing(matrix);
    EXPECT_EQ(html.find("<svg") != std::string::npos, size <= 120);
    EXPECT_LT(html.size(), 200'000u);
  }
}

}  // namespace
}  // namespace cachet::report
