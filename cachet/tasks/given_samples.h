#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace cachet::tasks {

/// A sample that somebody gives, and where it stands, for messages: "list.txt:3"; empty where it names itself.
struct GivenSample {
  std::string text, place;
};

/// Gives the next one; nothing behind the last.
using NextSample = std::function<std::optional<GivenSample>()>;

/// Calls `use(text, index)` for all samples in order. An io::Error that it throws gets the sample's place before it.
void for_each_given(const NextSample& next, const std::function<void(const std::string& text, int64_t index)>& use);

}  // namespace cachet::tasks
