#include "kernels/batch_norm.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <vector>

#include "kernels/instruction_set.h"
#include "kernels/layout.h"

namespace fedvg::kernels {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr std::int64_t kChannels = 16;  // of the loops, a multiple of

BatchNormShape shape_of(const at::Tensor& x, std::int64_t group) {
  const std::int64_t pixels = x.size(2) * x.size(3), images = x.size(0);
  return {.rows = images * pixels,
          .channels = x.size(1),
          .group = (group == 0 ? images : std::min(group, images)) * pixels};
}

/// Dense float32 [channels] on a CPU?
bool is_dense(const at::Tensor& tensor, std::int64_t channels) {
  return tensor.defined() && tensor.dim() == 1 && tensor.size(0) == channels && tensor.is_cpu() &&
         tensor.scalar_type() == at::kFloat && tensor.is_contiguous();
}

/// What the operator is called with.
struct Call {
  at::Tensor *running_mean, *running_var;
  BatchNormSettings settings;
  const KernelTable* table;
};

bool serves(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
            const std::optional<at::Tensor>& residual, const Call& call) {
  if (!call.table || !x.defined() || !is_plain(x) || x.numel() == 0) return false;
  const std::int64_t channels = x.size(1);
  if (channels % kChannels != 0 || call.settings.eps <= 0) return false;
  if (residual && (!is_plain(*residual) || residual->sizes() != x.sizes())) return false;
  for (const at::Tensor* running : {call.running_mean, call.running_var}) {
    if (running && !is_dense(*running, channels)) return false;
  }
  const BatchNormShape s = shape_of(x, call.settings.group);
  return is_dense(weight, channels) && is_dense(bias, channels) && s.group > 1 &&
         s.rows_of(s.groups() - 1) > 1;
}

/// mean and inverse_deviation [groups, channels] are filled in.
at::Tensor forward_loops(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                         const std::optional<at::Tensor>& residual, const Call& call,
                         at::Tensor& mean, at::Tensor& inverse_deviation) {
  const BatchNormShape s = shape_of(x, call.settings.group);
  mean = at::empty({s.groups(), s.channels}, at::kFloat);
  inverse_deviation = at::empty({s.groups(), s.channels}, at::kFloat);
  at::Tensor y = empty_plain(x.size(0), s.channels, x.size(2), x.size(3));
  const auto running = [](at::Tensor* t) { return t ? t->mutable_data_ptr<float>() : nullptr; };
  call.table->batch_norm(s, {.x = x.const_data_ptr<float>(),
                             .weight = weight.const_data_ptr<float>(),
                             .bias = bias.const_data_ptr<float>(),
                             .residual = residual ? residual->const_data_ptr<float>() : nullptr,
                             .y = y.mutable_data_ptr<float>(),
                             .mean = mean.mutable_data_ptr<float>(),
                             .inverse_deviation = inverse_deviation.mutable_data_ptr<float>(),
                             .running_mean = running(call.running_mean),
                             .running_var = running(call.running_var),
                             .momentum = call.settings.momentum,
                             .eps = call.settings.eps,
                             .relu = call.settings.relu});
  return y;
}

class BatchNormFunction : public torch::autograd::Function<BatchNormFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& weight,
                          const Variable& bias, const std::optional<at::Tensor>& residual,
                          const Call& call) {
    at::Tensor mean, inverse_deviation;
    at::Tensor y = forward_loops(x, weight, bias, residual, call, mean, inverse_deviation);
    const bool relu = call.settings.relu;
    variable_list saved{x, weight, mean, inverse_deviation};
    if (relu) saved.push_back(y);
    context->save_for_backward(std::move(saved));
    context->saved_data["group"] = call.settings.group;
    context->saved_data["residual"] = residual.has_value();
    context->saved_data["table"] = reinterpret_cast<std::int64_t>(call.table);
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor& x = saved[0];
    const bool relu = saved.size() > 4;
    const auto& table = *reinterpret_cast<const KernelTable*>(context->saved_data["table"].toInt());
    const BatchNormShape s = shape_of(x, context->saved_data["group"].toInt());
    const at::Tensor g = plain(gradients[0]);
    const bool residual = context->saved_data["residual"].toBool() && context->needs_input_grad(3);
    const auto image = [&] { return empty_plain(x.size(0), s.channels, x.size(2), x.size(3)); };
    variable_list result(5);
    if (context->needs_input_grad(0)) result[0] = image();
    result[1] = at::empty({s.channels}, at::kFloat);
    result[2] = at::empty({s.channels}, at::kFloat);
    if (residual) result[3] = relu ? image() : g;
    const auto or_null = [](const at::Tensor& t) {
      return t.defined() ? t.mutable_data_ptr<float>() : nullptr;
    };
    table.batch_norm_gradient(s, {.x = x.const_data_ptr<float>(),
                                  .y = relu ? saved[4].const_data_ptr<float>() : nullptr,
                                  .g = g.const_data_ptr<float>(),
                                  .weight = saved[1].const_data_ptr<float>(),
                                  .mean = saved[2].const_data_ptr<float>(),
                                  .inverse_deviation = saved[3].const_data_ptr<float>(),
                                  .gx = or_null(result[0]),
                                  .gradient_of_residual = relu ? or_null(result[3]) : nullptr,
                                  .gw = result[1].mutable_data_ptr<float>(),
                                  .gb = result[2].mutable_data_ptr<float>()});
    return result;
  }
};

