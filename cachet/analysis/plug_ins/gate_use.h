#pragma once

#include "cachet/analysis/plug_ins/by_layer.h"
#include "cachet/nn/base/observer.h"

namespace cachet::analysis {

/// The limits beyond which a gate is saturated. A gate with a value below kGateShut passes almost nothing of its input.
/// A gate with a value above kGateOpen passes almost all of its input.
inline constexpr double kGateShut = 0.1, kGateOpen = 0.9;

/// Statistics of the gates of recurrent caches, over all updates that this object observes.
class GateUse {
 public:
  struct Gate {
    double mean = 0, shut = 0, open = 0;  // shut, open: fractions of the values below kGateShut and above kGateOpen
  };
  struct Layer {
    Gate reset, update;
  };

  nn::Listener listener();
  ByLayer<Layer> layers() const;

 private:
  struct Sums {
    double sum = 0, shut = 0, open = 0, count = 0;
    Gate mean() const { return {sum / count, shut / count, open / count}; }
  };
  struct Both {
    Sums reset, update;
  };
  ByLayer<Both> sums_;
};

}  // namespace cachet::analysis
