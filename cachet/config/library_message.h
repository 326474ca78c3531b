#pragma once

#include <string>
#include <string_view>

namespace cachet::config {

/// Removes from a library's message the parts that only the library's developers can use: the position in the library's
/// sources, the failed condition, and the call stack. Examples of positions and failed conditions are "[enforce fail at
/// device.cc:83] ifa != nullptr.", "[pair.cc:12]" and "trainer.cc(12) [(a) == (b)]". A message without parts for
/// developers is returned unchanged, with all its lines.
std::string plain_message(std::string_view message);

/// Returns the reason why a process or thread could not be started, for an error number of the system. The reason is
/// the text of strerror, except for EAGAIN: then it names the limit that was reached (`ulimit -u`).
std::string start_problem(int error);

}  // namespace cachet::config
