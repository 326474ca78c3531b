#include "tests/support/test_data.h"

namespace cachet::testing {

std::string test_data() { return CACHET_TEST_DATA; }

}  // namespace cachet::testing
