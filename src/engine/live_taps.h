#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fedvg/layout.h"
#include "fedvg/model.h"

namespace fedvg {

struct DriverSetup;
struct FederationSetup;

/// A model in two forms: whole, as it is drawn, loaded and saved, and cropped to its live taps, as
/// the federation trains, sums and keeps it.
///
/// Dead taps have no gradient. Without weight decay they stay what they were, and the cropped form
/// leaves them out. With it they shrink, local training and the server's step with their momenta,
/// pulls and control variates act on that, all of it linear, and all of it on multiples of what
/// they were at the start: so each cropped tensor's tail holds their length along that direction,
/// a number like others without a gradient, and l2 norms and distances are those of all of them.
/// A model loaded in between, whose dead taps point elsewhere while vectors of the old direction
/// are still about, adds a direction, orthogonal to those before, and takes the tail's next number.
class DeadTaps {
 public:
  DeadTaps() = default;
  /// `cropped` has the tensors of `whole`, those of `taps` smaller by the dead ones; with tails
  /// where dead taps move.
  DeadTaps(Layout whole, Layout cropped, std::vector<LiveTaps> taps);

  const Layout& whole() const { return whole_; }

  /// `anew`: no vector in cropped form is left that counts. Throws RunError, and is as before,
  /// when the tail has no number left for one more direction.
  at::Tensor crop(const at::Tensor& whole, bool anew);
  /// The whole form, bitwise where it has not moved since crop().
  at::Tensor restore(const at::Tensor& cropped) const;

  /// What crop() has left behind, for a federation that goes on later.
  TensorMap state() const;
  /// Throws DataError when it is of another model.
  void set_state(const TensorMap& state);

 private:
  struct Direction {
    at::Tensor values;  ///< in the tensor's shape, 0 at live taps; not of length 1
    double length;
  };
  struct Kernel {
    LiveTaps taps;
    std::vector<Direction> directions;
    at::Tensor dead;     ///< as of the last crop(), 0 at live taps
    at::Tensor lengths;  ///< the tail then
  };
  void settle(Kernel& kernel, at::Tensor tail, bool anew) const;

  Layout whole_, cropped_;
  std::vector<Kernel> kernels_;
};

/// Why a federation of these parts keeps dead taps; empty: it can do without. What each part says
/// of itself (Folding) decides, and whether the local optimizer decays weights:
///
/// - local sgd, AdamW beside a correction that leaves gradients alone: always. Adam, and AdamW
///   beside others, divide by the root of squared gradients, number by number: at rest.
/// - fedprox, scaffold, moon, elastic, fednova, alone: always; feddyn too, unless proximal = false,
///   which by itself drives dead taps away from 0.
/// - weights by norms of D_val's gradient, sizes, accuracy: always; by the l1 norm of the update:
///   at rest.
/// - server sgd, with momentum: always; adam, yogi, adagrad: at rest.
/// - mean, krum: linear, and by l2 distances; median, trimmed-mean: commute with a common factor.
/// - clipping, and the factor of corrupted updates: by l2 norms, and linear.
std::string against_live_taps(const FederationSetup& setup, const DriverSetup& driver);

/// Numbers of a cropped tensor's tail: more directions only where sums are linear.
std::int64_t tail_of(bool moving, bool linear);

}  // namespace fedvg
