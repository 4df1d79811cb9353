#include "kernels/linear.h"

#include <ATen/Context.h>
#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdlib>
#include <string_view>

#include "kernels/instruction_set.h"

namespace fedvg::kernels {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr std::int64_t kMultiplyAdds = 4'000'000;  // fewer: calling oneDNN costs more than it saves

/// The operator that torch.compile uses: it takes dense tensors, unlike at::mkldnn_linear.
using LinearPointwise = at::Tensor(const at::Tensor&, const at::Tensor&,
                                   const std::optional<at::Tensor>&, std::string_view,
                                   c10::List<std::optional<at::Scalar>>,
                                   std::optional<std::string_view>);

std::optional<c10::TypedOperatorHandle<LinearPointwise>> find_operator() {
  const auto found = c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
  if (!found || !found->hasKernelForDispatchKey(c10::DispatchKey::CPU)) return std::nullopt;
  try {
    return found->typed<LinearPointwise>();
  } catch (const c10::Error&) {  // another signature in another version
    return std::nullopt;
  }
}

/// oneDNN reads these once, when it is loaded.
bool environment_is_exact() {
  for (const char* name : {"ONEDNN_DEFAULT_FPMATH_MODE", "DNNL_DEFAULT_FPMATH_MODE"}) {
    const char* mode = std::getenv(name);
    if (mode && std::string_view(mode) != "STRICT") return false;
  }
  return true;
}

const bool kExactEnvironment = environment_is_exact();

bool is_exact() {
  const auto precision =
      at::globalContext().float32Precision(at::Float32Backend::MKLDNN, at::Float32Op::MATMUL);
  return kExactEnvironment &&
         (precision == at::Float32Precision::NONE || precision == at::Float32Precision::IEEE);
}

/// x weight^T + bias, any strides.
at::Tensor product(const at::Tensor& x, const at::Tensor& weight,
                   const std::optional<at::Tensor>& bias) {
  static const auto by_onednn = find_operator();
  if (!by_onednn || !is_exact()) return at::linear(x, weight, bias);
  return by_onednn->call(x, weight, bias, "none", c10::List<std::optional<at::Scalar>>(), "");
}

bool is_dense(const at::Tensor& t, std::int64_t dimensions) {
  return t.dim() == dimensions && t.scalar_type() == at::kFloat && t.is_cpu() &&
         t.layout() == at::kStrided && t.is_contiguous() && t.numel() > 0;
}

bool serves(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  return is_dense(x, 2) && is_dense(weight, 2) && x.size(1) == weight.size(1) &&
         (!bias || (is_dense(*bias, 1) && bias->size(0) == weight.size(0)));
}

class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& weight,
                          const std::optional<at::Tensor>& bias) {
    context->save_for_backward({x, weight});
    context->saved_data["bias"] = bias.has_value();
    return product(x, weight, bias);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const at::Tensor g = gradients[0].contiguous();
    variable_list result(3);
    if (context->needs_input_grad(0)) result[0] = product(g, weight.t(), {});
    if (context->needs_input_grad(1)) result[1] = product(g.t().contiguous(), x.t(), {});
    const bool bias = context->saved_data["bias"].toBool();
    if (bias && context->needs_input_grad(2)) result[2] = g.sum(0);
    return result;
  }
};

bool is_faster(const at::Tensor& x, const at::Tensor& weight) {
#if defined(__x86_64__)
  static const bool intel = __builtin_cpu_is("intel") != 0;
  return !intel && x.numel() * weight.size(0) >= kMultiplyAdds;
#else
  (void)x, (void)weight;
  return false;
#endif
}

}  // namespace

at::Tensor linear_by_onednn(const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias) {
  if (!serves(x, weight, bias)) return at::linear(x, weight, bias);
  const bool learns =
      x.requires_grad() || weight.requires_grad() || (bias && bias->requires_grad());
  if (at::GradMode::is_enabled() && learns) return LinearFunction::apply(x, weight, bias);
  return product(x, weight, bias);
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias) {
  const bool onednn = active() && weight.dim() == 2 && is_faster(x, weight);
  return onednn ? linear_by_onednn(x, weight, bias) : at::linear(x, weight, bias);
}

}  // namespace fedvg::kernels
