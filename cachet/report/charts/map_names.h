#pragma once

namespace cachet::report {

/// Width of one letter of a row's or column's name at its largest size, which is that on a phone, in units of the
/// drawing.
inline constexpr double kMapLetter = 8.4;

/// Sine and cosine of the angle of a column's name that is longer than its column is wide.
inline constexpr double kMapNameSine = 0.67;
inline constexpr double kMapNameCosine = 0.74;

}  // namespace cachet::report
