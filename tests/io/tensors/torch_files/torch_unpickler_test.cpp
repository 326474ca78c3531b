// One case of each way in which a pickle can be unlike what torch.save writes, or hold code.
#include "cachet/io/tensors/torch_files/torch_unpickler.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <tuple>

#include "cachet/io/error.h"
#include "tests/support/bytes.h"
#include "tests/support/cheap_refusal.h"
#include "tests/support/torch_archive.h"

namespace cachet::io {
namespace {

namespace p = test::pickled;
using test::u32;
using test::u64;

// Storages "0" of 24 bytes and "1" of none.
uint64_t made_storage(const std::string& key) {
  if (key == "0") return 24;
  if (key == "1") return 0;
  throw Error("has no member 'data/" + key + "'");
}

PickleTree read(const std::string& pickle, const PickleLimits& limits = {}) {
  return unpickle(test::bytes_of(pickle), "data.pkl", made_storage, limits);
}

struct BadPickle {
  const char* why;
  std::string pickle, message;
};

std::string repeat(const std::string& text, size_t count) {
  std::string all;
  while (count-- > 0) all += text;
  return all;
}
std::string body(const std::string& text) { return p::program(text); }
const std::string kSix = p::storage("0", 6);
std::string viewed(int64_t offset, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides,
                   const std::string& more = "") {
  return body(p::tensor(kSix, offset, shape, strides, more));
}
std::string calls(const std::string& module, const std::string& name, const std::string& arguments) {
  return body(p::call(p::global(module, name), arguments));
}

const std::vector<BadPickle> kBadPickles = {
    // Code, however it is hidden.
    {"os.system", calls("os", "system", p::text("true")), "contains code: it mentions 'os.system'"},
    {"posix.system", calls("posix", "system", p::text("true")), "'posix.system'"},
    {"eval", calls("builtins", "eval", p::text("1")), "'builtins.eval'"},
    {"exec of Python 2", calls("__builtin__", "exec", p::text("1")), "'builtins.exec'"},
    {"subprocess", calls("subprocess", "Popen", p::text("true")), "'subprocess.Popen'"},
    {"only mentioned", body(p::dict({{"f", p::global("os", "system")}})), "mentions 'os.system'"},
    {"torch's own loader", calls("torch", "load", p::text("x.pth")), "mentions 'torch.load'"},
    {"a method of a builtin", calls("builtins", "eval.__call__", p::text("1")), "mentions 'builtins.eval.__call__'"},
    {"code for an unknown function", calls("harmless", "looking", p::global("os", "system")), "mentions 'os.system'"},
    {"through the memo", body(p::text("os") + "q\1" + p::text("system") + "q\2" + "h\1h\2\x93" + ")R"), "'os.system'"},
    {"instance of code", body(p::global("subprocess", "Popen") + ")\x81"), "'subprocess.Popen'"},
    {"old instance", "\x80\x02(ios\nsystem\n.", "opcode 105"},
    {"old object", "\x80\x02(" + p::global("a", "b") + "o.", "opcode 111"},
    {"extension", body("\x82\1"), "opcode 130"},
    {"in a rebuilt type",
     calls("torch._tensor", "_rebuild_from_type_v2", p::global("os", "system") + p::global("a", "c") + ")N"),
     "mentions 'os.system'"},
    {"a rebuilt type of three", calls("torch._tensor", "_rebuild_from_type_v2", p::global("a", "b") + ")N"),
     "rebuilds a tensor"},
    {"a rebuilt type of a number", calls("torch._tensor", "_rebuild_from_type_v2", "K\1" + p::global("a", "c") + ")N"),
     "calls a value that is not a function"},
    {"in a parameter", calls("torch._utils", "_rebuild_parameter", p::text("x") + "\x89N"),
     "arguments that torch.save does not write"},
    {"persistent id by text", "\x80\x02P0\n.", "opcode 80"},
    // The machine.
    {"empty", "", "must be a pickle with protocol 2"},
    {"protocol 0", "(lp0\n.", "must be a pickle with protocol 2"},
    {"protocol 1", "\x80\x01}.", "protocol of the pickle must be 2 to 5, not 1"},
    {"protocol 9", "\x80\x09}.", "protocol of the pickle must be 2 to 5, not 9"},
    {"no stop", "\x80\x02}", "has no STOP"},
    {"nothing but stop", "\x80\x02.", "must have a single value"},
    {"two values", "\x80\x02NN.", "must have a single value"},
    {"open mark", "\x80\x02(N.", "must have a single value"},
    {"bytes after", body("}") + "x", "bytes after"},
    {"second pickle", body("}") + body("}"), "bytes after"},
    {"stack underflow", body("R"), "takes more values from the stack"},
    {"stack underflow behind a mark", body("N(\x85"), "takes more values from the stack"},
    {"no mark", body("t"), "mark that does not exist"},
    {"memo of nothing", body("q\1"), "takes more values from the stack"},
    {"unset memo", body("h\7"), "reads memo entry 7, which is not set"},
    {"unset long memo", body("j\xFF\xFF\xFF\xFF"), "which is not set"},
    {"text beyond the end", body("X" + u32(0xFFFFFFFF) + "x"), "ends inside a text"},
    {"8-byte text", body("\x8d" + u64(~uint64_t{0}) + "x"), "ends inside a text"},
    {"8-byte bytes", body("\x8e" + u64(uint64_t{1} << 40)), "ends inside a text"},
    {"long number", body("\x8b" + u32(0x7FFFFFFF)), "ends inside a number"},
    {"cut number", "\x80\x02J\1", "ends inside a number"},
    {"cut global",
     "\x80\x02"
     "cos\n",
     "ends inside a global"},
    {"endless global", body(p::global("m", std::string(300, 'g'))), "name has more than 256 bytes"},
    {"global of numbers", body("NN\x93"), "name must be a string"},
    {"call of a number", body("K\1)R"), "calls a value that is not a function"},
    {"call without a tuple", body(p::global("collections", "OrderedDict") + "NR"), "arguments that are not in a tuple"},
    {"state of a number", body("K\1}b"), "state of a value that is not an object"},
    // Containers.
    {"items of a list", body("]NNs"), "not a dictionary"},
    {"items of a number", body("K\1(NNu"), "not a dictionary"},
    {"odd items", body("}(Nu"), "without a value"},
    {"append to a dictionary", body("}Na"), "not a list"},
    {"append to a tuple", body(")Na"), "not a list"},
    {"list in itself", body("]q\1h\1a"), "contains itself"},
    {"list in its own item", body("]q\1]h\1aa"), "contain themselves"},
    {"dictionary in itself", body("}q\1Nh\1s"), "contains itself"},
    {"deep list", body(repeat("]", 66) + repeat("a", 65)), "deeper than 64"},
    {"deep tuple", body("N" + repeat("\x85", 65)), "deeper than 64"},
    {"ordered dictionary of pairs", calls("collections", "OrderedDict", "]"), "torch.save does not write"},
    // Tensors.
    {"no record", body(p::tensor(p::storage("7", 6), 0, {6}, {1})), "has no member 'data/7'"},
    {"record too small", body(p::storage("0", 7)), "should have 7 elements of 4 bytes, but its record has 24"},
    {"record too large", body(p::storage("0", 5)), "should have 5 elements"},
    {"count overflows", body(p::storage("0", int64_t{1} << 62)), "should have"},
    {"negative count", body(p::storage("0", -6)), "is negative"},
    {"type that is none", body(p::storage("0", 6, "Tensor")), "not a type of storage"},
    {"storage of texts", body(p::tuple(p::text("storage")) + "Q"), "does not have the form that torch.save writes"},
    {"another persistent id", body(p::tuple("NNNNN") + "Q"), "does not have the form that torch.save writes"},
    {"tensor without storage", body(p::tensor("N", 0, {6}, {1})), "has no storage"},
    {"tensor of one argument", calls("torch._utils", "_rebuild_tensor_v2", "N"),
     "does not have the form that torch.save writes"},
    {"too long", viewed(0, {7}, {1}), "beyond its storage"},
    {"offset", viewed(1, {6}, {1}), "beyond its storage"},
    {"strides", viewed(0, {2, 2}, {5, 1}), "beyond its storage"},
    {"negative offset", viewed(-1, {2}, {1}), "is negative"},
    {"negative size", viewed(0, {-2}, {1}), "negative"},
    {"negative stride", viewed(5, {2}, {-1}), "negative"},
    {"sizes overflow", viewed(0, {int64_t{1} << 40, int64_t{1} << 40}, {0, 0}), "beyond its storage"},
    {"a stride overflows", viewed(0, {4, 2}, {std::numeric_limits<int64_t>::max(), 1}), "beyond its storage"},
    {"strides overflow", viewed(0, {3, 2}, {std::numeric_limits<int64_t>::max(), 1}), "beyond its storage"},
    {"offset overflows", viewed(std::numeric_limits<int64_t>::max(), {2}, {1}), "beyond its storage"},
    {"spread", viewed(0, {1 << 30}, {0}), "repeats the elements"},
    {"elements of a value that is not a type",
     body(p::call(p::global("torch._utils", "_rebuild_tensor_v3"),
                  kSix + p::integer(0) + p::integers({6}) + p::integers({1}) + "\x89}" + p::text("torch.qint8"))),
     "an element type that Cachet does not support"},
    {"a size of a number", calls("torch", "Size", "K\1"), "'torch.Size' with arguments that torch.save does not write"},
    {"a frame that is cut off", "\x80\x04\x95\1\2", "ends inside a frame"},
    {"fewer strides", viewed(0, {2, 2}, {1}), "one stride for each dimension"},
    {"rank", viewed(0, std::vector<int64_t>(17, 1), std::vector<int64_t>(17, 1)), "17 dimensions"},
    {"conjugate", viewed(0, {6}, {1}, p::dict({{"conj", "\x88"}})), "conjugate"},
    {"number beyond 64 bits",
     body(p::call(p::global("torch._utils", "_rebuild_tensor_v2"),
                  kSix + "\x8a\x09" + std::string(9, '\1') + "))\x89}")),
     "must be a 64-bit integer"},
};

TEST(TorchUnpickler, RefusesEachByNameAndCheaply) {
  for (const BadPickle& bad : kBadPickles) {
    const std::string message = test::cheap_refusal<Error>(bad.pickle.size(), [&] { read(bad.pickle); });
    EXPECT_TRUE(message.starts_with("data.pkl: byte ")) << bad.why << ": " << message;
    EXPECT_NE(message.find(bad.message), std::string::npos) << bad.why << ": " << message;
  }
}

TEST(TorchUnpickler, MemoryIsBoundedWhateverIsRepeated) {
  const std::string tensor = p::tensor(kSix, 0, {6}, {1});
  const std::vector<std::pair<const char*, std::string>> bombs = {
      {"values", repeat("]", 1'000'000)},
      {"marks", repeat("(", 2'000'000)},
      {"stack", "]q\1" + repeat("h\1", 2'000'000)},
      {"list", "](" + repeat("K\1", 1'000'000) + "e"},
      {"memo",
       [] {
         std::string all = "N";
         for (uint32_t i = 0; i < 1'600'000; ++i) all += "r" + u32(i);
         return all;
       }()},
      {"tensors", p::global("torch._utils", "_rebuild_tensor_v2") + "q\1" +
                      p::tuple(kSix + p::integer(0) + p::integers({6}) + p::integers({1}) + "\x89}") + "q\2" +
                      repeat("h\1h\2R", 400'000)}};
  for (const auto& [why, bomb] : bombs) {
    const std::string pickle = body(bomb);
    EXPECT_NE(test::cheap_refusal<Error>(pickle.size(), [&] { read(pickle); }), "(nothing thrown)") << why;
  }
  // Pairs of one pair, 64 deep, are 2^64 values for who copies them, and 65 for who does not.
  EXPECT_EQ(read(body("N" + repeat("q\1h\1\x86", 64))).nodes.size(), 65U);
}

TEST(TorchUnpickler, LimitsHold) {
  EXPECT_THROW(read(body("](NNNe"), {.values = 3}), Error);
  EXPECT_THROW(read(body("](NNNe"), {.pushes = 4}), Error);
  EXPECT_THROW(read(body("]]]aa"), {.depth = 1}), Error);
  EXPECT_THROW(read(body(p::tensor(kSix, 0, {6}, {1})), {.tensors = 0}), Error);
  EXPECT_THROW(read(body(p::tensor(kSix, 0, {2, 3}, {3, 1})), {.rank = 1}), Error);
}

TEST(TorchUnpickler, ReadsPlainValues) {
  const std::string number = "G" + std::string("\x3f\xf8\0\0\0\0\0\0", 8);  // 1.5
  const PickleTree tree = read(body(p::dict({{"none", "N"},
                                             {"true", "\x88"},
                                             {"minus", p::integer(-5)},
                                             {"large", "J\xFF\xFF\xFF\x7F"},
                                             {"real", number},
                                             {"list", "](K\1K\2e"},
                                             {"tuple", "K\1K\2K\3\x87"},
                                             {"bytes", "C\2ab"}})));
  const auto* dict = tree.as<PickleTree::Dict>(tree.root);
  ASSERT_NE(dict, nullptr);
  std::map<std::string, PickleTree::Ref> values;
  for (const auto& [key, value] : dict->items) values[std::string(*tree.as<std::string_view>(key))] = value;
  EXPECT_NE(tree.as<PickleTree::None>(values["none"]), nullptr);
  EXPECT_TRUE(*tree.as<bool>(values["true"]));
  EXPECT_EQ(*tree.as<int64_t>(values["minus"]), -5);
  EXPECT_EQ(*tree.as<int64_t>(values["large"]), 0x7FFFFFFF);
  EXPECT_EQ(*tree.as<double>(values["real"]), 1.5);
  EXPECT_EQ(tree.as<PickleTree::Sequence>(values["list"])->items.size(), 2U);
  EXPECT_FALSE(tree.as<PickleTree::Sequence>(values["list"])->fixed);
  EXPECT_EQ(tree.as<PickleTree::Sequence>(values["tuple"])->items.size(), 3U);
  EXPECT_EQ(*tree.as<std::string_view>(values["bytes"]), "ab");
}

// Frames, memos without numbers and globals from the stack, as protocols 4 and 5 have them.
TEST(TorchUnpickler, ReadsNewerProtocols) {
  const auto word = [](const std::string& text) {
    return "\x8c" + std::string(1, static_cast<char>(text.size())) + text;
  };
  const std::string ordered = word("collections") + "\x94" + word("OrderedDict") + "\x94\x93\x94)R\x94";
  const std::string content = ordered + "(" + word("shape") + "\x94" + word("torch") + word("Size") +
                              "\x93(K\1M\2\1t\x85R\x94" + word("again") + "h\5" + word("far") + "j" + u32(5) + "u.";
  for (const char protocol : {'\4', '\5'}) {
    const PickleTree tree = read("\x80" + std::string(1, protocol) + "\x95" + u64(content.size()) + content);
    const auto* dict = tree.as<PickleTree::Dict>(tree.root);
    ASSERT_NE(dict, nullptr);
    ASSERT_EQ(dict->items.size(), 3U);
    const auto* shape = tree.as<PickleTree::Sequence>(dict->items[0].second);
    ASSERT_NE(shape, nullptr);
    EXPECT_EQ(*tree.as<int64_t>(shape->items[1]), 258);
    EXPECT_EQ(dict->items[1].second, dict->items[0].second) << "from the memo";
    EXPECT_EQ(dict->items[2].second, dict->items[0].second) << "by its four-byte number";
  }
}

TEST(TorchUnpickler, ObjectsBecomePlaceholdersThatHoldNothing) {
  // What argparse.Namespace, yacs' CfgNode (a dictionary with attributes) and NumPy's scalars are pickled as.
  for (const auto& [name, pickle] : std::vector<std::pair<std::string, std::string>>{
           {"argparse.Namespace", p::global("argparse", "Namespace") + ")\x81q\1}(" + p::text("me") + "h\1ub"},
           {"yacs.config.CfgNode",
            p::global("yacs.config", "CfgNode") + ")\x81(" + p::text("LR") + "K\1u}(" + p::text("x") + "Nub"},
           {"mmcv.ConfigList", p::global("mmcv", "ConfigList") + ")\x81(K\1K\2e"},
           {"mmcv.Keywords", p::global("mmcv", "Keywords") + ")}\x92}b"},
           {"numpy.core.multiarray.scalar",
            p::call(p::global("numpy.core.multiarray", "scalar"), p::call(p::global("numpy", "dtype"), p::text("f8")))},
           {"copyreg._reconstructor", p::call(p::global("copy_reg", "_reconstructor"),
                                              p::global("a", "B") + p::global("__builtin__", "object") + "N") +
                                          "}b"}}) {
    const PickleTree tree = read(body(pickle));
    const auto* object = tree.as<PickleTree::Object>(tree.root);
    ASSERT_NE(object, nullptr) << name;
    EXPECT_EQ(tree.globals[object->index].name, name);
  }
}

// What schedulers, loggers and trainers leave next to weights. Nothing of it is called.
TEST(TorchUnpickler, CallsOfUnknownFunctionsBecomePlaceholders) {
  const std::string getattr =
      p::call(p::global("builtins", "getattr"), p::global("mmengine", "Buffer") + p::text("min"));
  for (const auto& [name, pickle, may_be_tensor] : std::vector<std::tuple<std::string, std::string, bool>>{
           {"collections.Counter", p::call(p::global("collections", "Counter"), "}K\2K\1s"), false},
           {"collections.deque", p::call(p::global("collections", "deque"), ")K\5") + "(K\1K\2e", false},
           {"builtins.range", p::call(p::global("__builtin__", "range"), "K\1K\2K\1"), false},
           {"builtins.bytes", p::call(p::global("__builtin__", "bytes"), ""), false},
           {"_codecs.encode", p::call(p::global("_codecs", "encode"), p::text("") + p::text("latin1")), false},
           {"harmless.looking", p::call(p::global("harmless", "looking"), p::text("1")), true},
           {"builtins.getattr", getattr, true},
           {"builtins.getattr", p::call(getattr, "K\1"), true},
           {"builtins.getattr", getattr + ")\x81}b", false},
           {"functools.partial", p::call(p::global("functools", "partial"), p::global("torch.nn", "GELU")) + "}b",
            true},
           {"torch.QInt8Storage", p::storage("0", 24, "QInt8Storage"), true},
           {"torch.QInt8Storage", p::tensor(p::storage("0", 24, "QInt8Storage"), 0, {24}, {1}), true},
           {"torch.QInt8Storage",
            p::call(p::global("torch._utils", "_rebuild_parameter"),
                    p::tensor(p::storage("9", 24, "QInt8Storage"), 0, {24}, {1}) + "\x88}"),
            true},
           {"torch.qint8",
            p::call(p::global("torch._utils", "_rebuild_tensor_v3"),
                    kSix + p::integer(0) + p::integers({6}) + p::integers({1}) + "\x89}" + p::global("torch", "qint8")),
            true},
           {"a.b",
            p::call(p::global("torch._tensor", "_rebuild_from_type_v2"),
                    p::global("a", "b") + p::global("a", "c") + ")N"),
            true}}) {
    const PickleTree tree = read(body(pickle));
    const auto* object = tree.as<PickleTree::Object>(tree.root);
    ASSERT_NE(object, nullptr) << name;
    EXPECT_EQ(tree.globals[object->index].name, name);
    EXPECT_EQ(object->may_be_tensor, may_be_tensor) << name;
    EXPECT_TRUE(tree.tensors.empty());
  }
}

TEST(TorchUnpickler, TensorsKeepTheirPlaceInTheStorage) {
  const std::string plain = p::tensor(kSix, 1, {2, 2}, {3, 1});
  const std::string parameter = p::call(p::global("torch._utils", "_rebuild_parameter"), plain + "\x88}");
  const std::string typed = p::call(p::global("torch._utils", "_rebuild_tensor_v3"),
                                    p::storage("0", 24, "UntypedStorage", "torch.storage") + "K\2" + p::integers({5}) +
                                        p::integers({1}) + "\x89}" + p::global("torch", "uint16"));
  const std::string subclass =
      p::call(p::global("torch._tensor", "_rebuild_from_type_v2"),
              p::global("torch._utils", "_rebuild_tensor_v2") + p::global("timm.layers", "Weight") +
                  p::tuple(kSix + p::integer(1) + p::integers({2, 2}) + p::integers({3, 1}) + "\x89}") + "}");
  for (const std::string& pickle : {plain, parameter, subclass}) {
    const PickleTree tree = read(body(pickle));
    const auto* index = tree.as<PickleTree::Tensor>(tree.root);
    ASSERT_NE(index, nullptr);
    const PickledTensor& tensor = tree.tensors[index->index];
    EXPECT_EQ(tensor.offset, 1U);
    EXPECT_EQ(tensor.shape, (std::vector<int64_t>{2, 2}));
    EXPECT_EQ(tensor.strides, (std::vector<int64_t>{3, 1}));
    EXPECT_EQ(tree.storages[tensor.storage].key, "0");
  }
  const PickleTree tree = read(body(typed));
  ASSERT_EQ(tree.tensors.size(), 1U);
  EXPECT_EQ(tree.tensors[0].type, SafetensorsType::kU16);
  EXPECT_NO_THROW(read(body(p::tensor(p::storage("1", 0), 0, {0, 3}, {3, 1}))));
  EXPECT_NO_THROW(read(body(p::tensor(kSix, 5, {}, {}))));
}

}  // namespace
}  // namespace cachet::io
