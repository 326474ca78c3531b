#include "cachet/io/tensors/torch_files/torch_globals.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cachet::io {
namespace {

using Kind = TorchGlobal::Kind;
using Type = SafetensorsType;

constexpr std::array<std::pair<std::string_view, Kind>, 45> kKnown{{
    {"collections.OrderedDict", Kind::dictionary},
    {"collections.defaultdict", Kind::dictionary},
    {"torch.Size", Kind::shape},
    {"torch._utils._rebuild_tensor_v2", Kind::rebuild_tensor},
    {"torch._utils._rebuild_tensor_v3", Kind::rebuild_tensor},
    {"torch._utils._rebuild_parameter", Kind::rebuild_parameter},
    {"torch._utils._rebuild_parameter_with_state", Kind::rebuild_parameter},
    {"torch._tensor._rebuild_from_type_v2", Kind::rebuild_from_type},
    {"torch.QInt8Storage", Kind::unsupported_storage},
    {"torch.QInt32Storage", Kind::unsupported_storage},
    {"torch.QUInt8Storage", Kind::unsupported_storage},
    {"torch.QUInt4x2Storage", Kind::unsupported_storage},
    {"torch.QUInt2x4Storage", Kind::unsupported_storage},
    {"torch.ComplexDoubleStorage", Kind::unsupported_storage},
    {"torch.device", Kind::plain_value},
    {"builtins.set", Kind::plain_value},
    {"builtins.frozenset", Kind::plain_value},
    {"builtins.slice", Kind::plain_value},
    {"builtins.complex", Kind::plain_value},
    {"builtins.bytearray", Kind::plain_value},
    {"_codecs.encode", Kind::plain_value},
    {"copyreg._reconstructor", Kind::plain_value},
    {"types.SimpleNamespace", Kind::plain_value},
    {"numpy.dtype", Kind::plain_value},
    {"numpy.core.multiarray.scalar", Kind::plain_value},
    {"numpy.core.multiarray._reconstruct", Kind::plain_value},
    {"numpy._core.multiarray.scalar", Kind::plain_value},
    {"numpy._core.multiarray._reconstruct", Kind::plain_value},
    {"numpy._core.numeric._frombuffer", Kind::plain_value},
    {"numpy.core.numeric._frombuffer", Kind::plain_value},
    {"pathlib.Path", Kind::plain_value},
    {"pathlib.PosixPath", Kind::plain_value},
    {"pathlib.WindowsPath", Kind::plain_value},
    {"pathlib.PurePosixPath", Kind::plain_value},
    {"datetime.datetime", Kind::plain_value},
    {"datetime.timedelta", Kind::plain_value},
    {"collections.Counter", Kind::plain_value},
    {"collections.deque", Kind::plain_value},
    {"builtins.range", Kind::plain_value},
    {"builtins.xrange", Kind::plain_value},
    {"builtins.bytes", Kind::plain_value},
    {"functools.partial", Kind::other},
    {"torch.load", Kind::code},
    {"torch.hub.load", Kind::code},
    {"torch.jit.load", Kind::code},
}};

// Of modules that are mentioned for nothing else.
constexpr std::array<std::string_view, 54> kModulesOfCode{
    "os",      "posix",           "nt",          "sys",      "subprocess", "commands",   "pty",
    "popen2",  "shutil",          "socket",      "ctypes",   "_ctypes",    "importlib",  "runpy",
    "code",    "codeop",          "pdb",         "bdb",      "timeit",     "cProfile",   "profile",
    "trace",   "marshal",         "types",       "operator", "inspect",    "functools",  "pickle",
    "_pickle", "cPickle",         "cloudpickle", "dill",     "joblib",     "webbrowser", "signal",
    "asyncio", "threading",       "_thread",     "tempfile", "urllib",     "urllib2",    "http",
    "ftplib",  "smtplib",         "requests",    "platform", "linecache",  "zipimport",  "pip",
    "idlelib", "multiprocessing", "_operator",   "glob",     "fileinput",
};

// Python 2's among them.
constexpr std::array<std::string_view, 22> kBuiltinCode{
    "eval",       "exec", "compile", "__import__", "open",    "input",   "raw_input", "execfile",
    "apply",      "file", "reload",  "print",      "setattr", "delattr", "globals",   "locals",
    "breakpoint", "exit", "quit",    "help",       "map",     "filter"};

constexpr std::array<std::pair<std::string_view, Type>, 12> kStorages{{
    {"torch.FloatStorage", Type::kF32},
    {"torch.DoubleStorage", Type::kF64},
    {"torch.HalfStorage", Type::kF16},
    {"torch.BFloat16Storage", Type::kBF16},
    {"torch.LongStorage", Type::kI64},
    {"torch.IntStorage", Type::kI32},
    {"torch.ShortStorage", Type::kI16},
    {"torch.CharStorage", Type::kI8},
    {"torch.ByteStorage", Type::kU8},
    {"torch.BoolStorage", Type::kBool},
    {"torch.ComplexFloatStorage", Type::kC64},
    {"torch.storage.UntypedStorage", Type::kU8},
}};

constexpr std::array<std::pair<std::string_view, Type>, 19> kElementTypes{{
    {"torch.float32", Type::kF32},
    {"torch.float64", Type::kF64},
    {"torch.float16", Type::kF16},
    {"torch.bfloat16", Type::kBF16},
    {"torch.int64", Type::kI64},
    {"torch.int32", Type::kI32},
    {"torch.int16", Type::kI16},
    {"torch.int8", Type::kI8},
    {"torch.uint8", Type::kU8},
    {"torch.uint16", Type::kU16},
    {"torch.uint32", Type::kU32},
    {"torch.uint64", Type::kU64},
    {"torch.bool", Type::kBool},
    {"torch.complex64", Type::kC64},
    {"torch.float8_e4m3fn", Type::kF8E4M3},
    {"torch.float8_e4m3fnuz", Type::kF8E4M3FNUZ},
    {"torch.float8_e5m2", Type::kF8E5M2},
    {"torch.float8_e5m2fnuz", Type::kF8E5M2FNUZ},
    {"torch.float8_e8m0fnu", Type::kF8E8M0},
}};

template <class Entry, size_t N>
const Entry* find_named(const std::array<Entry, N>& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Entry::first);
  return found == table.end() ? nullptr : &*found;
}

// Python 2 wrote other names for the same.
std::string_view modern(std::string_view module) {
  if (module == "__builtin__") return "builtins";
  if (module == "copy_reg") return "copyreg";
  return module;
}

bool is_code(std::string_view module, std::string_view name) {
  if (module == "builtins")
    return std::ranges::find(kBuiltinCode, name.substr(0, name.find('.'))) != kBuiltinCode.end();
  return std::ranges::find(kModulesOfCode, module.substr(0, module.find('.'))) != kModulesOfCode.end();
}

}  // namespace

TorchGlobal torch_global(std::string_view module, std::string_view name) {
  module = modern(module);
  TorchGlobal global;
  global.name = std::string(module) + "." + std::string(name);
  if (const auto* known = find_named(kKnown, global.name)) {
    global.kind = known->second;
  } else if (const auto* storage = find_named(kStorages, global.name)) {
    global.kind = Kind::storage;
    global.element = storage->second;
  } else if (const auto* element = find_named(kElementTypes, global.name)) {
    global.kind = Kind::element_type;
    global.element = element->second;
  } else if (is_code(module, name)) {
    global.kind = Kind::code;
  }
  return global;
}

}  // namespace cachet::io
