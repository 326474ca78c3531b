#pragma once

namespace cachet::report {

/// Width of one letter in the names of rows and columns, in units of the drawing. kMapLetter is the width on a phone,
/// where letters are largest.
inline constexpr double kMapLetter = 8.4;

/// Sine and cosine of the angle of leaning column names in heat maps and confusion matrices.
inline constexpr double kMapNameSine = 0.67;
inline constexpr double kMapNameCosine = 0.74;

}  // namespace cachet::report
