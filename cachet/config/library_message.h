#pragma once

#include <string>
#include <string_view>

namespace cachet::config {

/// The message of a library without what only its developers can use: the position in the library's sources and the
/// condition before it ("[enforce fail at device.cc:83] ifa != nullptr. Unable to find …", "[pair.cc:12] Connection
/// closed …", "trainer.cc(12) [(a) == (b)] …"), and the call stack below it. Any other message is returned unchanged,
/// all its lines.
std::string plain_message(std::string_view message);

/// What an error number of the system means, for a process or thread that could not be started: strerror, but a limit
/// that is reached is named instead of "Resource temporarily unavailable".
std::string start_problem(int error);

}  // namespace cachet::config
