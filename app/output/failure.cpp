#include "app/output/failure.h"

#include <iostream>
#include <new>
#include <stdexcept>

#include "app/commands/command.h"
#include "cachet/config/problem.h"
#include "cachet/train/machine/error_message.h"

namespace cachet::app {
namespace {

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
  } catch (const std::bad_alloc&) {
    return say(who, "out of memory", kFailed);
  } catch (const std::exception& error) {
    return say(who, train::error_message(error), kFailed);
  } catch (...) {
    return say(who, "failed with an unknown error", kFailed);
  }
}

}  // namespace cachet::app
