#include "engine/worker.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/autocast.h"
#include "engine/step_in_backward.h"
#include "engine/validation_budget.h"
#include "fedvg/clip.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr std::int64_t kEvaluationBatch = 250;
// Scoring batches of a network with BatchNorm that go through it together, each with statistics
// of its own: their gradients are added once. Images, and numbers of one image; larger images
// would only take memory.
constexpr std::size_t kJoined = 256;
constexpr std::int64_t kLargestJoined = 3 * 64 * 64;

at::Tensor cross_entropy_sum(const at::Tensor& logits, const at::Tensor& labels) {
  return at::cross_entropy_loss(logits, labels, {}, at::Reduction::Sum);
}

/// [B]; kNoClass where a probability is not a number.
at::Tensor predicted_classes(const at::Tensor& logits, const at::Tensor& probabilities) {
  return at::argmax(logits, 1).masked_fill(at::isnan(probabilities).any(1), kNoClass);
}

void append(const at::Tensor& probabilities, const at::Tensor& predicted, const at::Tensor& labels,
            Predictions& predictions) {
  const auto add = [](const at::Tensor& from, auto& to) {
    const at::Tensor plain = from.to(at::kCPU).contiguous();
    using Number = typename std::decay_t<decltype(to)>::value_type;
    const auto* numbers = plain.template data_ptr<Number>();
    to.insert(to.end(), numbers, numbers + plain.numel());
  };
  predictions.classes = probabilities.size(1);
  add(probabilities.to(at::kFloat), predictions.probabilities);
  add(predicted, predictions.predicted);
  add(labels, predictions.labels);
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

Layout layout_of(const Model& model, bool channels_last, std::span<const LiveTaps> cropped,
                 std::int64_t tail) {
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
  for (const LiveTaps& taps : cropped) slots.at(taps.parameter).tail = tail;
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

void Resident::load(const at::Tensor& w, const Tensors& buffers) {
  parameters.copy_(w);
  for (std::size_t i = 0; i < buffers.size(); ++i) model->buffers()[i].tensor.copy_(buffers[i]);
}

Resident make_resident(std::unique_ptr<Model> model, const Layout& layout,
                       const at::TensorOptions& options) {
  Resident resident{std::move(model), at::zeros({layout.size()}, options)};
  for (std::size_t i = 0; i < layout.tensors(); ++i) {
    resident.model->parameters()[i].tensor.set_data(layout.view(resident.parameters, i));
  }
  for (auto& buffer : resident.model->buffers()) {
    const bool counter = !buffer.tensor.is_floating_point();
    buffer.tensor.set_data(
        buffer.tensor.to(options.device(), counter ? at::kLong : options.dtype().toScalarType()));
  }
  return resident;
}

Worker::Worker(std::function<std::unique_ptr<Model>()> build_model, const Layout& layout,
               const ImageFormat& format, std::unique_ptr<LocalOptimizer> optimizer,
               const Validation& validation)
    : build_model_(std::move(build_model)),
      options_(at::TensorOptions().dtype(format.dtype).device(format.device)),
      bf16_(format.bf16),
      layout_(layout),
      validation_(validation),
      optimizer_(std::move(optimizer)),
      own_(new_resident()) {
  buffer_blocks_ = buffer_blocks_of(*own_.model, layout);
  gradient_ = at::zeros({layout.size()}, options_);
  for (std::size_t i = 0; i < layout.tensors(); ++i) {
    own_.model->parameters()[i].tensor.mutable_grad() = layout.view(gradient_, i);
  }
  for (const auto& buffer : own_.model->buffers()) fresh_buffers_.push_back(buffer.tensor.clone());
}

Output Worker::pass(Resident& network, const at::Tensor& images, Mode mode) const {
  if (!bf16_) return network.model->forward(images, mode);
  Output output;
  {
    const Autocast cast(true, options_.device().type());
    output = network.model->forward(images, mode);
  }
  output.logits = output.logits.to(options_.dtype().toScalarType());
  if (output.features.defined()) {
    output.features = output.features.to(options_.dtype().toScalarType());
  }
  return output;
}

void Worker::model_changed() {
  gradient_is_validation_ = false;
  accuracy_.reset();
}

void Worker::load(const at::Tensor& w, const Tensors& buffers) {
  own_.load(w, buffers);
  stop_ = nullptr;
  model_changed();
}

Tensors Worker::buffers_at_start(const RoundStart& start, BufferRule rule,
                                 const ClientState& state) const {
  if (rule == BufferRule::reset) return fresh_buffers_;
  if (rule == BufferRule::local && !state.buffers.empty()) return state.buffers;
  return start.buffers;
}

bool Worker::run_passes(const LocalData& data, const LocalRules& rules,
                        const Correction& correction, BatchPlan plan, LocalContext& context,
                        ClientUpdate& update) {
  const auto usable = [&](std::size_t b) {
    return !own_.model->has_batch_norm() || plan.batch(b).size() > 1;
  };
  bool any = false;
  for (std::size_t b = 0; b < plan.batches(); ++b) any = any || usable(b);
  constexpr auto kNoLimit = std::numeric_limits<std::int64_t>::max();
  const std::int64_t most = rules.steps > 0 ? rules.steps : kNoLimit;
  const std::int64_t passes = rules.steps > 0 ? kNoLimit : rules.epochs;
  std::optional<StepInBackward> stepping;
  if (rules.clip == 0 && optimizer_->is_elementwise() && !correction.corrects_gradients()) {
    stepping.emplace(own_.model->parameters(), layout_.tails(own_.parameters), *optimizer_,
                     context.learning_rate);
  }
  Random order(rules.seed, "batches", context.round, context.client);
  Random sight(rules.seed, "augment", context.round, context.client);
  LossTrack losses;
  for (std::int64_t pass = 0; any && pass < passes && context.steps < most; ++pass) {
    if (rules.shuffle) order.shuffle(std::span(plan.ids));
    for (std::size_t b = 0; b < plan.batches() && context.steps < most; ++b) {
      if (stop_->load(std::memory_order_relaxed)) throw Interrupted("stopped in training");
      if (!usable(b)) continue;
      const auto ids = plan.batch(b);
      const Batch batch =
          rules.augmentation.any()
              ? data.store->assemble_seen(ids, draw_views(ids.size(), rules.augmentation, sight),
                                          batch_buffer_)
              : data.store->assemble(ids, batch_buffer_);
      const Output output = this->pass(own_, batch.images, Mode::train);
      const at::Tensor task = at::cross_entropy_loss(output.logits, batch.labels, class_weights_);
      const double loss = task.item<double>();
      losses.add(loss, ids.size());
      ++context.steps;
      if (!std::isfinite(loss)) {
        losses.end_pass(update);
        update.loss_last = loss;
        return false;
      }
      if (!stepping) gradient_.zero_();
      correction.loss(context, batch, output, task).backward();
      if (stepping) {
        stepping->finish();
        continue;
      }
      correction.grad(context);
      clip_to_norm(gradient_, rules.clip);
      optimizer_->step(own_.parameters, gradient_, context.learning_rate);
    }
    losses.end_pass(update);
  }
  return true;
}

ClientUpdate Worker::train(const RoundStart& start, std::int64_t client, const LocalData& data,
                           const LocalRules& rules, const Correction& correction,
                           const ClientState& state, ClientState& next,
                           const std::atomic<bool>& stop) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  ClientUpdate update{.client = client, .loss_first = kNone, .loss_last = kNone};
  load(start.global, buffers_at_start(start, rules.buffers, state));
  training_ = data.store;
  class_weights_ = rules.class_weights;
  stop_ = &stop;
  optimizer_->reset();
  if (rules.keep_optimizer) optimizer_->restore(state.optimizer);

  Random drawn(rules.seed, "correction", start.round, client);
  if (own_.model->draws_from_torch()) {
    at::manual_seed(Random(rules.seed, "dropout", start.round, client).bits());
  }
  std::vector<std::int64_t> samples = data.samples;
  LocalContext context{.round = start.round,
                       .client = client,
                       .learning_rate = start.learning_rate,
                       .parameters = own_.parameters,
                       .gradient = gradient_,
                       .global = start.global,
                       .global_buffers = &start.buffers,
                       .layout = &layout_,
                       .optimizer = optimizer_.get(),
                       .random = &drawn,
                       .inbox = &start.inbox,
                       .state = &state.correction,
                       .samples = &samples,
                       .fixed_probe = data.fixed_probe,
                       .batch_size = rules.batch_size,
                       .tools = this};
  correction.begin(context);
  update.samples = static_cast<std::int64_t>(samples.size());

  BatchPlan plan = cut(std::move(samples), rules.batch_size);
  context.samples = nullptr;
  if (!data.fixed_ends.empty()) plan.ends = data.fixed_ends;
  const bool finite = run_passes(data, rules, correction, std::move(plan), context, update);
  update.steps = context.steps;
  if (!finite) return update;
  update.path = optimizer_->path_length(update.steps).value_or(static_cast<double>(update.steps));
  update.delta = own_.parameters.sub(start.global);
  for (const auto& buffer : own_.model->buffers()) update.buffers.push_back(buffer.tensor.clone());
  if (update.steps > 0) correction.end(context, update);
  next.correction = context.next_state.empty() ? state.correction : std::move(context.next_state);
  if (rules.keep_optimizer) next.optimizer = optimizer_->state();
  if (rules.buffers == BufferRule::local) next.buffers = update.buffers;
  model_changed();
  return update;
}

void Worker::exaggerate(ClientUpdate& update, const at::Tensor& w, double factor) {
  update.delta.mul_(factor);
  own_.parameters.copy_(w.add(update.delta));
  model_changed();
}

Tensors Worker::buffers_from_validation(const at::Tensor& w) {
  const at::NoGradGuard no_grad;
  load(w, fresh_buffers_);
  for (std::size_t b = 0; b < validation_.plan.batches(); ++b) {
    const Batch batch = validation_.store->assemble(validation_.plan.batch(b), batch_buffer_);
    own_.model->forward(batch.images, Mode::cumulative);
  }
  Tensors buffers;
  for (const auto& buffer : own_.model->buffers()) buffers.push_back(buffer.tensor.clone());
  return buffers;
}

void Worker::gradient_of(std::span<const std::int64_t> samples, Mode mode, bool add) {
  if (!add) gradient_.zero_();
  const Batch batch = training_->assemble(samples, batch_buffer_);
  const Output output = pass(own_, batch.images, mode);
  at::cross_entropy_loss(output.logits, batch.labels, class_weights_).backward();
  gradient_is_validation_ = false;
}

void Worker::load_replica(std::size_t slot, const at::Tensor& w, const Tensors& buffers) {
  while (replicas_.size() <= slot) replicas_.push_back(new_resident());
  replicas_[slot].load(w, buffers);
}

at::Tensor Worker::replica_features(std::size_t slot, const at::Tensor& images) {
  const at::NoGradGuard no_grad;
  return pass(replicas_.at(slot), images, Mode::eval).features;
}

const at::Tensor& Worker::gradient() {
  if (gradient_is_validation_) return gradient_;
  if (!has_validation()) throw RunError("a validation gradient was asked for without D_val");
  if (!validation_.scored.empty()) return gradient_by_groups({});
  gradient_.zero_();
  const auto total = static_cast<double>(validation_.plan.ids.size());
  std::vector<std::size_t> batches(validation_.plan.batches());
  std::iota(batches.begin(), batches.end(), std::size_t{0});
  add_validation_gradient(batches, total);
  gradient_is_validation_ = true;
  return gradient_;
}

std::size_t Worker::batches_at_once(std::span<const std::size_t> batches) {
  const BatchPlan& plan = validation_.plan;
  if (!own_.model->groups_statistics() || validation_.mode != Mode::batch_statistics ||
      options_.dtype() != at::kFloat || bf16_) {
    return 1;
  }
  if (image_numbers_ == 0) {
    image_numbers_ =
        validation_.store->assemble(plan.batch(0).first(1), batch_buffer_).images.numel();
  }
  if (image_numbers_ > kLargestJoined) return 1;
  const std::size_t size = plan.batch(batches[0]).size();
  std::size_t number = 1;
  while (number < batches.size() && (number + 1) * size <= kJoined &&
         plan.batch(batches[number]).size() == size) {
    ++number;
  }
  return number;
}

void Worker::add_validation_gradient(std::span<const std::size_t> batches, double total) {
  while (!batches.empty()) {
    if (stop_ && *stop_) throw Interrupted("stopped in scoring");
    const std::size_t number = batches_at_once(batches);
    auto ids = validation_.plan.batch(batches[0]);
    const auto size = static_cast<std::int64_t>(ids.size());
    if (number > 1) {
      joined_.clear();
      for (const std::size_t b : batches.first(number)) {
        const auto part = validation_.plan.batch(b);
        joined_.insert(joined_.end(), part.begin(), part.end());
      }
      ids = joined_;
    }
    own_.model->set_statistics_group(number > 1 ? size : 0);
    const Batch batch = validation_.store->assemble(ids, batch_buffer_);
    const Output output = pass(own_, batch.images, validation_.mode);
    cross_entropy_sum(output.logits, batch.labels).div(total).backward();
    batches = batches.subspan(number);
  }
  own_.model->set_statistics_group(0);
}

const at::Tensor& Worker::gradient_by_groups(const GroupVisitor& see) {
  if (validation_.scored.empty()) return gradient();
  const auto images_in = [&](std::span<const std::size_t> batches) {
    std::size_t images = 0;
    for (const std::size_t b : batches) images += validation_.plan.batch(b).size();
    return static_cast<double>(images);
  };
  const std::span<const std::size_t> scored(validation_.scored);
  const double total = images_in(scored);
  if (!group_sum_.defined()) group_sum_ = at::zeros({layout_.size()}, options_);
  group_sum_.zero_();
  std::size_t begin = 0;
  for (const std::size_t end : ends_of_groups(scored.size(), validation_.groups)) {
    const auto group = scored.subspan(begin, end - begin);
    const double images = images_in(group);
    gradient_.zero_();
    add_validation_gradient(group, images);
    group_sum_.add_(gradient_, images / total);
    if (see) see(static_cast<std::int64_t>(images), gradient_);
    begin = end;
  }
  gradient_.copy_(group_sum_);
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

Worker::Tally Worker::evaluate(const SampleStore& store, std::span<const std::int64_t> ids,
                               Predictions* predictions) {
  const at::NoGradGuard no_grad;
  Tally tally;
  const auto step = static_cast<std::size_t>(kEvaluationBatch);
  for (std::size_t begin = 0; begin < ids.size(); begin += step) {
    const auto part = ids.subspan(begin, std::min(step, ids.size() - begin));
    const Batch batch = store.assemble(part, batch_buffer_);
    const at::Tensor logits = own_.model->forward(batch.images, Mode::eval).logits;
    tally.loss_sum += cross_entropy_sum(logits, batch.labels).item<double>();
    const at::Tensor probabilities = at::softmax(logits, 1);
    const at::Tensor predicted = predicted_classes(logits, probabilities);
    tally.right += predicted.eq(batch.labels).sum().item<std::int64_t>();
    if (predictions) append(probabilities, predicted, batch.labels, *predictions);
    tally.samples += static_cast<std::int64_t>(part.size());
  }
  return tally;
}

}  // namespace fedvg
