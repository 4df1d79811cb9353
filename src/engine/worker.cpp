#include "engine/worker.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr std::int64_t kEvaluationBatch = 250;

at::Tensor cross_entropy_sum(const at::Tensor& logits, const at::Tensor& labels) {
  return at::cross_entropy_loss(logits, labels, {}, at::Reduction::Sum);
}

/// Losses of the first and the last pass over the data, as means over samples.
class LossTrack {
 public:
  void add(double mean, std::size_t samples) {
    sum_ += mean * static_cast<double>(samples);
    samples_ += static_cast<double>(samples);
  }
  void end_pass(ClientUpdate& update) {
    if (samples_ == 0) return;
    update.loss_last = sum_ / samples_;
    if (std::isnan(update.loss_first) && !had_pass_) update.loss_first = update.loss_last;
    had_pass_ = true;
    sum_ = samples_ = 0;
  }

 private:
  double sum_ = 0, samples_ = 0;
  bool had_pass_ = false;
};

}  // namespace

Layout layout_of(const Model& model, bool channels_last) {
  std::vector<Slot> slots;
  for (const auto& parameter : model.parameters()) {
    Slot slot{.name = parameter.name, .block = parameter.block};
    slot.shape = parameter.tensor.sizes().vec();
    slot.strides.assign(slot.shape.size(), 1);
    std::vector<std::size_t> order;  // innermost first
    if (channels_last && slot.shape.size() == 4) {
      order = {1, 3, 2, 0};
    } else {
      for (std::size_t i = slot.shape.size(); i > 0; --i) order.push_back(i - 1);
    }
    std::int64_t stride = 1;
    for (const std::size_t axis : order) {
      slot.strides[axis] = stride;
      stride *= slot.shape[axis];
    }
    slots.push_back(std::move(slot));
  }
  return Layout(std::move(slots));
}

std::vector<std::int64_t> buffer_blocks_of(const Model& model, const Layout& layout) {
  std::vector<std::int64_t> result;
  const auto& blocks = layout.blocks();
  for (const auto& buffer : model.buffers()) {
    const auto found = std::find(blocks.begin(), blocks.end(), buffer.block);
    result.push_back(found == blocks.end() ? -1 : found - blocks.begin());
  }
  return result;
}

Worker::Worker(std::unique_ptr<Model> model, const Layout& layout, at::ScalarType dtype,
               at::Device device, std::unique_ptr<LocalOptimizer> optimizer,
               const Validation& validation)
    : model_(std::move(model)),
      layout_(layout),
      validation_(validation),
      optimizer_(std::move(optimizer)),
      buffer_blocks_(buffer_blocks_of(*model_, layout)) {
  const auto options = at::TensorOptions().dtype(dtype).device(device);
  parameters_ = at::zeros({layout.size()}, options);
  gradient_ = at::zeros({layout.size()}, options);
  for (std::size_t i = 0; i < layout.tensors(); ++i) {
    at::Tensor& parameter = model_->parameters()[i].tensor;
    parameter.set_data(layout.view(parameters_, i));
    parameter.mutable_grad() = layout.view(gradient_, i);
  }
  for (auto& buffer : model_->buffers()) {
    const bool counter = !buffer.tensor.is_floating_point();
    buffer.tensor.set_data(buffer.tensor.to(device, counter ? at::kLong : dtype));
  }
}

void Worker::model_changed() {
  gradient_is_validation_ = false;
  accuracy_.reset();
}

void Worker::load(const at::Tensor& w, const Tensors& buffers) {
  parameters_.copy_(w);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    model_->buffers()[i].tensor.copy_(buffers[i]);
  }
  model_changed();
}

