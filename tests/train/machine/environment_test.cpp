#include "cachet/train/machine/environment.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cachet/train/machine/processor_models.h"
#include "tests/support/temporary_directory.h"

namespace cachet::train {
namespace {

void write_gpu(const std::filesystem::path& driver, const std::string& address, const std::string& information) {
  std::filesystem::create_directories(driver / "gpus" / address);
  std::ofstream(driver / "gpus" / address / "information") << information;
}

TEST(GpuModels, AreWhatTheDriverTells) {
  const test::TemporaryDirectory folder;
  EXPECT_EQ(gpu_models(folder.path()), "");
  write_gpu(folder.path(), "0000:00:06.0", "Model: \t\t NVIDIA H200\nIRQ:   \t\t 52\n");
  EXPECT_EQ(gpu_models(folder.path()), "NVIDIA H200");
  write_gpu(folder.path(), "0000:00:07.0", "Model: \t\t NVIDIA H200\n");
  EXPECT_EQ(gpu_models(folder.path()), "2 x NVIDIA H200");
  write_gpu(folder.path(), "0000:00:08.0", "Model: \t\t NVIDIA A2\n");
  write_gpu(folder.path(), "0000:00:09.0", "Model: \t\t\n");
  write_gpu(folder.path(), "0000:00:0a.0", "");
  EXPECT_EQ(gpu_models(folder.path()), "NVIDIA A2, 2 x NVIDIA H200");
}

TEST(Environment, NamesGpusWhereThereAreSome) {
  Environment machine;
  machine.processor = "AMD EPYC";
  machine.threads = 2;
  EXPECT_FALSE(nlohmann::json::parse(to_json(machine)).contains("gpus"));
  machine.gpus = "NVIDIA H200";
  EXPECT_EQ(nlohmann::json::parse(to_json(machine))["gpus"], "NVIDIA H200");
}

TEST(Environment, HasTheVersionsOfCudaAndItsDriverWhereThereAreSome) {
  Environment machine;
  for (const char* key : {"cuda", "gpu_driver"}) EXPECT_FALSE(nlohmann::json::parse(to_json(machine)).contains(key));
  machine.cuda = "13.0";
  machine.gpu_driver = "580.95.05";
  EXPECT_EQ(nlohmann::json::parse(to_json(machine))["cuda"], "13.0");
  EXPECT_EQ(nlohmann::json::parse(to_json(machine))["gpu_driver"], "580.95.05");
}

TEST(Environment, SaysWhereAnotherLibTorchIsLoaded) {
  Environment machine = environment();
  EXPECT_EQ(machine.torch_version, machine.torch_built) << "of a build that runs where it was made";
  EXPECT_FALSE(torch_mismatch(machine));
  machine.torch_version = "2.14.1";
  machine.torch_built = "2.13.0";
  const std::string said = torch_mismatch(machine).value_or("");
  EXPECT_TRUE(said.starts_with("LibTorch 2.14.1 is loaded, but Cachet was built against 2.13.0")) << said;
  const auto json = nlohmann::json::parse(to_json(machine));
  EXPECT_EQ(json["torch"], "2.14.1");
  EXPECT_EQ(json["torch_built"], "2.13.0");
}

TEST(Environment, TellsWhatARunRanOn) {
  Environment machine;
  machine.processor = "AMD EPYC";
  machine.threads = 2;
  EXPECT_EQ(device_text(machine, {DeviceChoice::Kind::automatic}), "2 threads of AMD EPYC");
  machine.gpus = "NVIDIA H200";
  EXPECT_EQ(device_text(machine, {DeviceChoice::Kind::automatic}), "NVIDIA H200");
  EXPECT_EQ(device_text(machine, {DeviceChoice::Kind::cuda, 1}), "NVIDIA H200");
  machine.threads = 1;
  EXPECT_EQ(device_text(machine, {DeviceChoice::Kind::cpu}), "1 thread of AMD EPYC");
  EXPECT_FALSE(nlohmann::json::parse(to_json(machine)).contains("processes")) << "of no run";
  machine.processes = 1;
  EXPECT_EQ(nlohmann::json::parse(to_json(machine))["processes"], 1);
  EXPECT_EQ(device_text(machine, {DeviceChoice::Kind::cpu}), "1 thread of AMD EPYC");
  machine.processes = 3;
  EXPECT_EQ(nlohmann::json::parse(to_json(machine))["processes"], 3);
  EXPECT_EQ(device_text(machine, {DeviceChoice::Kind::cpu}), "3 processes, each with 1 thread of AMD EPYC");
  machine.gpus = "4 x NVIDIA H200";
  EXPECT_EQ(device_text(machine, {DeviceChoice::Kind::automatic}), "3 processes with 4 x NVIDIA H200");
}

}  // namespace
}  // namespace cachet::train
