// Included before every source of SentencePiece. Its checks (CHECK, LOG(FATAL)) write to standard error and end the
// process; compiled with this they throw std::runtime_error with the same text. A check that fails in a thread of its
// pool ends that task alone; error::take_task_failure() then has its text, and what was computed is of no use.
#pragma once

#define Die DieThatExits
#include "common.h"
#undef Die

#include <exception>
#include <functional>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sentencepiece {
namespace error {

class Die {
 public:
  explicit Die(bool die) : die_(die) {}
  ~Die() noexcept(false) {
    std::string text = message().str();
    message().str("");
    if (die_) throw std::runtime_error(std::move(text));
    std::cerr << text << std::endl;
  }
  int operator&(std::ostream&) { return 0; }

  static std::ostringstream& message() {
    thread_local std::ostringstream text;
    return text;
  }

 private:
  bool die_;
};

inline std::mutex& task_failure_mutex() {
  static std::mutex mutex;
  return mutex;
}

inline std::string& task_failure() {
  static std::string text;
  return text;
}

/// The message of the first task that failed since the last call; empty if none did.
[[gnu::used]] inline std::string take_task_failure() {
  const std::lock_guard<std::mutex> lock(task_failure_mutex());
  return std::exchange(task_failure(), std::string());
}

}  // namespace error

}  // namespace sentencepiece

#undef LOG
#define LOG(severity)                                                                                                  \
  (::sentencepiece::logging::GetMinLogLevel() > ::sentencepiece::logging::LOG_##severity)                              \
      ? 0                                                                                                              \
      : ::sentencepiece::error::Die(::sentencepiece::logging::LOG_##severity >= ::sentencepiece::logging::LOG_FATAL) & \
            ::sentencepiece::error::Die::message()                                                                     \
                << ::sentencepiece::logging::BaseName(__FILE__) << "(" << __LINE__ << ") LOG(" << #severity << ") "

#undef CHECK
#define CHECK(condition)                                                                                       \
  (condition) ? 0                                                                                              \
              : ::sentencepiece::error::Die(true) & ::sentencepiece::error::Die::message()                     \
                                                        << ::sentencepiece::logging::BaseName(__FILE__) << "(" \
                                                        << __LINE__ << ") [" << #condition << "] "

#define ThreadPool ThreadPoolThatTerminates
#include "util.h"
#undef ThreadPool

namespace sentencepiece {

class ThreadPool {
 public:
  explicit ThreadPool(int32_t) {}
  virtual ~ThreadPool() {
    for (std::thread& task : tasks_) task.join();
  }

  void Schedule(std::function<void()> closure) {
    tasks_.emplace_back([run = std::move(closure)] {
      try {
        run();
      } catch (const std::exception& failed) {
        const std::lock_guard<std::mutex> lock(error::task_failure_mutex());
        if (error::task_failure().empty()) error::task_failure() = failed.what();
      }
    });
  }
  void StartWorkers() {}

 private:
  std::vector<std::thread> tasks_;
};

}  // namespace sentencepiece
