#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace cachet::data {

/// What was found wrong with images, each message once, by any thread.
class ImageNotes {
 public:
  /// What such an image is: "image skipped", and of several "images skipped".
  ImageNotes(std::string one, std::string many) : one_(std::move(one)), many_(std::move(many)) {}

  /// `message` begins with the image's file.
  void add(const std::string& message);
  int64_t count() const;
  /// For a run's notes, in the order in which they were met: a line for each of the first 100, then how many there are.
  std::vector<std::string> lines() const;

 private:
  std::string one_, many_;
  mutable std::mutex mutex_;
  std::set<std::string> messages_;
  std::vector<std::string> first_;  // in the order in which they were met
};

}  // namespace cachet::data
