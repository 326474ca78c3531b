#include <ATen/Parallel.h>
#include <sys/utsname.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "app/commands/command.h"
#include "app/machine/allocator.h"
#include "app/machine/gpu_report.h"
#include "app/machine/openmp_waiting.h"
#include "app/output/json.h"
#include "cachet/runtime/open_session.h"
#include "cachet/train/machine/environment.h"

namespace cachet::app {
namespace {

struct EnvArguments {
  bool json = false, cmake_dir = false;
};

std::string operating_system() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

// What find_package(cachet) reads, next to the installed command.
std::filesystem::path cmake_dir() {
  const std::filesystem::path command = std::filesystem::read_symlink("/proc/self/exe");
  const auto folder = (command.parent_path() / CACHET_BIN_TO_PACKAGE).lexically_normal();
  if (!std::filesystem::exists(folder / "cachetConfig.cmake"))
    throw std::runtime_error(command.string() + " is not installed: there is no " +
                             (folder / "cachetConfig.cmake").string() +
                             "; run `cmake --install BUILD --prefix DIR`, then use DIR/bin/cachet");
  return folder;
}

std::string openvino() {
  if (!runtime::openvino_is_built_in()) return "not built in";
  const std::string problem = runtime::openvino_problem();
  return problem.empty() ? runtime::openvino_version() : problem;
}

nlohmann::ordered_json environment_json(const train::Environment& environment) {
  nlohmann::ordered_json json{{"schema", 1}};
  for (const train::EnvironmentEntry& entry : train::entries(environment))
    std::visit([&](const auto& value) { json[entry.key] = value; }, entry.value);
  json["allocator"] = allocator();
  json["openmp_waiting"] = openmp_waiting();
  json["openvino"] = openvino();
  json["os"] = operating_system();
  json["gpu"] = gpu_report();
  json["torch_parallel"] = at::get_parallel_info();
  return json;
}

void print_text(const nlohmann::ordered_json& json) {
  for (const auto& [key, value] : json.items()) {
    if (key == "schema") continue;
    if (key == "gpu") {
      for (const std::string& line : gpu_lines(value)) std::cout << line << '\n';
      continue;
    }
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    // LibTorch's own lines, below their name.
    for (size_t line = text.find('\n'); line != std::string::npos; line = text.find('\n', line + 3))
      text.replace(line, 1, "\n  ");
    std::cout << key << ": " << text << '\n';
  }
}

int run_env(const EnvArguments& arguments) {
  if (arguments.cmake_dir) {
    std::cout << cmake_dir().string() << '\n';
    return kDone;
  }
  const train::Environment environment = train::environment();
  if (arguments.json)
    print_json(environment_json(environment));
  else
    print_text(environment_json(environment));
  if (const auto mismatch = train::torch_mismatch(environment)) std::cerr << *mismatch << '\n';
  return kDone;
}

Action declare_env(CLI::App& app) {
  auto arguments = std::make_shared<EnvArguments>();
  auto* json = app.add_flag("--json", arguments->json, "Print one JSON object");
  app.add_flag("--cmake-dir", arguments->cmake_dir, "Print only the folder of the CMake package")->excludes(json);
  return [arguments] { return run_env(*arguments); };
}

const Registration registered_env({Topic::machine,
                                   "env",
                                   "Print versions, build, processor and GPUs, for bug reports",
                                   {"cachet env", "cachet env --json"},
                                   declare_env});

}  // namespace
}  // namespace cachet::app
