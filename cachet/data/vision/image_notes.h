#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace cachet::data {

/// Faults found in images. Each message is stored once. Any thread may add a message.
class ImageNotes {
 public:
  /// `one` and `many` are the singular and the plural of the noun for an image with a fault: "image skipped", "images
  /// skipped".
  ImageNotes(std::string one, std::string many) : one_(std::move(one)), many_(std::move(many)) {}

  /// Adds a message. The message must begin with the name of the image file.
  void add(const std::string& message);
  int64_t count() const;
  /// Returns lines for a run's notes: the number of messages if there are several, and the first 100 messages in order.
  std::vector<std::string> lines() const;
  /// Returns the messages that were added since the last call of take_new().
  std::vector<std::string> take_new();

 private:
  std::string one_, many_;
  mutable std::mutex mutex_;
  std::set<std::string> messages_;
  std::vector<std::string> first_;  // first messages, in the order of the calls
  std::vector<std::string> new_;    // since the last call of take_new()
};

}  // namespace cachet::data
