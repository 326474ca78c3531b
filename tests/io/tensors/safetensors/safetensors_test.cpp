#include "cachet/io/tensors/safetensors/safetensors.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>

#include "cachet/io/tensors/safetensors/safetensors_header.h"
#include "tests/support/bytes.h"
#include "tests/support/peak_memory.h"
#include "tests/support/recording_file_system.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

using test::TemporaryDirectory;

std::string safetensors_file(const std::string& json, const std::string& data = "") {
  std::string file;
  for (size_t i = 0; i < 8; ++i) file += static_cast<char>(json.size() >> (8 * i));
  return file + json + data;
}

Safetensors parsed(const std::string& file) { return parse_safetensors(test::bytes_of(file), "f"); }

std::string refusal_of(const std::filesystem::path& path) {
  return test::thrown_message<Error>([&] { read_safetensors(path); });
}

TEST(Safetensors, WritesAndReadsEveryType) {
  const TemporaryDirectory folder;
  TensorMap tensors;
  for (const at::ScalarType type :
       {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kUInt16, at::kUInt32, at::kUInt64,
        at::kHalf, at::kBFloat16, at::kFloat, at::kDouble, at::kComplexFloat, at::kFloat8_e5m2, at::kFloat8_e4m3fn,
        at::kFloat8_e5m2fnuz, at::kFloat8_e4m3fnuz, at::kFloat8_e8m0fnu}) {
    tensors[std::string("of ") + c10::toString(type)] = at::arange(6).reshape({2, 3}).to(type);
  }
  tensors["scalar"] = at::tensor(2.5);
  tensors["empty"] = at::zeros({3, 0, 2});
  tensors["strided"] = at::rand({4, 6}).t().slice(0, 0, 6, 2);
  tensors["Grüße"] = at::ones({1});
  const std::map<std::string, std::string> metadata = {{"format", "pt"},
                                                       {"text", "line\n\"two\"\t\\ \xF0\x9F\x98\x80"}};
  write_safetensors(folder / "a.safetensors", tensors, metadata);
  const Safetensors read = read_safetensors(folder / "a.safetensors");
  EXPECT_EQ(read.metadata, metadata);
  EXPECT_EQ(read_safetensors_metadata(folder / "a.safetensors"), metadata);
  ASSERT_EQ(read.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor& other = read.tensors.at(name);
    EXPECT_EQ(other.scalar_type(), tensor.scalar_type()) << name;
    ASSERT_EQ(other.sizes(), tensor.sizes()) << name;
    if (tensor.numel() == 0) continue;
    EXPECT_TRUE(at::equal(other.contiguous().view(at::kByte), tensor.contiguous().view(at::kByte))) << name;
  }
  EXPECT_EQ(serialize_safetensors(tensors, metadata), serialize_safetensors(read.tensors, read.metadata));
}

TEST(Safetensors, AcceptsWhatTheFormatAllows) {
  EXPECT_TRUE(parsed(safetensors_file("{}")).tensors.empty());
  EXPECT_TRUE(parsed(safetensors_file("{}   ")).tensors.empty());
  EXPECT_TRUE(parsed(safetensors_file("{ }\n\t\r ")).tensors.empty());
  EXPECT_TRUE(parsed(safetensors_file("\r \t\n{}")).tensors.empty()) << "as a file of upstream's tests has it";
  EXPECT_TRUE(parsed(safetensors_file(R"({"__metadata__":{}})")).metadata.empty());
  EXPECT_EQ(parsed(safetensors_file(R"({"__metadata__":{"":"\u00e9\ud83d\ude00\/\b"}})")).metadata.at(""),
            "\xC3\xA9\xF0\x9F\x98\x80/\b");
  const auto any_order = parsed(safetensors_file(
      R"({"b":{"data_offsets":[4,5],"shape":[],"dtype":"U8"}, "a" : {"shape" : [ 1 ],"dtype":"F32","data_offsets":[0,4]} })",
      std::string("\0\0\x80?\x07", 5)));
  EXPECT_EQ(any_order.tensors.at("a").item<float>(), 1.0F);
  EXPECT_EQ(any_order.tensors.at("b").item<int>(), 7);
  EXPECT_EQ(any_order.tensors.at("b").dim(), 0);
  const auto misaligned = parsed(safetensors_file(
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]},)"
      R"("c":{"dtype":"F64","shape":[0,5],"data_offsets":[1,1]}})",
      std::string("\x07\0\0\x80?", 5)));
  EXPECT_EQ(misaligned.tensors.at("b").item<float>(), 1.0F);
  EXPECT_EQ(misaligned.tensors.at("c").sizes(), (std::vector<int64_t>{0, 5}));
}

TEST(Safetensors, ReportsNonFiniteValuesByName) {
  const TensorMap tensors = {{"fine", at::ones({3})},
                             {"nan", at::tensor({1.0, NAN})},
                             {"infinite", at::tensor({-INFINITY, 1.0}).to(at::kHalf)},
                             {"narrow", at::tensor({NAN}).to(at::kFloat8_e5m2)},
                             {"whole", at::ones({2}, at::kLong)},
                             {"empty", at::zeros({0})}};
  const auto bytes = serialize_safetensors(tensors);
  EXPECT_EQ(non_finite(parse_safetensors(bytes, "f").tensors), (std::vector<std::string>{"infinite", "nan", "narrow"}));
}

