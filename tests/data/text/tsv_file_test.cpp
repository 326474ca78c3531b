#include "cachet/data/text/tsv_file.h"

#include <gtest/gtest.h>

#include <vector>

#include "cachet/io/error.h"
#include "tests/support/cheap_refusal.h"
#include "tests/support/packed_bytes.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

using TsvRows = std::vector<std::vector<std::string>>;

TsvRows rows_of(const std::string& text, const TsvLayout& layout) {
  TsvRows rows;
  read_tsv(io::MemorySource(bytes_of(text)), "a.tsv", layout,
           [&](std::span<const std::string_view> fields) { rows.emplace_back(fields.begin(), fields.end()); });
  return rows;
}

std::string tsv_complaint(const std::string& text, const TsvLayout& layout) {
  return test::cheap_refusal<io::Error>(text.size(), [&] { rows_of(text, layout); });
}

constexpr TsvLayout kTwoNamed{.header = "A\tB", .columns = 2};

TEST(TsvFile, RowsAreFieldsBetweenTabsWithoutQuoting) {
  EXPECT_EQ(rows_of("A\tB\n1\t2\n\"x\t y\"\n", kTwoNamed), (TsvRows{{"1", "2"}, {"\"x", " y\""}}));
  EXPECT_EQ(rows_of("A\tB\r\n1\t\r\n\t", kTwoNamed), (TsvRows{{"1", ""}, {"", ""}}));
  EXPECT_EQ(rows_of("A\tB", kTwoNamed), TsvRows{});
  EXPECT_EQ(rows_of("1\n2", {.header = {}, .columns = 1}), (TsvRows{{"1"}, {"2"}}));
  EXPECT_EQ(rows_of("", {.header = {}, .columns = 1}), TsvRows{});
}

TEST(TsvFile, RefusalsNameFileAndLine) {
  EXPECT_EQ(tsv_complaint("", kTwoNamed), "a.tsv: the file is empty");
  EXPECT_EQ(tsv_complaint("1\t2\n", kTwoNamed),
            "a.tsv:1: the first line must be 'A', 'B' with a tab between the names, but it is '1', '2'");
  EXPECT_EQ(tsv_complaint("A\tB\n1\t2\n3\n", kTwoNamed),
            "a.tsv:3: 1 column, but the line must have 2, with a tab between them");
  EXPECT_EQ(tsv_complaint("A\tB\n1\t2\t3\n", kTwoNamed),
            "a.tsv:2: 3 columns, but the line must have 2, with a tab between them");
  EXPECT_EQ(tsv_complaint("A\tB\n1\t2\n\n", kTwoNamed), "a.tsv:3: the line is empty; remove it");
  const auto refuse = [](std::span<const std::string_view>) { throw io::Error("is no good"); };
  EXPECT_EQ(test::thrown_message<io::Error>(
                [&] { read_tsv(io::MemorySource(bytes_of("A\tB\n1\t2\n")), "a.tsv", kTwoNamed, refuse); }),
            "a.tsv:2: is no good");
}

TEST(TsvFile, CapsTheLengthOfALine) {
  const std::string long_line(17'000'000, 'x');
  EXPECT_EQ(tsv_complaint("A\tB\n1\t2\n" + long_line, kTwoNamed), "a.tsv:3: the line is longer than 16777216 bytes");
}

TEST(TsvFile, IsReadPlainOrPacked) {
  const test::TemporaryDirectory folder;
  const std::string text = "A\tB\n1\t2\n";
  const test::Bytes plain(text.begin(), text.end());
  test::write_bytes(folder / "plain.tsv", plain);
  test::write_bytes(folder / "gzip.tsv.gz", test::gzip(plain));
  test::write_bytes(folder / "xz.tsv.xz", test::xz(plain));
  for (const char* name : {"plain", "gzip", "xz"}) {
    int64_t rows = 0;
    const auto path = read_tsv_file(folder.path(), {name, ".tsv"}, kTwoNamed, [&](auto fields) {
      ++rows;
      EXPECT_EQ(fields[1], "2");
    });
    EXPECT_EQ(rows, 1);
    EXPECT_TRUE(path.filename().string().starts_with(name));
  }
  const auto complaint = [&](const TsvFileName& name) {
    return test::thrown_message<io::Error>([&] { read_tsv_file(folder.path(), name, kTwoNamed, [](auto) {}); });
  };
  EXPECT_EQ(complaint({"none", ".tsv"}), "there is no none.tsv in " + folder.path().string() +
                                             ", but there is a gzip.tsv; set data.files = \"gzip\"");
  EXPECT_EQ(complaint({"none", "_train.tsv"}),
            "there is no none_train.tsv (plain, .gz or .xz) in " + folder.path().string());
}

TEST(TsvFile, LabelsAreWholeNumbersInRange) {
  EXPECT_EQ(parse_label("0", 2), 0);
  EXPECT_EQ(parse_label("1.0", 2), 1);
  EXPECT_EQ(parse_label("9", 10), 9);
  for (const char* wrong : {"", "2", "-1", "1.5", "1 ", " 1", "one", ".0", "1.0.0", "99999999999999999999", "+1"}) {
    EXPECT_EQ(test::thrown_message<io::Error>([&] { parse_label(wrong, 2); }),
              "the label '" + std::string(wrong).substr(0, 20) + "' must be a whole number from 0 to 1");
  }
}

}  // namespace
}  // namespace cachet::data
