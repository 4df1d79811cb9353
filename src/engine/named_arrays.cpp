#include "engine/named_arrays.h"

#include <ATen/ops/empty.h>

#include <array>
#include <cstring>

#include "fedvg/error.h"

namespace fedvg {
namespace {

struct TypeName {
  at::ScalarType type;
  const char* name;
};
constexpr std::array kTypes{
    TypeName{at::kFloat, "F32"}, TypeName{at::kDouble, "F64"}, TypeName{at::kLong, "I64"},
    TypeName{at::kInt, "I32"},   TypeName{at::kHalf, "F16"},   TypeName{at::kBFloat16, "BF16"},
    TypeName{at::kByte, "U8"},   TypeName{at::kBool, "BOOL"},
};

}  // namespace

NamedArray to_array(const std::string& name, const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().to(at::kCPU).contiguous();
  NamedArray array{name, "", plain.sizes().vec(), {}};
  for (const auto& known : kTypes) {
    if (known.type == plain.scalar_type()) array.dtype = known.name;
  }
  if (array.dtype.empty()) {
    throw RunError("cannot save tensor " + name + " of type " + at::toString(plain.scalar_type()));
  }
  array.bytes.resize(plain.nbytes());
  if (!array.bytes.empty()) std::memcpy(array.bytes.data(), plain.data_ptr(), plain.nbytes());
  return array;
}

at::Tensor to_tensor(const NamedArray& array) {
  for (const auto& known : kTypes) {
    if (array.dtype != known.name) continue;
    at::Tensor tensor = at::empty(array.shape, known.type);
    if (tensor.nbytes() != array.bytes.size()) break;
    if (!array.bytes.empty())
      std::memcpy(tensor.data_ptr(), array.bytes.data(), array.bytes.size());
    return tensor;
  }
  throw DataError("tensor " + array.name + ": type " + array.dtype + " with " +
                  std::to_string(array.bytes.size()) + " bytes does not fit its shape");
}

}  // namespace fedvg
