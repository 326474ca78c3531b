#include "cachet/runtime/openvino_module.h"

#include <dlfcn.h>
#include <link.h>

namespace cachet::runtime {
namespace {

// The library or program that contains this code.
std::filesystem::path own_file() {
  static const char here = 0;
  Dl_info unused{};
  link_map* own = nullptr;
  if (dladdr1(&here, &unused, reinterpret_cast<void**>(&own), RTLD_DL_LINKMAP) == 0) return {};
  return *own->l_name != '\0' ? std::filesystem::path(own->l_name) : std::filesystem::read_symlink("/proc/self/exe");
}

ModuleError cannot_be_loaded(const std::string& reason) {
  return ModuleError("OpenVINO cannot be loaded (" + reason + "); " CACHET_OPENVINO_REMEDY);
}

}  // namespace

std::filesystem::path module_file(const std::string& module) {
  if (!CACHET_HAS_OPENVINO) return {};  // a file would be of another build
  const std::filesystem::path folder = own_file().parent_path();
  const std::string name = "lib" + module + CACHET_MODULE_SUFFIX;
  for (const std::filesystem::path& file : {folder / name, folder / "lib" / name})
    if (std::error_code error; std::filesystem::exists(file, error)) return file;
  return {};
}

void* module_function(const std::filesystem::path& file, const std::string& module) {
  if (file.empty()) throw ModuleError("this Cachet was built without OpenVINO; " CACHET_OPENVINO_ABSENT_REMEDY);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw cannot_be_loaded(dlerror());
  void* function = dlsym(library, module.c_str());
  if (function == nullptr) throw cannot_be_loaded(dlerror());
  return function;
}

void require_own_version(const std::string& module, const std::string& version) {
  if (version != CACHET_VERSION)
    throw ModuleError("lib" + module + CACHET_MODULE_SUFFIX + " belongs to Cachet " + version +
                      ", and this is Cachet " + CACHET_VERSION + "; install Cachet again");
}

}  // namespace cachet::runtime