std::optional<at::Tensor> optional(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

at::Tensor by_aten(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                   const Call& call) {
  const auto running = [](at::Tensor* t) { return t ? optional(*t) : std::nullopt; };
  return at::batch_norm(x, optional(weight), optional(bias), running(call.running_mean),
                        running(call.running_var), /*training=*/true, call.settings.momentum,
                        call.settings.eps, /*cudnn_enabled=*/true);
}

/// In place where it may be: neither batch_norm nor cat keeps its output for the backward.
at::Tensor fallback(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                    const std::optional<at::Tensor>& residual, const Call& call) {
  const std::int64_t group = call.settings.group;
  at::Tensor y;
  if (group == 0 || group >= x.size(0)) {
    y = by_aten(x, weight, bias, call);
  } else {
    std::vector<at::Tensor> groups = x.split(group);
    for (auto& part : groups) part = by_aten(part, weight, bias, call);
    y = at::cat(groups);
  }
  if (residual) {
    const bool fits = residual->sizes() == y.sizes() && residual->scalar_type() == y.scalar_type();
    y = fits ? y.add_(*residual) : at::add(y, *residual);
  }
  return call.settings.relu ? y.relu_() : y;
}

}  // namespace

at::Tensor batch_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      at::Tensor* running_mean, at::Tensor* running_var,
                      const std::optional<at::Tensor>& residual,
                      const BatchNormSettings& settings) {
  TORCH_CHECK_VALUE(settings.group >= 0, "batch_norm: a group of ", settings.group,
                    " images; expected at least 1, or 0 for the whole batch");
  TORCH_CHECK_VALUE(!running_mean == !running_var,
                    "batch_norm: one of running_mean and running_var is missing");
  const Call call{running_mean, running_var, settings, active()};
  if (!serves(x, weight, bias, residual, call)) return fallback(x, weight, bias, residual, call);
  const auto learns = [](const at::Tensor& t) { return t.requires_grad(); };
  if (at::GradMode::is_enabled() &&
      (learns(x) || learns(weight) || learns(bias) || (residual && learns(*residual)))) {
    return BatchNormFunction::apply(x, weight, bias, residual, call);
  }
  at::Tensor mean, inverse_deviation;
  return forward_loops(x, weight, bias, residual, call, mean, inverse_deviation);
}

}  // namespace fedvg::kernels
