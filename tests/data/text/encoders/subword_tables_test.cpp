#include "cachet/data/text/encoders/subword_tables.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace cachet::data {
namespace {

using UnitTable = std::array<uint32_t, 256>;

constexpr uint32_t kNoByte = uint32_t{1} << 31;  // an entry's value, or an unused node

/// A node that `byte` leads to, at place `at`, with its children from place `children` on.
uint32_t table_node(uint32_t byte, bool has_entry, uint32_t at, uint32_t children) {
  return byte | (has_entry ? uint32_t{1} << 8 : 0) | (at ^ children) << 10;
}

UnitTable empty_subword_table() {
  UnitTable table;
  table.fill(kNoByte);
  table[0] = table_node(0, false, 0, 1);
  return table;
}

std::string table_bytes(const UnitTable& table, const std::string& behind = std::string("x\0", 2)) {
  const auto size = static_cast<uint32_t>(sizeof(table));
  std::string bytes(sizeof(size) + sizeof(table), '\0');
  std::memcpy(bytes.data(), &size, sizeof(size));
  std::memcpy(bytes.data() + sizeof(size), table.data(), sizeof(table));
  return bytes + behind;
}

TEST(SubwordTables, AWayThatEndsIsSafe) {
  UnitTable table = empty_subword_table();
  EXPECT_EQ(table_problem(table_bytes(table)), std::nullopt);
  table['a' ^ 1] = table_node('a', true, 'a' ^ 1, 2);
  EXPECT_EQ(table_problem(table_bytes(table)), std::nullopt);
  table['b' ^ 1] = table_node('b', true, 'b' ^ 1, 2);
  EXPECT_EQ(table_problem(table_bytes(table)), std::nullopt) << "two ways may meet";
}

TEST(SubwordTables, StepsOutsideAreRefused) {
  UnitTable table = empty_subword_table();
  table['a' ^ 1] = table_node('a', false, 'a' ^ 1, 256);
  EXPECT_EQ(table_problem(table_bytes(table)), "an entry of its table points outside the table");
  table = empty_subword_table();
  table[0] = table_node(0, false, 0, 1) | 1 << 9 | 1 << 10;  // bit 9: times 256
  EXPECT_EQ(table_problem(table_bytes(table)), "an entry of its table points outside the table");
}

TEST(SubwordTables, CirclesAreRefused) {
  UnitTable table = empty_subword_table();
  table['a' ^ 1] = table_node('a', false, 'a' ^ 1, 1);
  EXPECT_EQ(table_problem(table_bytes(table)), "its table has a cycle");
}

TEST(SubwordTables, AsManyEntriesOnAWayAsSentencePieceHasRoomFor) {
  for (const uint32_t entries : {32u, 33u}) {
    UnitTable table = empty_subword_table();
    table[0] = table_node(0, false, 0, 0x80 ^ 'a');
    for (uint32_t at = 0x80; at < 0x80 + entries; ++at) table[at] = table_node('a', true, at, (at + 1) ^ 'a');
    EXPECT_EQ(table_problem(table_bytes(table)).has_value(), entries == 33) << entries;
  }
}

TEST(SubwordTables, SizesThatLieAreRefusedHereOrThere) {
  const std::string whole = table_bytes(empty_subword_table());
  EXPECT_EQ(table_problem(""), std::nullopt);
  EXPECT_EQ(table_problem(whole.substr(0, 4)), std::nullopt);
  for (const size_t cut : {size_t{5}, whole.size() - 3, whole.size() - 2})
    EXPECT_EQ(table_problem(whole.substr(0, cut)), "its table is truncated") << cut;
  EXPECT_EQ(table_problem(std::string("\x10\0\0\0", 4) + whole), std::nullopt) << "SentencePiece refuses such a size";
}

TEST(SubwordTables, AreFoundInTheMessage) {
  using namespace std::string_literals;
  const std::string spec = "\x0a\x01n\x12\x02T1\x18\x01"s;
  const std::string message =
      "\x0a\x03\x0a\x01p\x1a\x09"s + spec + "\x1d\0\0\0\0\x21\0\0\0\0\0\0\0\0\x1a\x04\x12\x02T2"s;
  const auto tables = normalization_tables(message);
  ASSERT_TRUE(tables);
  EXPECT_EQ(*tables, (std::vector<std::string_view>{"T1", "T2"}));
  EXPECT_TRUE(normalization_tables("")->empty());
  for (const std::string& damaged :
       {"\x1a"s, "\x1a\x05\x12"s, "\x1a\x02\x12\x09"s, "\x1b"s, "\x00\x00"s, "\x1d\0\0"s, "\x21\0"s, "\x08"s,
        "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s, "\xff\xff\xff\xff\xff\x01\x01"s})
    EXPECT_FALSE(normalization_tables(damaged)) << damaged.size();
}

}  // namespace
}  // namespace cachet::data
