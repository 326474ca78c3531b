// One case of each way in which a safetensors header can be wrong, and its message.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "cachet/io/error.h"
#include "cachet/io/tensors/safetensors/safetensors_header.h"
#include "tests/support/bytes.h"
#include "tests/support/cheap_refusal.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

struct BadHeader {
  const char* why;
  std::string json;
  std::string message;  // a part of the expected message
  uint64_t data_size = 4;
};

std::string entry_text(const std::string& name, const std::string& dtype, const std::string& shape,
                       const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}
std::string named(const std::string& name) { return "{" + entry_text(name, "\"F32\"", "[1]", "[0,4]") + "}"; }
std::string shaped(const std::string& shape, const std::string& offsets = "[0,4]") {
  return "{" + entry_text("a", "\"F32\"", shape, offsets) + "}";
}
std::string typed(const std::string& dtype) { return "{" + entry_text("a", dtype, "[1]", "[0,4]") + "}"; }
std::string fields(const std::string& text) { return "{\"a\":{" + text + "}}"; }
std::string with_metadata(const std::string& text) {
  return "{\"__metadata__\":" + text + "," + entry_text("a", "\"F32\"", "[1]", "[0,4]") + "}";
}
std::string two(const std::string& first, const std::string& second) {
  return "{" + entry_text("a", "\"U8\"", "[2]", first) + "," + entry_text("b", "\"U8\"", "[2]", second) + "}";
}
std::string repeated(const std::string& text, size_t count) {
  std::string all;
  while (count-- > 0) all += text;
  return all;
}

const std::string kGoodHeader = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";

