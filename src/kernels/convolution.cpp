#include "kernels/convolution.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/instruction_set.h"
#include "kernels/layout.h"

namespace fedvg::kernels {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr std::int64_t kChannels = 16;  // of the loops, a multiple of
constexpr std::int64_t kLargest = 12;   // output; libtorch's convolutions win on larger maps

ConvolutionShape shape_of(const at::Tensor& x, const at::Tensor& weight, std::int64_t stride,
                          std::int64_t padding) {
  return {.images = x.size(0),
          .height = x.size(2),
          .width = x.size(3),
          .in = x.size(1),
          .out = weight.size(0),
          .kernel_h = weight.size(2),
          .kernel_w = weight.size(3),
          .stride = stride,
          .padding = padding};
}

bool serves(const KernelTable& table, const at::Tensor& x, const at::Tensor& weight,
            const ConvolutionShape& s) {
  const auto height = s.out_height(), width = s.out_width();
  if (!is_plain(x) || !is_plain(weight) || s.images < 1) return false;
  if (s.in % kChannels != 0 || s.out % kChannels != 0 || height < 1 || width < 1) return false;
  return height <= kLargest && width <= (table.lanes == 16 ? kLargest : 7);
}

class Convolution : public torch::autograd::Function<Convolution> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& weight,
                          const std::optional<at::Tensor>& bias, std::int64_t stride,
                          std::int64_t padding, std::int64_t table_address) {
    const auto& table = *reinterpret_cast<const KernelTable*>(table_address);
    const ConvolutionShape s = shape_of(x, weight, stride, padding);
    at::Tensor y = empty_plain(s.images, s.out, s.out_height(), s.out_width());
    table.convolution(s, x.const_data_ptr<float>(), weight.const_data_ptr<float>(),
                      bias ? bias->const_data_ptr<float>() : nullptr, y.data_ptr<float>(),
                      scratch(convolution_scratch(s)));
    context->save_for_backward({x, weight});
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    context->saved_data["table"] = table_address;
    context->saved_data["bias"] = bias.has_value();
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const auto& table = *reinterpret_cast<const KernelTable*>(context->saved_data["table"].toInt());
    const ConvolutionShape s = shape_of(x, weight, context->saved_data["stride"].toInt(),
                                        context->saved_data["padding"].toInt());
    const at::Tensor g = plain(gradients[0]);
    const auto* from = g.const_data_ptr<float>();
    variable_list result(6);
    if (context->needs_input_grad(0)) {
      result[0] = at::empty_like(x);
      table.convolution_input_gradient(s, from, weight.const_data_ptr<float>(),
                                       result[0].data_ptr<float>(),
                                       scratch(convolution_scratch(s)));
    }
    if (context->needs_input_grad(1)) {
      result[1] = empty_plain(s.out, s.in, s.kernel_h, s.kernel_w);
      table.convolution_weight_gradient(s, x.const_data_ptr<float>(), from,
                                        result[1].data_ptr<float>(),
                                        scratch(convolution_scratch(s)));
    }
    if (context->saved_data["bias"].toBool() && context->needs_input_grad(2)) {
      result[2] = at::empty({s.out}, at::kFloat);
      table.column_sums(from, s.images * s.out_height() * s.out_width(), s.out,
                        result[2].data_ptr<float>());
    }
    return result;
  }
};

}  // namespace

at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias, std::int64_t stride,
                       std::int64_t padding) {
  const KernelTable* table = active();
  if (table && x.dim() == 4 && weight.dim() == 4) {
    if (serves(*table, x, weight, shape_of(x, weight, stride, padding))) {
      return Convolution::apply(x, weight, bias, stride, padding,
                                reinterpret_cast<std::int64_t>(table));
    }
  }
  return at::conv2d(x, weight, bias, stride, padding);
}

}  // namespace fedvg::kernels
