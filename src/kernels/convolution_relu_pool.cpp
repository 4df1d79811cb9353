#include "kernels/convolution_relu_pool.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/convolution.h"
#include "kernels/instruction_set.h"
#include "kernels/layout.h"
#include "kernels/relu_max_pool.h"

namespace fedvg::kernels {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr std::int64_t kChannels = 16;      // of the output, a multiple of
constexpr std::int64_t kInputChannels = 8;  // more fill registers in the ordinary convolution

ConvolutionShape shape_of(const at::Tensor& x, at::IntArrayRef weight) {
  return {.images = x.size(0),
          .height = x.size(2),
          .width = x.size(3),
          .in = x.size(1),
          .out = weight[0],
          .kernel_h = weight[2],
          .kernel_w = weight[3]};
}

bool serves(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  if (!is_plain(x) || !is_plain(weight) || x.numel() == 0 || weight.numel() == 0) return false;
  if (at::GradMode::is_enabled() && x.requires_grad()) return false;
  const ConvolutionShape s = shape_of(x, weight.sizes());
  if (s.in > kInputChannels || s.in != weight.size(1) || s.out % kChannels != 0) return false;
  if (bias && (bias->dim() != 1 || bias->size(0) != s.out || !bias->is_contiguous() ||
               bias->scalar_type() != at::kFloat || !bias->is_cpu())) {
    return false;
  }
  return s.out_height() >= 2 && s.out_width() >= 2;
}

/// index: null, or as large as the output.
at::Tensor forward_loops(const KernelTable& table, const ConvolutionShape& s, const at::Tensor& x,
                         const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                         std::uint8_t* index) {
  at::Tensor y = empty_plain(s.images, s.out, s.out_height() / 2, s.out_width() / 2);
  table.convolution_relu_pool(s, x.const_data_ptr<float>(), weight.const_data_ptr<float>(),
                              bias ? bias->const_data_ptr<float>() : nullptr, y.data_ptr<float>(),
                              index, scratch(convolution_scratch(s)));
  return y;
}

class ConvolutionReluPool : public torch::autograd::Function<ConvolutionReluPool> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& weight,
                          const std::optional<at::Tensor>& bias, std::int64_t table_address) {
    const auto& table = *reinterpret_cast<const KernelTable*>(table_address);
    const ConvolutionShape s = shape_of(x, weight.sizes());
    at::Tensor index =
        at::empty({s.images, s.out_height() / 2, s.out_width() / 2, s.out}, at::kByte);
    at::Tensor y = forward_loops(table, s, x, weight, bias, index.data_ptr<std::uint8_t>());
    context->save_for_backward({x, index});
    context->saved_data["weight"] = weight.sizes();
    context->saved_data["bias"] = bias.has_value();
    context->saved_data["table"] = table_address;
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &index = saved[1], g = plain(gradients[0]);
    const auto& table = *reinterpret_cast<const KernelTable*>(context->saved_data["table"].toInt());
    const ConvolutionShape s = shape_of(x, context->saved_data["weight"].toIntVector());
    variable_list result(4);
    if (context->needs_input_grad(1)) result[1] = empty_plain(s.out, s.in, s.kernel_h, s.kernel_w);
    const bool bias = context->saved_data["bias"].toBool();
    if (bias && context->needs_input_grad(2)) result[2] = at::empty({s.out}, at::kFloat);
    const auto or_null = [](const at::Tensor& t) {
      return t.defined() ? t.mutable_data_ptr<float>() : nullptr;
    };
    table.convolution_relu_pool_gradient(s, x.const_data_ptr<float>(), g.const_data_ptr<float>(),
                                         index.const_data_ptr<std::uint8_t>(), or_null(result[1]),
                                         or_null(result[2]), scratch(convolution_scratch(s)));
    return result;
  }
};

}  // namespace

at::Tensor convolution_relu_pool(const at::Tensor& x, const at::Tensor& weight,
                                 const std::optional<at::Tensor>& bias) {
  const KernelTable* table = active();
  if (!table || !serves(x, weight, bias)) {
    return relu_max_pool(convolution(x, weight, bias, /*stride=*/1, /*padding=*/0));
  }
  if (at::GradMode::is_enabled() && (weight.requires_grad() || (bias && bias->requires_grad()))) {
    return ConvolutionReluPool::apply(x, weight, bias, reinterpret_cast<std::int64_t>(table));
  }
  return forward_loops(*table, shape_of(x, weight.sizes()), x, weight, bias, nullptr);
}

}  // namespace fedvg::kernels
