#pragma once

#include <string>

namespace cachet::testing {

/// The folder tests/data of the checkout.
std::string test_data();

}  // namespace cachet::testing
