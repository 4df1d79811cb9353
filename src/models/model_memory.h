#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fedvg/error.h"

namespace fedvg {

/// A network that no memory of this machine holds. Who knows which options make it so large
/// says them before the message.
class ModelTooLarge final : public OptionError {
 public:
  using OptionError::OptionError;
};

/// The global model; a worker's parameters and gradient; a sum of updates in float64.
constexpr int least_copies = 5;

/// Bytes of memory that this process may take: the machine's, or what its control group (a
/// container's limit) or `ulimit -v` leaves of it.
double machine_memory();

/// The number in a control group's file; absent: no such file, or no limit in it ("max").
std::optional<double> memory_limit_in(const std::string& file);

/// "6.3 TB"
std::string memory_text(double bytes);

/// Of a float32 tensor. Floating-point, so that no extent overflows it.
double tensor_bytes(const std::vector<std::int64_t>& shape);

/// Throws ModelTooLarge when a tensor beside `taken` bytes of others is more than the machine
/// can hold so often.
void check_memory_for(const std::string& name, const std::vector<std::int64_t>& shape,
                      double taken);

}  // namespace fedvg
