#include "cachet/runtime/openvino/openvino_core.h"

#include <dlfcn.h>

#include <filesystem>
#include <openvino/core/version.hpp>

namespace cachet::runtime {
namespace {

// OpenVINO's threads look at the machine through a library that they load with RTLD_DEEPBIND: it would free with glibc
// what a program's own allocator (jemalloc, say) gave. Loaded before, it takes the program's.
void load_topology_library() {
  Dl_info openvino{};
  if (dladdr(reinterpret_cast<const void*>(&ov::get_openvino_version), &openvino) == 0) return;
  const std::filesystem::path folder = std::filesystem::path(openvino.dli_fname).parent_path();
  for (const char* name : {"libtbbbind_2_5.so.3", "libtbbbind_2_0.so.3", "libtbbbind.so.3"})
    if (dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return;  // kept: it is never closed
}

}  // namespace

ov::Core& openvino_core() {
  static ov::Core instance = [] {
    load_topology_library();
    return ov::Core();
  }();
  return instance;
}

std::string reason(const ov::Exception& error) {
  // The last line says what is wrong.
  std::string text = error.what();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const size_t line = text.rfind('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

}  // namespace cachet::runtime
