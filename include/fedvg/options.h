#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "fedvg/value.h"

namespace fedvg {

/// Values that a number may take. NaN is never accepted; infinities only where the
/// bound on that side is infinite and `finite` is false.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;   ///< true: low itself is refused
  bool high_open = false;  ///< true: high itself is refused
  bool finite = true;
  /// ">= 0", "in (0, 1]", …; empty when every finite number will do.
  std::string text() const;
  bool contains(double value) const;
};

inline Bounds at_least(double low) { return {.low = low}; }
inline Bounds above(double low) { return {.low = low, .low_open = true}; }
inline Bounds between(double low, double high) { return {.low = low, .high = high}; }
inline Bounds above_up_to(double low, double high) {
  return {.low = low, .high = high, .low_open = true};
}
inline Bounds from_below(double low, double high) {
  return {.low = low, .high = high, .high_open = true};
}

/// The strings that a text option may be.
struct OneOf {
  std::vector<std::string> names;
};

/// Marks a text option as the path of a file or folder; "" where there is none.
struct FilePath {};

/// A part chosen by name, with its own options: `{name = "sgd", lr = 0.01}`. After
/// resolving, `options` holds every option of that part, defaults filled in.
struct Part {
  std::string name;
  Table options;
  bool operator==(const Part&) const = default;
};

/// Marks a Part option as a choice among the registered parts of `kind`
/// ("correction", "optimizer", …). In TOML it is an inline table with key `name`, or
/// just the name as a string.
struct PartOf {
  std::string kind;
};

/// Like PartOf, but the options of the part stand beside the option itself, in the
/// same section: `[partition] scheme = "dirichlet"  alpha = 0.1`. One per section.
struct PartBeside {
  std::string kind;
};

/// The options of a part or section are a plain struct whose defaults stand at its
/// members, with one static function that names them:
///
///     struct FedProxOptions {
///       double mu = 0.01;
///
///       template <class Visitor>
///       static void describe(Visitor& visit) {
///         visit("mu", &FedProxOptions::mu, at_least(0), "pull to the round's global model");
///       }
///     };
///
/// Members may be bool, std::int64_t, double, std::string, std::vector of the last
/// three, Part or std::vector<Part>. A call is visit(key, member, help) or
/// visit(key, member, constraint, help) where the constraint is Bounds (numbers and
/// lists of them), OneOf (strings and lists of them), PartOf or PartBeside (parts). The
/// default itself is always accepted: it may stand for "off" outside the constraint.
///
/// Everything that must know an option walks `describe`: the TOML reader, --set,
/// `fedvg list`, the generated reference and the Python binding. Nothing repeats it.
template <class Options>
concept Described = requires {
  Options{};
};

/// A part without options.
struct NoOptions {
  template <class Visitor>
  static void describe(Visitor&) {}
};

/// What an option accepts.
enum class OptionType { boolean, integer, number, text, integers, numbers, texts, part, parts };

/// One declared option, as walked out of `describe`.
struct Field {
  std::string name;
  OptionType type;
  Value initial;                       ///< default, as Value (a Part: a Table with key "name")
  Bounds bounds{};                     ///< numbers
  std::vector<std::string> choices{};  ///< texts; empty: any
  std::string part_kind{};             ///< parts
  bool is_path = false;                ///< FilePath
  bool beside = false;                 ///< PartBeside
  std::string help{};
};

using Schema = std::vector<Field>;

}  // namespace fedvg

#include "fedvg/options_walk.h"  // schema_of<Options>(), read<Options>(table): no need to look
