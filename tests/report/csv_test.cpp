#include "cachet/report/csv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace cachet::report {
namespace {

// Reads one record as RFC 4180 defines it.
std::vector<std::string> parsed_record(const std::string& text) {
  std::vector<std::string> fields(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      for (++i; i < text.size() && (text[i] != '"' || (i + 1 < text.size() && text[i + 1] == '"')); ++i) {
        fields.back() += text[i];
        i += text[i] == '"';
      }
    } else if (text[i] == ',') {
      fields.emplace_back();
    } else if (text.substr(i) == "\r\n") {
      return fields;
    } else {
      fields.back() += text[i];
    }
  }
  ADD_FAILURE() << "no line end";
  return fields;
}

TEST(CsvTest, QuotesWhatNeedsIt) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"no\""), "\"say \"\"no\"\"\"");
  EXPECT_EQ(csv_field(" edge"), "\" edge\"");
  EXPECT_EQ(csv_line({""}), "\"\"\r\n");
}

TEST(CsvTest, RecordsReadBack) {
  std::mt19937 random(1);
  const std::string letters = "a,\"\r\n ;é";
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> fields(1 + random() % 5);
    for (std::string& field : fields) {
      for (unsigned i = random() % 6; i > 0; --i) field += letters[random() % letters.size()];
    }
    EXPECT_EQ(parsed_record(csv_line(fields)), fields);
  }
}

TEST(CsvTest, NumbersReadBackExactly) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 500; ++round) {
    const double value = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200) - 160);
    EXPECT_EQ(std::strtod(csv_number(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(csv_number(0.1), "0.1");
  EXPECT_EQ(csv_number(NAN), "nan");
  EXPECT_EQ(csv_number(-INFINITY), "-inf");
}

}  // namespace
}  // namespace cachet::report
