#include "tests/support/test_data.h"

namespace cachet::test {

std::string test_data() { return CACHET_TEST_DATA; }

}  // namespace cachet::test
