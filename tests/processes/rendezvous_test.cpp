#include "cachet/processes/rendezvous.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

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
  EXPECT_EQ(refusal(), "RANK is \"2\", but must be a whole number from 0 to 1");
  set({{"RANK", "1"}});
  EXPECT_NE(refusal().find("MASTER_ADDR is not set"), std::string::npos);
  set({{"MASTER_ADDR", "localhost"}});
  EXPECT_NE(refusal().find("MASTER_PORT is not set"), std::string::npos);
  set({{"MASTER_PORT", "123456"}});
  EXPECT_EQ(refusal(), "MASTER_PORT is \"123456\", but must be a whole number from 1 to 65535");
  set({{"MASTER_PORT", "29500"}, {"WORLD_SIZE", "two"}});
  EXPECT_EQ(refusal(), "WORLD_SIZE is \"two\", but must be a whole number from 1 to 4096");
}

TEST(Rendezvous, OneThatDoesNotComeIsWaitedForSoLong) {
  LocalSocket socket;
  const ProcessPlace place{.size = 2, .port = socket.port()};
  const std::string said =
      test::thrown_message<ProcessLost>([&] { meet(place, &socket, {.join = std::chrono::seconds(1)}); });
  EXPECT_NE(said.find("the 2 processes of the run did not meet at 127.0.0.1:"), std::string::npos) << said;
  EXPECT_NE(said.find("within 1 s: process 1 did not arrive"), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

/// The result of each of several processes that meet; "met" where it met the others.
std::vector<std::string> meet_at(uint16_t port, LocalSocket* socket, std::vector<ProcessPlace> places,
                                 const MeetingOptions& options) {
  std::vector<std::string> said(places.size());
  std::vector<std::shared_ptr<ProcessGroup>> met(places.size());  // until all have finished: the store goes with rank 0
  std::vector<std::thread> threads;
  for (size_t i = 0; i < places.size(); ++i) {
    threads.emplace_back([&, i] {
      places[i].port = port;
      try {
        met[i] = meet(places[i], places[i].rank == 0 ? socket : nullptr, options);
        said[i] = "met";
      } catch (const std::exception& error) {
        said[i] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return said;
}

std::vector<std::string> meet_at(const std::vector<ProcessPlace>& places,
                                 const MeetingOptions& options = {.join = std::chrono::seconds(20)}) {
  LocalSocket socket;
  const uint16_t port = socket.port();
  return meet_at(port, &socket, places, options);
}

TEST(Rendezvous, AnotherNumberOfProcessesIsRefusedByAll) {
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& said : meet_at({{.rank = 0, .size = 2}, {.rank = 1, .size = 3}})) {
    EXPECT_NE(said.find("was started with WORLD_SIZE"), std::string::npos) << said;
    EXPECT_NE(said.find("start all processes of the run with the same"), std::string::npos) << said;
  }
  const std::vector<std::string> said =
      meet_at({{.rank = 0, .size = 3}, {.rank = 1, .size = 3}, {.rank = 2, .size = 4}});
  EXPECT_NE(said[0].find("process 2 was started with WORLD_SIZE 4, but process 0 with 3"), std::string::npos)
      << said[0];
  EXPECT_NE(said[1].find("process 2 was started with WORLD_SIZE 4, but process 0 with 3"), std::string::npos)
      << said[1];
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Rendezvous, AnotherAttemptIsRefusedByAll) {
  for (const std::string& said : meet_at({{.rank = 0, .size = 2, .attempt = 1}, {.rank = 1, .size = 2}}))
    EXPECT_NE(said.find("was started with TORCHELASTIC_RESTART_COUNT"), std::string::npos) << said;
}

TEST(Rendezvous, ARankThatIsTakenIsRefused) {
  const std::vector<std::string> said =
      meet_at({{.rank = 0, .size = 2}, {.rank = 1, .size = 2}, {.rank = 1, .size = 2}});
  EXPECT_EQ(said[0], "met");
  const std::string& refused = said[1] == "met" ? said[2] : said[1];
  EXPECT_EQ(refused, "another process of this run was started with RANK 1, too; each process needs its own RANK");
}

TEST(Rendezvous, ReportsForWhomItWaits) {
  std::mutex mutex;
  std::vector<std::string> lines;
  const auto report = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    lines.push_back(line);
  };
  const MeetingOptions options{.waiting = {.report = report, .report_every = std::chrono::seconds(1)},
                               .join = std::chrono::seconds(3)};
  meet_at({{.rank = 0, .size = 4}, {.rank = 2, .size = 4}}, options);
  ASSERT_GE(lines.size(), 4U);
  for (const std::string& line : lines)
    EXPECT_TRUE(line.starts_with("waiting for processes 1 and 3 (") && line.ends_with(" s)")) << line;
}

/// The message of a process that looks for process 0 at a port.
std::string message_at(uint16_t port, std::chrono::seconds join = std::chrono::seconds(3)) {
  return test::thrown_message<ProcessLost>([&] {
    meet({.rank = 1, .size = 2, .port = port}, nullptr,
         {.waiting = {.report_every = std::chrono::seconds(1)}, .join = join});
  });
}

TEST(Rendezvous, APortAtWhichNobodyListensIsNamed) {
  uint16_t port = 0;
  {
    const LocalSocket socket;
    port = socket.port();
  }
  EXPECT_EQ(message_at(port), "the 2 processes of the run did not meet at 127.0.0.1:" + std::to_string(port) +
                                  " within 3 s: nothing listens at 127.0.0.1:" + std::to_string(port));
}

TEST(Rendezvous, AServerThatDoesNotAnswerIsNamed) {
  const LocalSocket silent;
  EXPECT_NE(message_at(silent.port())
                .find("the program that listens at 127.0.0.1:" + std::to_string(silent.port()) + " does not answer"),
            std::string::npos)
      << message_at(silent.port());
}

TEST(Rendezvous, AnotherProgramsServerIsNamed) {
  LocalSocket socket;
  const uint16_t port = socket.port();
  const int listening = socket.release();
  std::atomic<bool> done = false;
  std::atomic<int> answered = 0;
  std::thread server([&] {
    while (!done) {
      pollfd waiting{listening, POLLIN, 0};
      if (poll(&waiting, 1, 50) != 1) continue;
      const int peer = accept(listening, nullptr, nullptr);
      if (peer < 0) continue;
      std::array<char, 256> request{};
      const std::string_view answer = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
      // The client may close its last connection before it asks anything.
      if (recv(peer, request.data(), request.size(), 0) > 0 &&
          send(peer, answer.data(), answer.size(), MSG_NOSIGNAL) > 0)
        ++answered;
      close(peer);
    }
  });
  const std::string said = message_at(port, std::chrono::seconds(20));
  done = true;
  server.join();
  close(listening);
  EXPECT_GT(answered, 0);
  EXPECT_EQ(said, "the program that listens at 127.0.0.1:" + std::to_string(port) +
                      " is not the store of this run's processes; check whether another program uses the port");
}

TEST(Rendezvous, APortThatIsTakenIsNamed) {
  const LocalSocket taken;
  const std::string said = test::thrown_message<std::runtime_error>(
      [&] { meet({.size = 2, .port = taken.port()}, nullptr, {.join = std::chrono::seconds(3)}); });
  EXPECT_EQ(said, "another program on this machine uses port " + std::to_string(taken.port()) +
                      ", at which the processes should meet; set another MASTER_PORT for all processes");
}

TEST(Rendezvous, ANetworkInterfaceThatIsNotThereIsNamedToAll) {
  setenv("GLOO_SOCKET_IFNAME", "no-such\ninterface", 1);
  const auto errors = test::play_processes(
      2,
      [&](const std::shared_ptr<ProcessGroup>& own) {
        try {
          own->connect();
        } catch (const std::exception& error) {
          own->tell_failure(error.what());
          throw;
        }
      },
      {}, test::Played::met);
  unsetenv("GLOO_SOCKET_IFNAME");
  for (const std::exception_ptr& error : errors) {
    const std::string said = test::thrown_message<std::runtime_error>([&] { std::rethrow_exception(error); });
    EXPECT_NE(said.find("GLOO_SOCKET_IFNAME names the network interface \"no-such?interface\""), std::string::npos)
        << said;
  }
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
