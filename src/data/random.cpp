#include "fedvg/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace fedvg {
namespace {

__extension__ using Wide = unsigned __int128;

// One step of SplitMix64 (Steele, Lea and Flood, 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// FNV-1a.
std::uint64_t hashed(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::uint64_t stream_seed(std::uint64_t seed, std::string_view purpose, std::int64_t round,
                          std::int64_t client) {
  std::uint64_t state = mixed(seed);
  state = mixed(state ^ hashed(purpose));
  state = mixed(state ^ static_cast<std::uint64_t>(round));
  return mixed(state ^ static_cast<std::uint64_t>(client));
}

}  // namespace

Random::Random(std::uint64_t seed, std::string_view purpose, std::int64_t round,
               std::int64_t client)
    : engine_(stream_seed(seed, purpose, round, client)) {}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

// Lemire, 2019, arXiv 1805.10941: the high half of bits * n, redrawn where the low half
// says that the interval is not covered evenly.
std::uint64_t Random::below(std::uint64_t n) {
  Wide product = Wide{bits()} * n;
  auto low = static_cast<std::uint64_t>(product);
  if (low < n) {
    const std::uint64_t uneven = (0 - n) % n;
    while (low < uneven) {
      product = Wide{bits()} * n;
      low = static_cast<std::uint64_t>(product);
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

// Box and Muller; the second of the pair is not kept, so that a stream has no hidden state.
double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

// Marsaglia and Tsang, 2000, for shape + 1 > 1; then Gamma(shape) = Gamma(shape + 1) *
// U^(1/shape), as a sum of logarithms.
double Random::log_gamma_variate(double shape) {
  const double d = shape + 1.0 - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  double v;
  for (;;) {
    const double x = normal();
    const double root = 1.0 + c * x;
    if (root <= 0.0) continue;
    v = root * root * root;
    if (std::log(1.0 - uniform()) < 0.5 * x * x + d * (1.0 - v + std::log(v))) break;
  }
  const double boost = std::log(1.0 - uniform()) / shape;
  return std::max(std::log(d) + std::log(v) + boost, std::numeric_limits<double>::lowest());
}

}  // namespace fedvg
