#include "cachet/processes/rendezvous.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <string>

#include "tests/support/played_processes.h"
#include "tests/support/thrown_message.h"

namespace cachet::processes {
namespace {

/// Variables of the environment, as torchrun sets them, until the end of the test.
class PlaceInEnvironment : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kNames) unsetenv(name);
  }
  void TearDown() override { SetUp(); }
  static void set(const std::map<std::string, std::string>& variables) {
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  }
  static std::string refusal() {
    return test::thrown_message<std::invalid_argument>([] { place_from_environment(); });
  }

 private:
  static constexpr const char* kNames[] = {"RANK",
                                           "WORLD_SIZE",
                                           "LOCAL_RANK",
                                           "MASTER_ADDR",
                                           "MASTER_PORT",
                                           "TORCHELASTIC_USE_AGENT_STORE",
                                           "TORCHELASTIC_RESTART_COUNT"};
};

TEST_F(PlaceInEnvironment, IsReadAsTorchrunSetsIt) {
  EXPECT_FALSE(place_from_environment());
  set({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "10.0.0.7"}, {"MASTER_PORT", "29500"}});
  const ProcessPlace place = *place_from_environment();
  EXPECT_EQ(place.rank, 5);
  EXPECT_EQ(place.size, 8);
  EXPECT_EQ(place.local_rank, 1);
  EXPECT_EQ(place.host, "10.0.0.7");
  EXPECT_EQ(place.port, 29500);
  EXPECT_FALSE(place.store_is_served);
  EXPECT_FALSE(place.is_local());
  EXPECT_EQ(place.attempt, 0);
  set({{"TORCHELASTIC_USE_AGENT_STORE", "True"}, {"TORCHELASTIC_RESTART_COUNT", "3"}, {"MASTER_ADDR", "localhost"}});
  EXPECT_EQ(place_from_environment()->attempt, 3);
  EXPECT_TRUE(place_from_environment()->store_is_served);
  EXPECT_TRUE(place_from_environment()->is_local());
}

TEST_F(PlaceInEnvironment, OneProcessNeedsNoMore) {
  set({{"WORLD_SIZE", "1"}});
  EXPECT_EQ(place_from_environment()->size, 1);
}

TEST_F(PlaceInEnvironment, RefusalsNameTheVariable) {
  set({{"WORLD_SIZE", "2"}});
  EXPECT_NE(refusal().find("RANK is not set"), std::string::npos) << refusal();
  set({{"RANK", "2"}});
  EXPECT_EQ(refusal(), "RANK is \"2\", not a whole number from 0 to 1");
  set({{"RANK", "1"}});
  EXPECT_NE(refusal().find("MASTER_ADDR is not set"), std::string::npos);
  set({{"MASTER_ADDR", "localhost"}});
  EXPECT_NE(refusal().find("MASTER_PORT is not set"), std::string::npos);
  set({{"MASTER_PORT", "123456"}});
  EXPECT_EQ(refusal(), "MASTER_PORT is \"123456\", not a whole number from 1 to 65535");
  set({{"MASTER_PORT", "29500"}, {"WORLD_SIZE", "two"}});
  EXPECT_EQ(refusal(), "WORLD_SIZE is \"two\", not a whole number from 1 to 4096");
}

TEST(Rendezvous, OneThatDoesNotComeIsWaitedForSoLong) {
  LocalSocket socket;
  const ProcessPlace place{.size = 2, .port = socket.port()};
  const std::string said = test::thrown_message<ProcessLost>([&] {
    meet(place, &socket, {.while_waiting = {}, .join = std::chrono::seconds(1), .sum = std::chrono::seconds(1)});
  });
  EXPECT_NE(said.find("the 2 processes of the run did not meet at 127.0.0.1:"), std::string::npos) << said;
  EXPECT_NE(said.find("within 1 s"), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

TEST(Rendezvous, IsLeftWhereTheCallerSaysSo) {
  LocalSocket socket;
  const ProcessPlace place{.size = 2, .port = socket.port()};
  int looks = 0;
  const auto look = [&] {
    if (++looks == 3) throw std::domain_error("process 1 was ended");
  };
  EXPECT_EQ(test::thrown_message<std::domain_error>([&] { meet(place, &socket, {.while_waiting = look}); }),
            "process 1 was ended");
}

TEST(Rendezvous, ALocalSocketIsOfThisMachineAlone) {
  const LocalSocket first, second;
  EXPECT_NE(first.port(), 0);
  EXPECT_NE(first.port(), second.port());
}

}  // namespace
}  // namespace cachet::processes
