#include "cachet/train/machine/error_message.h"

#include <c10/util/Exception.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "cachet/config/library_message.h"
#include "cachet/report/format.h"
#include "cachet/train/machine/cuda_build.h"
#include "cachet/train/machine/gpu_problem.h"

namespace cachet::train {
namespace {

/// "filesystem error: cannot create directories: Permission denied [/a/b]" as "/a/b: cannot create directories:
/// Permission denied".
std::string of_file_system(const std::filesystem::filesystem_error& error) {
  constexpr std::string_view kPrefix = "filesystem error: ";
  const std::string reason = error.code().message();
  std::string act = error.what();
  if (act.starts_with(kPrefix)) act.erase(0, kPrefix.size());
  const size_t end = act.find(": " + reason);
  act = end == std::string::npos ? reason : act.substr(0, end) + ": " + reason;
  const std::string other = error.path2().empty() ? "" : " (" + error.path2().string() + ")";
  return error.path1().empty() ? act : error.path1().string() + ": " + act + other;
}

/// Of the message of LibTorch's allocator if memory is exhausted: "… you tried to allocate 4096 bytes. …".
std::optional<std::string> of_memory(std::string_view message) {
  constexpr std::string_view kAllocator = "can't allocate memory", kBefore = "you tried to allocate ";
  if (message.find(kAllocator) == std::string_view::npos) return std::nullopt;
  const size_t at = message.find(kBefore);
  int64_t bytes = 0;
  if (at != std::string_view::npos)
    std::from_chars(message.data() + at + kBefore.size(), message.data() + message.size(), bytes);
  return bytes > 0 ? "out of memory: cannot allocate " + report::format_bytes(bytes) + " more" : "out of memory";
}

std::string of_system(const std::system_error& error) {
  const bool is_of_threads = error.code() == std::errc::resource_unavailable_try_again;
  return is_of_threads ? "cannot start a thread: " + config::start_problem(EAGAIN) : std::string(error.what());
}

}  // namespace

std::string error_message(const std::exception& error) {
  if (const auto* torch = dynamic_cast<const c10::Error*>(&error)) {
    const std::string whole = torch->what_without_backtrace(), message = first_line(whole);
    if (const auto text = of_memory(message)) return *text;
    if (const auto text = gpu_error_text(whole, cuda_build())) return *text;
    return config::plain_message(message);
  }
  if (const auto* of_files = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return of_file_system(*of_files);
  if (const auto* of_the_system = dynamic_cast<const std::system_error*>(&error)) return of_system(*of_the_system);
  return config::plain_message(error.what());
}

std::string first_line(const std::string& message) { return message.substr(0, message.find('\n')); }

}  // namespace cachet::train
