#pragma once

#include <string>

namespace cachet::test {

/// The folder tests/data of the checkout.
std::string test_data();

}  // namespace cachet::test
