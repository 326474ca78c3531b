#include "cachet/runtime/openvino_module.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "cachet/runtime/open_session.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::runtime {
namespace {

TEST(OpenVinoModule, ABuildWithoutItSaysSo) {
  EXPECT_TRUE(module_file("cachet_of_nobody").empty());
  const std::string message =
      test::thrown_message<ModuleError>([] { module_functions<OpenVinoEngine>("cachet_of_nobody"); });
  EXPECT_EQ(message, "this Cachet was built without OpenVINO; run tools/setup --openvino, then build again");
}

TEST(OpenVinoModule, ALibraryThatCannotBeLoadedSaysWhyAndWhatToDo) {
  const test::TemporaryDirectory folder;
  const std::filesystem::path file = folder / "libbroken.so";
  std::ofstream(file) << "no library";
  const std::string message = test::thrown_message<ModuleError>([&] { module_function(file, "broken"); });
  EXPECT_TRUE(message.starts_with("OpenVINO cannot be loaded (" + file.string() + ": ")) << message;
  EXPECT_TRUE(message.ends_with("); run tools/setup --openvino")) << message;
}

TEST(OpenVinoModule, ALibraryWithoutTheFunctionIsNoModule) {
  const std::string message =
      test::thrown_message<ModuleError>([] { module_function("libm.so.6", "cachet_of_nobody"); });
  EXPECT_NE(message.find("undefined symbol: cachet_of_nobody"), std::string::npos) << message;
}

TEST(OpenVinoModule, AModuleOfAnotherVersionIsRefused) {
  const std::string message = test::thrown_message<ModuleError>([] { require_own_version("cachet_module", "9.8.7"); });
  EXPECT_TRUE(message.starts_with("libcachet_module.so.")) << message;
  EXPECT_NE(message.find(" belongs to Cachet 9.8.7, and this is Cachet "), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with("; install Cachet again")) << message;
}

TEST(OpenVinoModule, AVersionOrAProblem) {
  EXPECT_NE(openvino_version().empty(), openvino_problem().empty());
  EXPECT_EQ(openvino_is_built_in(), !module_file(OpenVinoEngine::kModule).empty());
}

}  // namespace
}  // namespace cachet::runtime
