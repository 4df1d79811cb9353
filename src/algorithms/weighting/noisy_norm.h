#pragma once

#include <cstdint>
#include <vector>

// The norm of a gradient that was taken over a part of D_val, against that of D_val's own.
//
// Let the gradient g be the mean over m of D_val's M images, drawn without replacement. Its noise
// has the covariance C (1/m - 1/M) around D_val's gradient, and a norm is convex, so it is too
// large on average. For l2, E N(m)^2 = a + c (1/m - 1/M) exactly, with a the square of the norm
// sought and c the trace of C. For l1, where D_val's coordinates are spread as a normal variate of
// deviation s and each has noise of deviation t sqrt(1/m - 1/M), the mean of |coordinate| goes as
// sqrt(s^2 + t^2 (1/m - 1/M)), the same law; so does a mixture of such coordinates of all scales,
// if t/s is one. Every norm obeys it at both ends, pure noise (N^2 goes as 1/m) and none (N does
// not depend on m), with its own a and c. So both are measured, not derived: the m images are cut
// into G disjoint groups of m_j images, whose norms N_j obey the law too, and
//
//   c = (sum_j m_j N_j^2 - m N^2) / (G - 1)             not below 0
//   a = N^2 - c (1/m - 1/M)                             not below c/M
//
// The bound of a is what the sampling of D_val itself leaves of a gradient that vanishes. For l2
// and equal groups c is the unbiased estimate of the trace and a = the mean of g_i . g_j over i !=
// j.
//
// What is left of N_j^2 when the law's value is taken away, r_j = N_j^2 - N^2 - c (1/m_j - 1/m),
// sums to 0 with the weights m_j, and is the noise: of log sqrt(a) it is r_j / (2a) to first order,
// with a variance that goes as 1/m_j. The same images are behind the groups of every client, so
// clients' noises may be added and compared group by group (engine/validation_budget.h).

namespace fedvg {

/// What the groups of one scoring pass showed; [G] each.
struct GroupNorms {
  std::int64_t all = 0;  ///< M, images of D_val
  std::vector<std::int64_t> images;
  std::vector<std::vector<double>> norms;  ///< by column
};

struct NormEstimate {
  double norm = 0;                 ///< of D_val's gradient: sqrt(a)
  std::vector<double> deviations;  ///< [G] r_j / (2a)
};

/// One column's, from its norm `whole` over all the groups' images. Without groups, and over all
/// of D_val, the norm is `whole` itself. A norm of 0 stays 0.
NormEstimate estimate_norm(double whole, const GroupNorms& groups, std::size_t column);

}  // namespace fedvg
