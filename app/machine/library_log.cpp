#include "app/machine/library_log.h"

#include <cctype>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/train/runs/run_log.h"

namespace cachet::app {
namespace {

/// Whether a text is an entry of LibTorch's log: "[W1128 12:00:00.123 socket.cpp:460] …".
bool is_library_entry(std::string_view text) {
  constexpr std::string_view kForm = "[W0000 00:00:00";
  constexpr std::string_view kSeverities = "FEWIV";
  if (text.size() < kForm.size()) return false;
  for (size_t i = 0; i < kForm.size(); ++i) {
    const bool fits = kForm[i] == 'W'   ? kSeverities.find(text[i]) != std::string_view::npos
                      : kForm[i] == '0' ? std::isdigit(static_cast<unsigned char>(text[i])) != 0
                                        : text[i] == kForm[i];
    if (!fits) return false;
  }
  return true;
}

/// Takes out of a stream what LibTorch's log writes there, each entry with one call.
class Buffer : public std::streambuf {
 public:
  explicit Buffer(std::streambuf* target) : target_(target) {}

  void set_active(bool active) {
    const std::lock_guard lock(mutex_);
    active_ = active;
    if (!active) log_.reset();
    entries_.clear();
  }

  void write_to(const std::filesystem::path& path, int64_t rank) {
    const std::lock_guard lock(mutex_);
    if (!active_) return;
    log_ = std::make_unique<train::RunLog>(path, nullptr);
    prefix_ = rank == 0 ? "" : "process " + std::to_string(rank) + ": ";
    for (const std::string& entry : entries_) log_->note(prefix_ + entry);
    entries_.clear();
  }

 protected:
  int_type overflow(int_type byte) override {
    const std::lock_guard lock(mutex_);
    if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
    return target_->sputc(traits_type::to_char_type(byte));
  }

  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    const std::lock_guard lock(mutex_);
    const std::string_view text(bytes, static_cast<size_t>(count));
    if (!active_ || !is_library_entry(text)) return target_->sputn(bytes, count);
    keep(text);
    return count;
  }

  int sync() override {
    const std::lock_guard lock(mutex_);
    return target_->pubsync();
  }

 private:
  void keep(std::string_view entry) {
    constexpr size_t kMaxEntries = 1000;
    while (entry.ends_with('\n')) entry.remove_suffix(1);
    if (log_)
      log_->note(prefix_ + std::string(entry));
    else if (entries_.size() < kMaxEntries)
      entries_.emplace_back(entry);
  }

  std::streambuf* target_;
  std::mutex mutex_;  // threads of LibTorch write too
  bool active_ = false;
  std::unique_ptr<train::RunLog> log_;
  std::string prefix_;
  std::vector<std::string> entries_;
};

/// The buffer of standard error. It stays there until the process ends: a thread of LibTorch may be writing.
Buffer& buffer() {
  static auto* const only = [] {
    auto* made = new Buffer(std::cerr.rdbuf());
    std::cerr.rdbuf(made);
    return made;
  }();
  return *only;
}

bool is_wanted_on_screen() { return std::getenv("TORCH_CPP_LOG_LEVEL") != nullptr; }

}  // namespace

LibraryLog::LibraryLog() {
  if (!is_wanted_on_screen()) buffer().set_active(true);
}

LibraryLog::~LibraryLog() {
  if (!is_wanted_on_screen()) buffer().set_active(false);
}

void LibraryLog::write_to(const std::filesystem::path& log, int64_t rank) {
  if (!is_wanted_on_screen()) buffer().write_to(log, rank);
}

}  // namespace cachet::app
