#pragma once

#include <string>
#include <string_view>

namespace cachet::data {

/// What a text is compared by when data are split or looked through for repetitions: its form NFKC, without blanks at
/// its ends, with one space for each row of blanks within it, and without a byte-order mark before it. Texts with equal
/// keys are the same sample for a model that normalizes its texts.
std::string split_key(std::string_view text);

}  // namespace cachet::data