ClientUpdate Worker::train(std::int64_t round, std::int64_t client, const LocalData& data,
                           const LocalRules& rules, const at::Tensor& global,
                           const Correction& correction, const std::atomic<bool>& stop) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  ClientUpdate update{.client = client,
                      .samples = static_cast<std::int64_t>(data.samples.size()),
                      .loss_first = kNone,
                      .loss_last = kNone};
  Random order(rules.seed, "batches", round, client);
  Random drawn(rules.seed, "correction", round, client);
  LocalContext context{.round = round,
                       .client = client,
                       .learning_rate = optimizer_->learning_rate(),
                       .parameters = parameters_,
                       .gradient = gradient_,
                       .global = global,
                       .layout = &layout_,
                       .model = model_.get(),
                       .random = &drawn};
  optimizer_->reset();
  correction.begin(context);
  model_changed();

  BatchPlan plan = cut(data.samples, rules.batch_size);
  if (!data.fixed_ends.empty()) plan.ends = data.fixed_ends;
  const std::int64_t most =
      rules.steps > 0 ? rules.steps : std::numeric_limits<std::int64_t>::max();
  const auto usable = [&](std::size_t b) { return !model_->has_batch_norm() || plan.batch(b).size() > 1; };
  bool any = false;
  for (std::size_t b = 0; b < plan.batches(); ++b) any = any || usable(b);

  LossTrack losses;
  const std::int64_t passes = rules.steps > 0 ? most : rules.epochs;
  for (std::int64_t pass = 0; any && pass < passes && context.steps < most; ++pass) {
    if (rules.shuffle) order.shuffle(std::span(plan.ids));
    for (std::size_t b = 0; b < plan.batches() && context.steps < most; ++b) {
      if (stop.load(std::memory_order_relaxed)) throw Interrupted("stopped in training");
      if (!usable(b)) continue;
      const Batch batch = data.store->assemble(plan.batch(b), batch_buffer_);
      const Output output = model_->forward(batch.images, Mode::train);
      const at::Tensor task = at::cross_entropy_loss(output.logits, batch.labels);
      gradient_.zero_();
      correction.loss(context, batch, output, task).backward();
      const double loss = task.item<double>();
      losses.add(loss, plan.batch(b).size());
      if (!std::isfinite(loss)) {
        losses.end_pass(update);
        update.loss_last = loss;
        update.steps = ++context.steps;
        return update;
      }
      correction.grad(context);
      optimizer_->step(parameters_, gradient_, context.learning_rate);
      ++context.steps;
    }
    losses.end_pass(update);
  }
  update.steps = context.steps;
  update.delta = parameters_.sub(global);
  for (const auto& buffer : model_->buffers()) update.buffers.push_back(buffer.tensor.clone());
  correction.end(context, update);
  model_changed();
  return update;
}

const at::Tensor& Worker::gradient() {
  if (gradient_is_validation_) return gradient_;
  if (!has_validation()) throw RunError("a validation gradient was asked for without D_val");
  gradient_.zero_();
  const auto total = static_cast<double>(validation_.plan.ids.size());
  for (std::size_t b = 0; b < validation_.plan.batches(); ++b) {
    const Batch batch =
        validation_.store->assemble(validation_.plan.batch(b), batch_buffer_);
    const Output output = model_->forward(batch.images, validation_.mode);
    cross_entropy_sum(output.logits, batch.labels).div(total).backward();
  }
  gradient_is_validation_ = true;
  return gradient_;
}

double Worker::accuracy() {
  if (!has_validation()) throw RunError("a validation accuracy was asked for without D_val");
  if (!accuracy_) {
    const Tally tally = evaluate(*validation_.store, validation_.plan.ids);
    accuracy_ = static_cast<double>(tally.right) / static_cast<double>(tally.samples);
  }
  return *accuracy_;
}

Worker::Tally Worker::evaluate(const SampleStore& store, std::span<const std::int64_t> ids) {
  const at::NoGradGuard no_grad;
  Tally tally;
  const auto step = static_cast<std::size_t>(kEvaluationBatch);
  for (std::size_t begin = 0; begin < ids.size(); begin += step) {
    const auto part = ids.subspan(begin, std::min(step, ids.size() - begin));
    const Batch batch = store.assemble(part, batch_buffer_);
    const at::Tensor logits = model_->forward(batch.images, Mode::eval).logits;
    tally.loss_sum += cross_entropy_sum(logits, batch.labels).item<double>();
    tally.right += at::argmax(logits, 1).eq(batch.labels).sum().item<std::int64_t>();
    tally.samples += static_cast<std::int64_t>(part.size());
  }
  return tally;
}

}  // namespace fedvg