TEST(Safetensors, RefusesBooleansThatAreNeither) {
  const std::string header = R"({"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})";
  EXPECT_NO_THROW(parsed(safetensors_file(header, std::string("\0\1", 2))));
  EXPECT_EQ(test::thrown_message<Error>([&] { parsed(safetensors_file(header, "\1\2")); }),
            "f: tensor 'a' of BOOL has a byte that is neither 0 nor 1");
}

TEST(Safetensors, RefusesEveryTruncationOfAFile) {
  const TemporaryDirectory folder;
  const std::string file =
      test::text_of(serialize_safetensors({{"a", at::ones({3})}, {"b", at::ones({2}, at::kByte)}}));
  for (size_t size = 0; size < file.size(); ++size) {
    test::write_bytes(folder / "cut", file.substr(0, size));
    const std::string message = refusal_of(folder / "cut");
    EXPECT_TRUE(message.starts_with((folder / "cut").string() + ": ")) << message;
  }
  test::write_bytes(folder / "cut", file + '\0');
  EXPECT_NE(refusal_of(folder / "cut").find("too long"), std::string::npos);
}

TEST(Safetensors, ReadsRegularFilesOnly) {
  const TemporaryDirectory folder;
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_NE(refusal_of(folder / "fifo").find("is not a regular file"), std::string::npos);
  EXPECT_NE(refusal_of("/dev/zero").find("is not a regular file"), std::string::npos);
  EXPECT_NE(refusal_of(folder.path()).find("is a folder"), std::string::npos);
  EXPECT_NE(refusal_of(folder / "none").find("No such file"), std::string::npos);
}

TEST(Safetensors, RefusesToWriteWhatItWouldNotRead) {
  const auto refusal = [](const TensorMap& tensors, const std::map<std::string, std::string>& metadata = {}) {
    return test::thrown_message<Error>([&] { serialize_safetensors(tensors, metadata); });
  };
  const at::Tensor one = at::ones({1});
  EXPECT_EQ(refusal({{"a", at::Tensor()}}), "tensor 'a' is undefined");
  EXPECT_EQ(refusal({{"a", one.to(at::kComplexDouble)}}), "tensor 'a': safetensors has no type for ComplexDouble");
  EXPECT_EQ(refusal({{"", one}}), "safetensors: a tensor has an empty name");
  EXPECT_EQ(refusal({{"__metadata__", one}}), "safetensors: the name of a tensor must not be __metadata__");
  EXPECT_EQ(refusal({{"a\n", one}}), "safetensors: a tensor's name has a control character");
  EXPECT_EQ(refusal({{"\xFF", one}}), "safetensors: names and metadata must be UTF-8");
  EXPECT_EQ(refusal({{"a", one}}, {{"k", "\xFF"}}), "safetensors: names and metadata must be UTF-8");
  EXPECT_NE(refusal({{"a", at::ones(std::vector<int64_t>(17, 1))}}).find("more than 16 dimensions"), std::string::npos);
}

TEST(Safetensors, AFailedWriteKeepsTheOldFile) {
  const TemporaryDirectory folder;
  write_safetensors(folder / "a", {{"x", at::ones({2})}});
  test::RecordingFileSystem file_system;
  file_system.fail_at(1, ENOSPC);
  const std::string message = test::thrown_message<Error>([&] {
    write_safetensors(folder / "a", {{"x", at::zeros({2})}}, {}, file_system);
  });
  EXPECT_NE(message.find("No space left on device"), std::string::npos) << message;
  EXPECT_TRUE(at::equal(read_safetensors(folder / "a").tensors.at("x"), at::ones({2})));
}

// Headers of 20 MB made of as many entries as fit, in several forms; larger ones meet the same caps.
TEST(Safetensors, HostileHeadersCostLittleMoreMemoryThanTheFile) {
  const TemporaryDirectory folder;
  const auto repeat = [](const std::string& text) {
    std::string all = "{";
    for (size_t i = 0; all.size() + text.size() + 20 < 20'000'000; ++i) {
      all += '"';
      all += std::to_string(i) + "\":" + text + ",";
    }
    return all + "\"z\":1}";
  };
  const std::string wide = R"({"dtype":"U8","shape":[0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,0]})";
  const std::string headers[] = {
      repeat(R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})"),
      repeat(wide),
      "{\"__metadata__\":" + repeat("\"\"") + "}",
      "{\"__metadata__\":{\"k\":\"" + std::string(20'000'000, 'v') + "\"}}",
      "{\"" + std::string(20'000'000, 'n') + "\":1}",
      "{\"a\":{\"shape\":[" + std::string(20'000'000, '[') + "]}}",
  };
  if (!test::reset_peak_memory()) GTEST_SKIP() << "the kernel does not count this process's memory";
  for (const std::string& header : headers) {
    test::write_bytes(folder / "large", safetensors_file(header));
    const uint64_t size = header.size() + 8;
    test::reset_peak_memory();
    const uint64_t before = test::peak_memory();
    EXPECT_NE(refusal_of(folder / "large"), "(nothing thrown)");
    const uint64_t used = test::peak_memory() - before;
    EXPECT_LE(used, size + (uint64_t{64} << 20)) << header.substr(0, 60);
  }
}

}  // namespace
}  // namespace cachet::io
