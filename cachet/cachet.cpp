#include "cachet/cachet.h"

namespace cachet {

const char* version() { return CACHET_VERSION; }

}  // namespace cachet
