#include "cachet/deploy/cannot_convert.h"

#include <c10/util/Exception.h>

#include <new>
#include <string>

#include "cachet/config/library_message.h"
#include "cachet/ops/support/finite.h"

namespace cachet::deploy {
namespace {

std::string plain_line(const std::string& message) {
  const std::string plain = config::plain_message(message);
  return plain.substr(0, plain.find('\n'));
}

}  // namespace

void throw_cannot_convert() {
  try {
    throw;
  } catch (const CannotConvert&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const ops::NotFinite&) {
    throw;
  } catch (const c10::Error& error) {
    const std::string message = plain_line(error.what_without_backtrace());
    if (message.find("can't allocate memory") != std::string::npos) throw;  // of LibTorch's allocator
    throw CannotConvert(message);
  } catch (const std::exception& error) {
    throw CannotConvert(plain_line(error.what()));
  }
}

}  // namespace cachet::deploy
