#include "app/failure.h"

#include <c10/util/Exception.h>

#include <iostream>
#include <new>
#include <stdexcept>

#include "app/command.h"
#include "cachet/config/problem.h"

namespace cachet::app {
namespace {

// LibTorch's messages carry the stack behind the first line.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

int say(const std::string& who, const std::string& message, ExitCode code) {
  std::cerr << who << ": " << message << '\n';
  return code;
}

}  // namespace

int report_failure(const std::string& who) {
  try {
    throw;
  } catch (const config::Error& error) {  // its lines begin with where the mistake stands
    std::cerr << error.what() << '\n';
    return kWrongUsage;
  } catch (const UsageError& error) {
    return say(who, error.what(), kWrongUsage);
  } catch (const c10::Error& error) {
    return say(who, first_line(error.what_without_backtrace()), kFailed);
  } catch (const std::bad_alloc&) {
    return say(who, "out of memory", kFailed);
  } catch (const std::exception& error) {
    return say(who, error.what(), kFailed);
  } catch (...) {
    return say(who, "failed for a reason that it did not give", kFailed);
  }
}

}  // namespace cachet::app
