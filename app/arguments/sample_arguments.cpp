#include "app/arguments/sample_arguments.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "cachet/data/folder_walk.h"
#include "cachet/io/error.h"
#include "cachet/io/files/line_reader.h"
#include "cachet/report/text/display_width.h"

namespace cachet::app {
namespace {

constexpr size_t kMaxLineBytes = size_t{1} << 24;
constexpr int kShownColumns = 30;  // of a text in messages

/// An open file, pipe or terminal, read from its beginning to its end.
class Stream {
 public:
  explicit Stream(const std::string& file) : name_(file == "-" ? "standard input" : file) {
    if (file != "-") file_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) fail("opening");
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (file_ != STDIN_FILENO) ::close(file_);
  }

  const std::string& name() const { return name_; }

  size_t read(std::span<std::byte> bytes) {
    while (true) {
      const ssize_t count = ::read(file_, bytes.data(), bytes.size());
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) fail("reading");
    }
  }

 private:
  [[noreturn]] void fail(const char* step) const {
    throw io::Error(name_ + ": " + step + " failed: " + std::generic_category().message(errno));
  }

  std::string name_;
  int file_ = STDIN_FILENO;
};

std::vector<std::string> image_files(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const std::string& word : words) {
    std::error_code unreadable;  // the reader of the file reports it
    if (!std::filesystem::is_directory(word, unreadable)) {
      files.push_back(word);
      continue;
    }
    const size_t before = files.size();
    data::for_each_file_below(word, [&](const std::filesystem::path& file, const std::string&) {
      if (data::has_image_name(file)) files.push_back(file.string());
    });
    if (files.size() == before) throw io::Error(word + " contains no JPEG or PNG files");
  }
  return files;
}

}  // namespace

tasks::NextSample samples_of_arguments(const std::vector<std::string>& words, tasks::SampleForm form) {
  if (form == tasks::SampleForm::image_file)
    return [files = image_files(words), next = size_t{0}]() mutable -> std::optional<tasks::GivenSample> {
      if (next == files.size()) return std::nullopt;
      return tasks::GivenSample{files[next++], ""};
    };
  return [&words, next = size_t{0}]() mutable -> std::optional<tasks::GivenSample> {
    if (next == words.size()) return std::nullopt;
    const std::string& word = words[next++];
    return tasks::GivenSample{word, io::in_quotes(report::fit_width(word, kShownColumns))};
  };
}

tasks::NextSample samples_of_lines(const std::string& file) {
  const auto input = std::make_shared<Stream>(file);
  const auto lines = std::make_shared<io::LineReader>(
      [input](std::span<std::byte> bytes) { return input->read(bytes); }, input->name(), kMaxLineBytes);
  return [lines, name = input->name()]() -> std::optional<tasks::GivenSample> {
    const auto line = lines->next();
    if (!line) return std::nullopt;
    return tasks::GivenSample{std::string(*line), name + ":" + std::to_string(lines->number())};
  };
}

bool comes_line_by_line(const std::string& file) {
  std::error_code absent;
  return !std::filesystem::is_regular_file(file, absent);
}

}  // namespace cachet::app
