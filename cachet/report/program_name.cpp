#include "cachet/report/program_name.h"

#include <cerrno>

namespace cachet::report {

std::string program_name() { return program_invocation_short_name; }

}  // namespace cachet::report
