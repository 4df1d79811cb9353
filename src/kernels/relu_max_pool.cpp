#include "kernels/relu_max_pool.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/instruction_set.h"
#include "kernels/layout.h"

namespace fedvg::kernels {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

PoolShape shape_of(const at::Tensor& x) {
  return {.images = x.size(0), .height = x.size(2), .width = x.size(3), .channels = x.size(1)};
}

bool serves(const at::Tensor& x) {
  return is_plain(x) && x.size(0) > 0 && x.size(1) > 0 && x.size(2) > 1 && x.size(3) > 1;
}

class ReluMaxPool : public torch::autograd::Function<ReluMaxPool> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x, std::int64_t table_address) {
    const auto& table = *reinterpret_cast<const KernelTable*>(table_address);
    const PoolShape s = shape_of(x);
    at::Tensor y = empty_plain(s.images, s.channels, s.out_height(), s.out_width());
    at::Tensor index = at::empty({y.numel()}, at::kByte);
    table.relu_max_pool(s, x.const_data_ptr<float>(), y.data_ptr<float>(),
                        index.data_ptr<std::uint8_t>());
    context->save_for_backward({index});
    context->saved_data["shape"] = x.sizes();
    context->saved_data["table"] = table_address;
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto& table = *reinterpret_cast<const KernelTable*>(context->saved_data["table"].toInt());
    const auto shape = context->saved_data["shape"].toIntVector();
    const at::Tensor index = context->get_saved_variables()[0], g = plain(gradients[0]);
    at::Tensor gx = empty_plain(shape[0], shape[1], shape[2], shape[3]);
    table.relu_max_pool_gradient(shape_of(gx), g.const_data_ptr<float>(),
                                 index.const_data_ptr<std::uint8_t>(), gx.data_ptr<float>());
    return {gx, at::Tensor()};
  }
};

}  // namespace

at::Tensor relu_max_pool(const at::Tensor& x) {
  const KernelTable* table = active();
  if (!table || !serves(x)) return at::max_pool2d(at::relu(x), 2);
  if (at::GradMode::is_enabled() && x.requires_grad()) {
    return ReluMaxPool::apply(x, reinterpret_cast<std::int64_t>(table));
  }
  const PoolShape s = shape_of(x);
  at::Tensor y = empty_plain(s.images, s.channels, s.out_height(), s.out_width());
  table->relu_max_pool(s, x.const_data_ptr<float>(), y.data_ptr<float>(), nullptr);
  return y;
}

}  // namespace fedvg::kernels