const std::vector<BadHeader> kBadHeaders = {
    {"empty", "", "must begin with '{'"},
    {"blanks alone", " \t\r\n", "must begin with '{'"},
    {"leading form feed", "\f" + kGoodHeader, "must begin with '{'"},
    {"byte order mark", "\xEF\xBB\xBF" + kGoodHeader, "must begin with '{'"},
    {"no JSON", "hello", "must begin with '{'"},
    {"root is a list", "[" + kGoodHeader + "]", "must begin with '{'"},
    {"root is a string", "\"a\"", "must begin with '{'"},
    {"cut after the brace", "{", "a tensor's name must be a string"},
    {"cut in a name", "{\"a", "the JSON ends inside a string"},
    {"cut behind a name", "{\"a\"", "the JSON ends, but ':' is missing"},
    {"cut in an entry", kGoodHeader.substr(0, 20), "a field's name must be a string"},
    {"cut before the last brace", kGoodHeader.substr(0, kGoodHeader.size() - 1), "the JSON ends, but '}' is missing"},
    {"junk behind the object", kGoodHeader + "x", "the text continues after the JSON object"},
    {"a second object", kGoodHeader + kGoodHeader, "the text continues after the JSON object"},
    {"padding with zeros", kGoodHeader + std::string(2, '\0'), "the text continues after the JSON object"},
    {"trailing comma in the root", kGoodHeader.substr(0, kGoodHeader.size() - 1) + ",}", "name must be a string"},
    {"trailing comma in a shape", shaped("[1,]"), "must be a plain integer"},
    {"comment", "{/**/}", "must be a string"},
    {"single quotes", "{'a':1}", "must be a string"},
    {"name without quotes", "{a:1}", "must be a string"},
    {"no UTF-8: continuation alone", named("\x80"), "not UTF-8"},
    {"no UTF-8: cut sequence", named("\xC3"), "not UTF-8"},
    {"no UTF-8: over-long", named("\xC0\xAF"), "not UTF-8"},
    {"no UTF-8: over-long of three", named("\xE0\x80\xAF"), "not UTF-8"},
    {"no UTF-8: surrogate", named("\xED\xA0\x80"), "not UTF-8"},
    {"no UTF-8: beyond Unicode", named("\xF4\x90\x80\x80"), "not UTF-8"},
    {"no UTF-8: lead byte FF", named("\xFF"), "not UTF-8"},
    {"duplicate tensor",
     "{" + repeated(entry_text("a", "\"U8\"", "[0]", "[0,0]") + ",", 1) + entry_text("a", "\"F32\"", "[1]", "[0,4]") +
         "}",
     "tensor 'a' comes twice"},
    {"duplicate tensor by an escape",
     "{" + entry_text("a", "\"U8\"", "[0]", "[0,0]") + "," + entry_text("\\u0061", "\"F32\"", "[1]", "[0,4]") + "}",
     "tensor 'a' comes twice"},
    {"duplicate field", fields(R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])"),
     "field 'dtype' of tensor 'a' comes twice"},
    {"duplicate shape", fields(R"("dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4])"), "'shape'"},
    {"duplicate offsets", fields(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"data_offsets":[0,4])"),
     "'data_offsets' of tensor 'a' comes twice"},
    {"duplicate metadata", with_metadata("{},\"__metadata__\":{}"), "__metadata__ comes twice"},
    {"duplicate metadata by an escape", with_metadata("{},\"\\u005f_metadata__\":{}"), "__metadata__ comes twice"},
    {"duplicate metadata key", with_metadata(R"({"k":"1","k":"2"})"), "metadata key 'k' comes twice"},
    {"metadata number", with_metadata(R"({"k":1})"), "a metadata value must be a string"},
    {"metadata null value", with_metadata(R"({"k":null})"), "a metadata value must be a string"},
    {"metadata nested", with_metadata(R"({"k":{}})"), "a metadata value must be a string"},
    {"metadata null", with_metadata("null"), "expected '{'"},
    {"metadata list", with_metadata("[]"), "expected '{'"},
    {"missing dtype", fields(R"("shape":[1],"data_offsets":[0,4])"), "tensor 'a' has no 'dtype'"},
    {"missing shape", fields(R"("dtype":"F32","data_offsets":[0,4])"), "tensor 'a' has no 'shape'"},
    {"missing offsets", fields(R"("dtype":"F32","shape":[1])"), "tensor 'a' has no 'data_offsets'"},
    {"no fields", fields(""), "tensor 'a' has no 'dtype'"},
    {"unknown field", fields(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"strides":[1])"),
     "unknown field 'strides' of tensor 'a'"},
    {"entry is a list", R"({"a":["F32",[1],[0,4]]})", "expected '{'"},
    {"entry is null", R"({"a":null})", "expected '{'"},
    {"unknown dtype", typed("\"F33\""), "unknown dtype 'F33'"},
    {"lower-case dtype", typed("\"f32\""), "unknown dtype 'f32'"},
    {"empty dtype", typed("\"\""), "unknown dtype ''"},
    {"control characters in a message", typed("\"\\n\\u001b[2J\""), "unknown dtype '??[2J'"},
    {"dtype number", typed("32"), "dtype must be a string"},
    {"dtype object", typed("{\"F32\":null}"), "dtype must be a string"},
    {"sub-byte dtype", typed("\"F4\""), "dtype 'F4' stores several values in a byte"},
    {"sub-byte dtype of six bits", typed("\"F6_E2M3\""), "dtype 'F6_E2M3' stores several values in a byte"},
    {"negative dimension", shaped("[-1]"), "a dimension must be a plain integer"},
    {"negative zero", shaped("[-0]", "[0,0]"), "a dimension must be a plain integer"},
    {"fraction", shaped("[1.0]"), "a dimension must be a plain integer"},
    {"exponent", shaped("[1e0]"), "a dimension must be a plain integer"},
    {"leading zero", shaped("[01]"), "a dimension must be a plain integer"},
    {"plus sign", shaped("[+1]"), "a dimension must be a plain integer"},
    {"hexadecimal", shaped("[0x1]"), "expected ']'"},
    {"dimension string", shaped("[\"1\"]"), "a dimension must be a plain integer"},
    {"dimension null", shaped("[null]"), "a dimension must be a plain integer"},
    {"dimension nested", shaped("[[1]]"), "a dimension must be a plain integer"},
    {"dimension of 2^63", shaped("[9223372036854775808]"), "a dimension is over 2^63 - 1"},
    {"dimension of 40 digits", shaped("[" + std::string(40, '9') + "]"), "a dimension is over 2^63 - 1"},
    {"shape null", shaped("null"), "expected '['"},
    {"shape number", shaped("1"), "expected '['"},
    {"product overflow", shaped("[2,9223372036854775807]"), "its shape overflows 2^63 bytes"},
    {"product that wraps to 4 bytes", shaped("[4294967296,4294967296,1]"), "its shape overflows 2^63 bytes"},
    {"bytes overflow", shaped("[4611686018427387905]"), "its shape overflows 2^63 bytes"},
    {"overflow beside a zero", shaped("[0,4294967296,4294967296]", "[0,0]"), "its shape overflows", 0},
    {"17 dimensions", shaped("[" + repeated("1,", 16) + "1]"), "more than 16 dimensions"},
    {"begin behind end", shaped("[1]", "[4,0]"), "data_offsets end before they begin"},
    {"span too long", shaped("[1]", "[0,8]"),
     "shape and dtype need 4 bytes, but the number of bytes between its data_offsets is 8", 8},
    {"span too short", shaped("[2]", "[0,4]"),
     "shape and dtype need 8 bytes, but the number of bytes between its data_offsets is 4"},
    {"span for a zero-size tensor", shaped("[0]", "[0,4]"),
     "need 0 bytes, but the number of bytes between its data_offsets is 4"},
    {"one offset", shaped("[1]", "[0]"), "expected ','"},
    {"three offsets", shaped("[1]", "[0,4,8]"), "expected ']'"},
    {"negative offset", shaped("[1]", "[-4,0]"), "an offset must be a plain integer"},
    {"offset of 2^64", shaped("[1]", "[0,18446744073709551616]"), "an offset is over 2^63 - 1"},
    {"first tensor not at 0", shaped("[1]", "[4,8]"), "begins at byte 4 of the data, but must begin at byte 0", 8},
    {"gap", two("[0,2]", "[3,5]"), "tensor 'b' begins at byte 3 of the data, but must begin at byte 2", 5},
    {"overlap", two("[0,2]", "[1,3]"), "without overlap", 3},
    {"two tensors on the same bytes", two("[0,2]", "[0,2]"), "without overlap", 2},
    {"trailing bytes", named("a"), "cover 4 bytes, but 5 follow the header: the file is too long", 5},
    {"missing bytes", named("a"), "cover 4 bytes, but 3 follow the header: the file is truncated", 3},
    {"bytes without tensors", "{}", "cover 0 bytes, but 4 follow"},
    {"deep nesting in place of an entry", "{\"a\":" + std::string(1000, '['), "expected '{'"},
    {"deep nesting in place of a shape", shaped(std::string(100'000, '[')), "must be a plain integer"},
    {"empty name", named(""), "a tensor has an empty name"},
    {"NUL in a name", named("a\\u0000"), "a tensor's name has a control character"},
    {"newline in a name", named("a\\n"), "a tensor's name has a control character"},
    {"DEL in a name", named("a\x7F"), "a tensor's name has a control character"},
    {"raw control byte", named("a\x01"), "a string has a control byte"},
    {"lone high surrogate", named("\\ud800"), "a surrogate without its pair"},
    {"lone low surrogate", named("\\udc00"), "a surrogate without its pair"},
    {"two high surrogates", named("\\ud800\\ud800"), "a surrogate without its pair"},
    {"unknown escape", named("\\x41"), "unknown escape"},
    {"short escape", named("\\u12"), "four hexadecimal digits"},
    {"long name", named(std::string(1025, 'n')), "a tensor's name has more than 1024 bytes"},
    {"long metadata", with_metadata("{\"k\":\"" + std::string(17 << 20, 'v') + "\"}"),
     "a metadata value has more than"},
};

TEST(SafetensorsHeader, RefusesEveryBadHeaderWithItsReason) {
  EXPECT_GE(kBadHeaders.size(), 100u);
  for (const BadHeader& bad : kBadHeaders) {
    SCOPED_TRACE(bad.why);
    const std::string message = test::cheap_refusal<Error>(
        bad.json.size(), [&] { parse_safetensors_header(bad.json, bad.data_size, "bad.safetensors"); });
    EXPECT_TRUE(message.starts_with("bad.safetensors: ")) << bad.why << ": " << message;
    EXPECT_NE(message.find(bad.message), std::string::npos) << bad.why << ": " << message;
  }
}

TEST(SafetensorsHeader, RefusesBadLengths) {
  const auto refusal = [](const std::string& prefix, uint64_t file_size) {
    return test::thrown_message<Error>([&] { safetensors_header_size(test::bytes_of(prefix), file_size, "f"); });
  };
  EXPECT_EQ(refusal("", 0), "f: not a safetensors file: it has 0 bytes; the minimum is 8");
  EXPECT_EQ(refusal("1234567", 7), "f: not a safetensors file: it has 7 bytes; the minimum is 8");
  EXPECT_NE(refusal(std::string(8, '\xFF'), 100).find("18446744073709551615 bytes"), std::string::npos);
  EXPECT_NE(refusal("\xF8" + std::string(7, '\xFF'), 100).find("the maximum is 100000000"), std::string::npos);
  EXPECT_NE(refusal(std::string("\x01\xE1\xF5\x05\0\0\0\0", 8), 1u << 30).find("100000001 bytes"), std::string::npos);
  EXPECT_NE(
      refusal(std::string("\x03\0\0\0\0\0\0\0", 8), 10)
          .find("truncated: the header has 3 bytes, but the number of bytes after the length of the header is only 2"),
      std::string::npos);
  EXPECT_EQ(safetensors_header_size(test::bytes_of(std::string("\x02\0\0\0\0\0\0\0", 8)), 10, "f"), 2u);
}

TEST(SafetensorsHeader, RefusesEveryPrefixOfAGoodHeader) {
  for (size_t size = 0; size < kGoodHeader.size(); ++size) {
    EXPECT_THROW(parse_safetensors_header(kGoodHeader.substr(0, size), 4, "f"), Error) << size;
  }
}

TEST(SafetensorsHeader, RefusesBadHeadersUnder1MbIn10Milliseconds) {
  for (const BadHeader& bad : kBadHeaders) {
    if (bad.json.size() > 1'000'000) continue;
    auto least =
        std::chrono::steady_clock::duration::max();  // the least of a few: other programs may hold the processor
    for (int attempt = 0; attempt < 5; ++attempt) {
      const auto start = std::chrono::steady_clock::now();
      EXPECT_THROW(parse_safetensors_header(bad.json, bad.data_size, "f"), Error);
      least = std::min(least, std::chrono::steady_clock::now() - start);
    }
    EXPECT_LT(std::chrono::duration<double>(least).count(), 0.010) << bad.why;
  }
}

}  // namespace
}  // namespace cachet::io
