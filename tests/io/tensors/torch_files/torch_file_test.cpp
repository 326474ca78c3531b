#include "cachet/io/tensors/torch_files/torch_file.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "cachet/io/error.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/weights_file.h"
#include "tests/support/bytes.h"
#include "tests/support/cheap_refusal.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torch_archive.h"

namespace cachet::io {
namespace {

namespace p = test::pickled;
using test::torch_archive;

const std::string kNumbers = test::float_bytes({0, 1, 2, 3, 4, 5});
const std::string kWeight = p::tensor(p::storage("0", 6), 0, {2, 3}, {3, 1});

TorchFile open(const std::string& file) { return TorchFile(std::as_bytes(std::span(file)), "file.pth"); }

TensorMap tensors_of(const TorchFile& file) {
  std::map<std::string, PickleTree::Tensor> which;
  const PickleTree& tree = file.contents();
  for (const auto& [key, value] : tree.as<PickleTree::Dict>(tree.root)->items)
    which.emplace(*tree.as<std::string_view>(key), *tree.as<PickleTree::Tensor>(value));
  return file.tensors(which);
}

TEST(TorchFile, ReadsTensorsAsTheyLieInTheirStorages) {
  const std::string file =
      torch_archive(p::program(p::dict({{"plain", kWeight},
                                        {"transposed", p::tensor(p::storage("0", 6), 0, {3, 2}, {1, 3})},
                                        {"part", p::tensor(p::storage("0", 6), 1, {2}, {2})},
                                        {"number", p::tensor(p::storage("0", 6), 5, {}, {})},
                                        {"half", p::tensor(p::storage("1", 2, "BFloat16Storage"), 0, {2}, {1})},
                                        {"counts", p::tensor(p::storage("2", 1, "LongStorage"), 0, {1}, {1})},
                                        {"none", p::tensor(p::storage("3", 0), 0, {0, 4}, {4, 1})}})),
                    {kNumbers, std::string("\x80\x3f\x00\xc0", 4), test::u64(7), ""});
  const TensorMap tensors = tensors_of(open(file));
  const at::Tensor plain = at::arange(6, at::kFloat).reshape({2, 3});
  EXPECT_TRUE(at::equal(tensors.at("plain"), plain));
  EXPECT_TRUE(at::equal(tensors.at("transposed"), plain.t()));
  EXPECT_TRUE(at::equal(tensors.at("part"), at::tensor({1.F, 3.F})));
  EXPECT_EQ(tensors.at("number").item<float>(), 5);
  EXPECT_TRUE(at::equal(tensors.at("half"), at::tensor({1.F, -2.F}).to(at::kBFloat16)));
  EXPECT_TRUE(at::equal(tensors.at("counts"), at::tensor({7}, at::kLong)));
  EXPECT_EQ(tensors.at("none").sizes(), (std::vector<int64_t>{0, 4}));
  EXPECT_TRUE(tensors.at("plain").storage().is_alias_of(tensors.at("part").storage()));
}

TEST(TorchFile, RefusesWhatElseIsCalledPth) {
  const std::string pickle = p::program(p::dict({{"w", kWeight}}));
  const auto zip = [&](std::vector<test::ZipPart> parts) {
    parts.push_back({"m/data.pkl", pickle});
    parts.push_back({"m/data/0", kNumbers});
    return test::zip_archive(parts);
  };
  for (const auto& [file, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "not a PyTorch file"},
           {"hello", "not a PyTorch file"},
           {std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.", 20),
            "before PyTorch 1.6"},
           {pickle, "is a pickle file"},
           {std::string(257, 'x') + "ustar", "tar archive"},
           {"version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 22883123\n", "is a Git LFS pointer"},
           {"7z\xbc\xaf\x27\x1c", "7z archive"},
           {"\x1f\x8b\x08", "gzip"},
           {"\x89HDF\r\n", "HDF5"},
           {zip({{"m/constants.pkl", "x"}}), "TorchScript"},
           {zip({{"m/byteorder", "big"}}), "byte order"},
           {zip({{"m/byteorder", std::string(40, 'b')}}), "byte order"},
           {zip({{"other/data.pkl", "x"}}), "is not a PyTorch file"},
           {zip({{"data.pkl", "x"}}), "is not a PyTorch file"},
           {test::zip_archive({{"m/data/0", kNumbers}}), "has no member 'm/data.pkl'"},
           {torch_archive(pickle), "has no member 'archive/data/0'"},
           {torch_archive(std::string((64 << 20) + 1, '.')), "data.pkl has 67108865 bytes; the maximum is"},
           {torch_archive(pickle, {kNumbers + "1234"}), "its record has 28 bytes"},
           {torch_archive(p::program(p::call(p::global("os", "system"), p::text("true")))), "contains code"}}) {
    const std::string said = test::cheap_refusal<Error>(file.size(), [&, &file = file] { open(file); });
    EXPECT_TRUE(said.starts_with("file.pth: ")) << said;
    EXPECT_NE(said.find(message), std::string::npos) << message << ": " << said;
  }
  std::string damaged = torch_archive(pickle, {kNumbers});
  damaged[damaged.find(kNumbers) + 5] ^= 1;
  EXPECT_NE(test::thrown_message<Error>([&] { tensors_of(open(damaged)); }).find("is damaged"), std::string::npos);
  const std::string bools =
      torch_archive(p::program(p::dict({{"b", p::tensor(p::storage("0", 2, "BoolStorage"), 0, {2}, {1})}})), {"\1\2"});
  EXPECT_NE(test::thrown_message<Error>([&] { tensors_of(open(bools)); }).find("neither 0 nor 1"), std::string::npos);
}

TEST(WeightsFile, FindsTheWeightsOfACheckpoint) {
  const test::TemporaryDirectory folder;
  const auto saved = [&](const std::string& root) {
    test::write_bytes(folder / "file.pth", torch_archive(p::program(root), {kNumbers}));
    return folder / "file.pth";
  };
  const std::string dict = p::dict({{"w", kWeight}});
  const std::string arguments = p::global("argparse", "Namespace") + ")\x81}b";
  EXPECT_EQ(read_weights_file(saved(dict)).key, "");
  for (const char* key : {"state_dict", "model", "model_state_dict", "state_dict_ema", "net"})
    EXPECT_EQ(read_weights_file(saved(p::dict({{"args", arguments}, {key, dict}, {"epoch", "K\1"}}))).key, key);
  const auto both = saved(p::dict({{"model", dict}, {"model_ema", dict}, {"other", dict}}));
  EXPECT_EQ(read_weights_file(both).key, "model_ema");
  EXPECT_EQ(read_weights_file(both, "other").key, "other");
  EXPECT_NE(test::thrown_message<Error>([&] { read_weights_file(both, "optimizer"); }).find("it has 'model'"),
            std::string::npos);

  // Within each other, with and without a name.
  const auto nested = saved(p::dict({{"checkpoint", p::dict({{"epoch", "K\1"}, {"model", dict}})},
                                     {"a.b", p::dict({{"c", p::dict({{"state_dict", p::dict({{"model", dict}})}})}})},
                                     {"meta", "K\1"}}));
  EXPECT_EQ(read_weights_file(nested, "checkpoint").key, "checkpoint.model");
  EXPECT_EQ(read_weights_file(nested, "checkpoint.model").key, "checkpoint.model");
  EXPECT_EQ(read_weights_file(nested, "a.b.c").key, "a.b.c.state_dict.model");
  EXPECT_NE(test::thrown_message<Error>([&] { read_weights_file(nested, "a.b"); }).find("under 'a.b'; it has 'c'"),
            std::string::npos);
  EXPECT_NE(test::thrown_message<Error>([&] { read_weights_file(nested); }).find("it has 'checkpoint', 'a.b', 'meta'"),
            std::string::npos);
  EXPECT_NE(
      test::thrown_message<Error>([&] { read_weights_file(nested, "checkpoint.epoch"); }).find("no dictionary under"),
      std::string::npos);

  EXPECT_EQ(read_weights_file(saved(p::dict({{"model", p::dict({{"module", dict}})}}))).key, "model.module");

  // A key that was tried is not offered.
  const auto refusal = [&](const std::string& root, const std::string& key = "") {
    const auto file = saved(root);
    return test::thrown_message<Error>([&] { read_weights_file(file, key); });
  };
  EXPECT_TRUE(refusal(p::dict({{"model", "}"}})).ends_with("has no weights under the usual keys; it has 'model'"));
  EXPECT_TRUE(refusal(p::dict({{"model", "}"}, {"mine", dict}})).ends_with("'mine'; choose one of them with --key"));
  EXPECT_TRUE(refusal(p::dict({{"model", "}"}}), "model").ends_with("has no weights under 'model'; it is empty"));
  EXPECT_TRUE(
      refusal(p::dict({{"model", dict}}), "other").ends_with("'other'; it has 'model'; choose one of them with --key"));
  const std::string array = p::call(p::global("numpy.core.multiarray", "_reconstruct"), "K\1");
  for (const char* key : {"", "model"})
    EXPECT_NE(refusal(p::dict({{"model", p::dict({{"w", array}})}}), key)
                  .find("NumPy arrays; in Python, convert the arrays to tensors"),
              std::string::npos);

  const WeightsFile wrapped =
      read_weights_file(saved(p::dict({{"module._orig_mod.a.w", kWeight}, {"module._orig_mod.b", kWeight}})));
  EXPECT_EQ(wrapped.prefix, "module._orig_mod.");
  EXPECT_TRUE(wrapped.tensors.contains("a.w") && wrapped.tensors.contains("b"));
  EXPECT_EQ(wrapped.format, WeightsFile::Format::pytorch);
  const WeightsFile mixed =
      read_weights_file(saved(p::dict({{"module.a", kWeight}, {"b", kWeight}, {"steps", "K\1"}})));
  EXPECT_EQ(mixed.prefix, "");
  EXPECT_EQ(mixed.not_tensors, std::vector<std::string>{"steps"});
}

// What trainers leave next to the weights does not keep these from being read; among the weights it does.
TEST(WeightsFile, UnknownObjectsAreRefusedAmongTheWeightsAlone) {
  const test::TemporaryDirectory folder;
  const auto saved = [&](const std::string& root) {
    test::write_bytes(folder / "file.pth", torch_archive(p::program(root), {kNumbers}));
    return folder / "file.pth";
  };
  const std::string unknown = p::call(p::global("harmless", "looking"), "K\1");
  const std::string quantized = p::tensor(p::storage("0", 24, "QInt8Storage"), 0, {24}, {1});
  const std::string milestones = p::call(p::global("collections", "Counter"), "}K\2K\1s");
  const std::string dict = p::dict({{"w", kWeight}});
  const WeightsFile read = read_weights_file(
      saved(p::dict({{"model", dict}, {"scheduler", milestones}, {"logger", unknown}, {"scales", quantized}})));
  EXPECT_EQ(read.key, "model");
  EXPECT_EQ(read.tensors.size(), 1U);
  const auto refusal = [&](const std::string& value) {
    const auto file = saved(p::dict({{"model", p::dict({{"w", kWeight}, {"scale", value}})}}));
    return test::thrown_message<Error>([&] { read_weights_file(file); });
  };
  EXPECT_NE(refusal(unknown).find("cannot read the weight 'scale', which is made by 'harmless.looking'"),
            std::string::npos);
  EXPECT_NE(refusal(quantized).find("which is made by 'torch.QInt8Storage'"), std::string::npos);
  EXPECT_EQ(refusal(milestones), "(nothing thrown)") << "which is known to be no tensor";
  EXPECT_NE(test::thrown_message<Error>([&] {
              read_weights_file(saved(p::dict({{"w", quantized}})));
            }).find("cannot read the weight 'w'"),
            std::string::npos);
}

// A dictionary that seven names refer to, forty levels deep.
TEST(WeightsFile, LooksIntoADictionaryOnce) {
  const test::TemporaryDirectory folder;
  const std::vector<std::string> keys{"state_dict_ema",   "model_ema", "state_dict", "model",
                                      "model_state_dict", "net",       "module"};
  std::string value = p::dict({{"epoch", "K\1"}});
  for (char level = 1; level <= 40; ++level) {
    std::string items = p::text("w") + value + 'q' + level;
    for (const std::string& key : keys) items += p::text(key) + 'h' + level;
    value = "}(" + items + "u";
  }
  test::write_bytes(folder / "file.pth", torch_archive(p::program(value), {kNumbers}));
  const auto refusal = [&](const std::string& key) {
    return test::thrown_message<Error>([&] { read_weights_file(folder / "file.pth", key); });
  };
  EXPECT_NE(refusal("").find("has no weights under the usual keys"), std::string::npos);
  EXPECT_NE(refusal("model.model.net").find("has no weights under 'model.model.net'"), std::string::npos);
}

TEST(WeightsFile, RefusesWhatHasNone) {
  const test::TemporaryDirectory folder;
  const auto refusal = [&](const std::string& root) {
    test::write_bytes(folder / "file.pth", torch_archive(p::program(root), {kNumbers}));
    return test::thrown_message<Error>([&] { read_weights_file(folder / "file.pth"); });
  };
  EXPECT_NE(refusal(p::global("timm.models", "VisionTransformer") + ")\x81}b")
                .find("pickled Python object, 'timm.models.VisionTransformer'"),
            std::string::npos);
  EXPECT_NE(refusal(kWeight).find("no dictionary of tensors"), std::string::npos);
  EXPECT_NE(refusal(p::dict({{"epoch", "K\1"}})).find("it has 'epoch'"), std::string::npos);
  EXPECT_NE(refusal("}").find("it is empty"), std::string::npos);
  // Python would take the last of them.
  const std::string dict = p::dict({{"w", kWeight}});
  EXPECT_NE(refusal(p::dict({{"w", kWeight}, {"w", kWeight}})).find("'w' twice"), std::string::npos);
  EXPECT_NE(refusal(p::dict({{"w", kWeight}, {"w", "K\1"}})).find("'w' twice"), std::string::npos);
  EXPECT_NE(refusal(p::dict({{"model", dict}, {"model", dict}})).find("'model' twice"), std::string::npos);
  EXPECT_NE(refusal(p::dict({{"\xff", kWeight}})).find("not UTF-8"), std::string::npos);
  EXPECT_NE(refusal(p::dict({{"a\nb", kWeight}})).find("control character"), std::string::npos);
}

TEST(WeightsFile, ReadsSafetensorsWhateverTheyAreCalled) {
  const test::TemporaryDirectory folder;
  write_safetensors(folder / "file.bin", {{"module.w", at::arange(3)}});
  const WeightsFile weights = read_weights_file(folder / "file.bin");
  EXPECT_EQ(weights.format, WeightsFile::Format::safetensors);
  EXPECT_TRUE(at::equal(weights.tensors.at("w"), at::arange(3)));
  EXPECT_NE(test::thrown_message<Error>([&] {
              read_weights_file(folder / "file.bin", "model");
            }).find("--key cannot be used"),
            std::string::npos);
  EXPECT_THROW(read_weights_file(folder / "absent.pth"), Error);
  // Whatever byte the length of the header begins with: 0x80 begins a pickle, 0x1F8B a file of gzip.
  for (const std::string& pad : {std::string(0x80 - 74, ' '), std::string(0x8B1F - 74, ' ')}) {
    const std::string header = R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}} )" + std::string(20, ' ') + pad;
    test::write_bytes(folder / "file.bin", test::u64(header.size()) + header + "x");
    EXPECT_EQ(read_weights_file(folder / "file.bin").tensors.size(), 1U) << header.size();
  }
}

}  // namespace
}  // namespace cachet::io
