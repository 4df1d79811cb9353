#pragma once

#include <optional>
#include <vector>

#include "fedvg/combiner.h"

namespace fedvg {

/// The weighted sums of one round, in double precision, one update at a time: memory does
/// not grow with the participants.
///
///   d^l = sum_p share_p (sum_k u_kp^l f_k^l delta_k^l) / (sum_k u_kp^l)
///
/// Buffers are averaged likewise, without f; integer buffers are rounded and keep type
/// and shape.
class UpdateSum {
 public:
  UpdateSum(const Layout& layout, std::size_t parts) : layout_(layout), parts_(parts) {}

  void add(const ClientUpdate& update, const std::vector<Score>& scores, const Column& factor);

  /// Nothing when the total weight of a part with a share is 0 in some column.
  std::optional<Combined> combine(const std::vector<double>& shares) const;

  /// W's row of one client: [1] or [T].
  Column weights(const std::vector<Score>& scores, const std::vector<double>& shares) const;

  std::size_t added() const { return added_; }

 private:
  struct Part {
    at::Tensor sum;       ///< sum of u f delta, float64 [P]
    Column total;         ///< sum of u: [1] or [T]
    Tensors buffers;      ///< sum of u buffer, float64
    Column buffer_total;  ///< [1] or [number of buffers]
  };

  const Layout& layout_;
  std::vector<Part> parts_;
  std::vector<at::ScalarType> buffer_types_;
  std::size_t added_ = 0;
};

/// A float64 value in a buffer's own type, rounded where that is an integer.
at::Tensor as_type(const at::Tensor& value, at::ScalarType type);

}  // namespace fedvg
