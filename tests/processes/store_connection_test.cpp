#include "cachet/processes/store_connection.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace cachet::processes {
namespace {

std::set<std::string> threads_of_this_process() {
  std::set<std::string> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    threads.insert(entry.path().filename().string());
  return threads;
}

/// The signals that a thread holds back, a bit each; nothing of a thread that has ended.
std::optional<uint64_t> held_back_by(const std::string& thread) {
  std::ifstream status("/proc/self/task/" + thread + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigBlk:")) return std::stoull(line.substr(7), nullptr, 16);
  return std::nullopt;
}

// A process that ends while it is answered would end the one that serves the store, by SIGPIPE.
TEST(StoreConnection, ThreadsThatServeTheStoreHoldSigpipeBack) {
  const std::set<std::string> before = threads_of_this_process();
  LocalSocket socket;
  ProcessPlace place;
  place.size = 2;
  place.host = "127.0.0.1";
  place.port = socket.port();
  const auto store = open_store(place, &socket, {}, std::chrono::steady_clock::now() + std::chrono::seconds(30));
  int serving = 0;
  // While another thread ends, the system may leave threads out of its list.
  for (int look = 0; look < 100 && serving == 0; ++look) {
    for (const std::string& thread : threads_of_this_process()) {
      if (before.contains(thread)) continue;
      const auto signals = held_back_by(thread);
      if (!signals) continue;
      ++serving;
      EXPECT_NE(*signals & uint64_t{1} << (SIGPIPE - 1), 0U) << thread;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_GT(serving, 0);
}

}  // namespace
}  // namespace cachet::processes
