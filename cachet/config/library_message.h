#pragma once

#include <string>
#include <string_view>

namespace cachet::config {

/// Removes from a library's message the parts that only the library's developers can use: the position in the library's
/// sources with the failed condition ("[enforce fail at device.cc:83] ifa != nullptr. Unable to find …", "[pair.cc:12]
/// Connection closed …", "trainer.cc(12) [(a) == (b)] …"), and the call stack below it. A message without such parts is
/// returned unchanged, with all its lines.
std::string plain_message(std::string_view message);

/// Returns the reason why a process or thread could not be started, for an error number of the system. The text comes
/// from strerror, but names the reached limit instead of "Resource temporarily unavailable".
std::string start_problem(int error);

}  // namespace cachet::config
