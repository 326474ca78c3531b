#pragma once

#include <string>
#include <string_view>

namespace cachet::config {

/// Returns the message of a library without parts that only its developers can use: the position in the library's
/// sources with the condition that failed ("[enforce fail at device.cc:83] ifa != nullptr. Unable to find …",
/// "[pair.cc:12] Connection closed …", "trainer.cc(12) [(a) == (b)] …"), and the call stack below it. Any other message
/// is returned unchanged, with all its lines.
std::string plain_message(std::string_view message);

/// Explains an error number of the system for a process or thread that could not be started: the text of strerror, but
/// with the name of the limit that was reached instead of "Resource temporarily unavailable".
std::string start_problem(int error);

}  // namespace cachet::config
