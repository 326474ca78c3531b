#include "app/machine/gpu_report.h"

#include "cachet/report/format.h"
#include "cachet/train/machine/gpu_problem.h"
#include "cachet/train/step/step_graphs.h"

namespace cachet::app {

nlohmann::ordered_json gpu_report() {
  const auto driver = train::query_gpu_driver();
  const train::CudaBuild build = train::cuda_build();
  nlohmann::ordered_json report{
      {"driver_cuda", nullptr}, {"devices", nlohmann::ordered_json::array()}, {"architectures", nullptr}};
  if (driver && driver->cuda > 0) report["driver_cuda"] = train::cuda_version_text(driver->cuda);
  if (driver)
    for (const train::Gpu& gpu : driver->gpus)
      report["devices"].push_back(
          {{"name", gpu.name}, {"architecture", gpu.architecture()}, {"memory_bytes", gpu.memory_bytes}});
  if (!build.architectures.empty()) report["architectures"] = build.architectures;
  report["cuda_graphs"] = train::is_built_with_cuda();
  report["problem"] = nullptr;
  if (const auto problem = train::gpu_problem(build, driver)) report["problem"] = *problem;
  return report;
}

std::vector<std::string> gpu_lines(const nlohmann::ordered_json& report) {
  std::vector<std::string> lines;
  if (report["driver_cuda"].is_string())
    lines.push_back("driver_cuda: " + report["driver_cuda"].get<std::string>() + " or older");
  int index = 0;
  for (const auto& gpu : report["devices"])
    lines.push_back("gpu " + std::to_string(index++) + ": " + gpu["name"].get<std::string>() + ", " +
                    gpu["architecture"].get<std::string>() + ", " +
                    report::format_bytes(gpu["memory_bytes"].get<int64_t>()));
  if (report["architectures"].is_array()) {
    std::string list;
    for (const auto& name : report["architectures"]) list += (list.empty() ? "" : ", ") + name.get<std::string>();
    lines.push_back("gpu_architectures: " + list);
    lines.push_back(std::string("cuda_graphs: ") + (report["cuda_graphs"].get<bool>() ? "yes" : "no"));
  }
  if (report["problem"].is_string()) lines.push_back("gpu: " + report["problem"].get<std::string>());
  return lines;
}

}  // namespace cachet::app
