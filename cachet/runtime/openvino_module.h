#pragma once

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "cachet/runtime/session.h"

/// All code that uses OpenVINO is in separate shared libraries, the modules. A module is loaded at its first use. A
/// program that needs no OpenVINO also runs where OpenVINO is not installed. Each module exports one function, which
/// has the name of the module (the library) and returns a struct of functions. The first member of the returned struct
/// is the version of Cachet to which the module belongs.
namespace cachet::runtime {

/// Error for an OpenVINO module (a shared library) that cannot be used. what() is a part of a sentence, and names the
/// remedy: "this Cachet was built without OpenVINO; run …".
class ModuleError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the file of a module. Searches the folder of the library or program that contains this function, and then
/// the subfolder lib of this folder. The path is empty if the file of the module does not exist, or if this is a build
/// without OpenVINO.
std::filesystem::path module_file(const std::string& module);

/// Loads a file of module_file() and returns the function that has the name `module`. A file that is already loaded is
/// not loaded again, and no file is unloaded. Throws ModuleError.
void* module_function(const std::filesystem::path& file, const std::string& module);

/// Throws ModuleError if a module belongs to another version of Cachet.
void require_own_version(const std::string& module, const std::string& version);

/// Loads a module if it is not loaded yet, and returns its functions. Throws ModuleError.
template <class Functions>
const Functions& module_functions(const std::string& module) {
  using Entry = const Functions* (*)();
  const Functions* functions = reinterpret_cast<Entry>(module_function(module_file(module), module))();
  require_own_version(module, functions->cachet_version);
  return *functions;
}

/// The functions of the module cachet_runtime_openvino.
struct OpenVinoEngine {
  static constexpr const char* kModule = "cachet_runtime_openvino";

  const char* cachet_version;
  std::string (*version)();  // of OpenVINO
  std::unique_ptr<Session> (*open)(const std::filesystem::path& model, const SessionOptions& options);
};

}  // namespace cachet::runtime
