// A network out of a TorchScript file: whatever torch.jit.script or torch.jit.trace made of a
// module whose forward(images) gives logits.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "data/zip_check.h"
#include "fedvg/error.h"
#include "fedvg/model.h"
#include "fedvg/registry.h"
#include "models/finite.h"

namespace fedvg {
namespace {

namespace jit = torch::jit;

struct TorchscriptOptions {
  std::string file;
  std::int64_t channels = 0;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("file", &TorchscriptOptions::file, FilePath{},
          "what torch.jit.save wrote: a module whose forward(images) gives logits");
    visit("channels", &TorchscriptOptions::channels, at_least(0),
          "of the images, gray ones are repeated to 3; 0: those of the data");
  }
};

// Of libtorch's many lines (an interpreter's trace, a stack) the one that says what is wrong.
std::string reason_of(const std::exception& error) {
  const auto* from_torch = dynamic_cast<const c10::Error*>(&error);
  std::istringstream lines(from_torch ? from_torch->what_without_backtrace() : error.what());
  std::string line, first, raised;
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    if (first.empty()) first = line;
    if (line.find("Error: ") < line.find(' ')) raised = line;
  }
  const std::string reason = raised.empty() ? first : raised;
  return reason.substr(0, reason.find(". This is an internal"));  // and advice about checkpoints
}

jit::Module load_module(const std::string& path) {
  // The profiling executor's numbers depend on what a worker ran before.
  [[maybe_unused]] static const bool set = [] { return jit::getExecutorMode() = false; }();
  if (std::filesystem::is_directory(path)) throw DataError(path + ": it is a folder");
  if (!std::ifstream(path)) {
    throw DataError(path + ": cannot be opened: " + std::generic_category().message(errno));
  }
  try {
    return jit::load(path, at::kCPU);
  } catch (const std::exception& error) {
    throw DataError(path + ": not a TorchScript file, which torch.jit.save writes (" +
                    reason_of(error) +
                    "); weights alone, .safetensors, are model.init beside a model.name");
  }
}

enum class Draws {
  never,
  in_training,
  always,  ///< traced in training mode
};

// Whether a graph, in which all calls are inlined, draws random numbers.
Draws draws_of(const jit::Block& block) {
  static const std::set<std::string> kDropout = {"aten::dropout",         "aten::dropout_",
                                                 "aten::feature_dropout", "aten::alpha_dropout",
                                                 "aten::alpha_dropout_",  "aten::feature_dropout_",
                                                 "aten::native_dropout"};
  static const std::set<std::string> kOther = {
      "aten::bernoulli",  "aten::bernoulli_", "aten::rand",     "aten::rand_like",
      "aten::randn",      "aten::randn_like", "aten::randint",  "aten::randperm",
      "aten::normal",     "aten::normal_",    "aten::uniform_", "aten::rrelu",
      "aten::multinomial"};
  Draws draws = Draws::never;
  for (const jit::Node* node : block.nodes()) {
    const std::string kind = node->kind().toQualString();
    Draws found = kOther.contains(kind) ? Draws::in_training : Draws::never;
    if (kDropout.contains(kind)) {
      const auto share = jit::toIValue(node->input(1)), training = jit::toIValue(node->input(2));
      const bool off = (share && share->isDouble() && share->toDouble() == 0) ||
                       (training && training->isBool() && !training->toBool());
      if (!off) found = training && training->isBool() ? Draws::always : Draws::in_training;
    }
    if (kind == "aten::scaled_dot_product_attention") {
      const auto share = jit::toIValue(node->input(4));
      if (!share || !share->isDouble() || share->toDouble() > 0) found = Draws::in_training;
    }
    for (const jit::Block* inner : node->blocks()) found = std::max(found, draws_of(*inner));
    draws = std::max(draws, found);
  }
  return draws;
}

// What tracing made of the switch between training and evaluation: a constant.
struct Fixed {
  bool statistics = false;        ///< BatchNorm takes the running ones in training too
  bool batch_statistics = false;  ///< … those of the batch in evaluation too
  bool dropout = false;           ///< none in training
};

// Of a graph in which all calls are inlined.
void find_fixed(const jit::Block& block, Fixed& fixed) {
  for (const jit::Node* node : block.nodes()) {
    const std::string kind = node->kind().toQualString();
    if (kind == "aten::batch_norm" && node->input(3)->type()->kind() != c10::TypeKind::NoneType) {
      const auto training = jit::toIValue(node->input(5));
      if (training && training->isBool()) {
        (training->toBool() ? fixed.batch_statistics : fixed.statistics) = true;
      }
    }
    if (kind == "aten::dropout" || kind == "aten::feature_dropout") {
      const auto share = jit::toIValue(node->input(1)), training = jit::toIValue(node->input(2));
      const bool none = share && share->isDouble() && share->toDouble() == 0;
      if (!none && training && training->isBool() && !training->toBool()) fixed.dropout = true;
    }
    for (const jit::Block* inner : node->blocks()) find_fixed(*inner, fixed);
  }
}

std::string module_of(const std::string& name) { return name.substr(0, name.rfind('.')); }

std::string type_text(at::ScalarType type) {
  switch (type) {
    case at::kHalf:
      return "float16";
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    default:
      return c10::toString(type);
  }
}

std::string shape_text(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

class TorchscriptModel final : public Model {
 public:
  explicit TorchscriptModel(const TorchscriptOptions& options)
      : path_(options.file), channels_(options.channels), module_(load_module(path_)) {
    if (!module_.find_method("forward")) throw DataError(path_ + ": it has no method forward()");
    add_tensors();
    check_graph("forward");
    start_statistics_anew();
  }

  // Runs the network as a run will: on two numbers of samples, and once for a gradient. Throws
  // DataError; the model is used up, as training may change what a module keeps.
  void probe(const ModelInput& input) {
    try {
      for (const std::int64_t samples : {2, 7}) probe_output(input, samples);
      probe_gradient(input);
    } catch (const DataError& error) {
      if (other_type_.empty()) throw;
      throw DataError(std::string(error.what()) + "; " + other_type_ +
                      " in the file, and a run has float32: save the module as float32, "
                      "module.float(), without a cast in forward()");
    }
  }

  Output forward(const at::Tensor& images, Mode mode) override {
    set_mode(mode);
    Output output;
    if (mode == Mode::cumulative) {
      output.logits = accumulate(images);
    } else if (mode == Mode::batch_statistics) {
      const auto kept = buffer_values();
      output.logits = call("forward", images);
      put_back(kept);
    } else {
      output.logits = call("forward", images);
    }
    if (output.logits.dim() != 2 || output.logits.size(0) != images.size(0)) {
      throw DataError(path_ + ": forward() makes " + shape_text(output.logits) + " of samples " +
                      shape_text(images) + "; wanted one line of logits for each sample");
    }
    if (gives_features_) {
      const auto kept = buffer_values();
      output.features = call("features", images);
      put_back(kept);
    }
    return output;
  }

  std::int64_t input_channels() const override { return channels_; }
  std::string head() const override { return head_; }
  bool draws_from_torch() const override { return draws_ != Draws::never; }

  std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    if (!other_type_.empty()) {
      notes.push_back(path_ + ": " + other_type_ +
                      " in the file: what is not float32 becomes what engine.precision says");
    }
    if (!fixed_.statistics && !fixed_.dropout) return notes;
    const std::string norm = "BatchNorm keeps the running statistics of the file";
    notes.push_back(
        path_ + ": in training too " + (fixed_.statistics ? norm : "") +
        (fixed_.statistics && fixed_.dropout ? " and " : "") +
        (fixed_.dropout ? "dropout is off" : "") +
        ", as tracing after eval() leaves a module; torch.jit.script leaves both as they are");
    return notes;
  }

  bool give_features() override {
    gives_features_ = module_.find_method("features").has_value();
    if (gives_features_) check_graph("features");
    return gives_features_;
  }

  void initialize(Random&) override {
    const auto source = tensors_of(load_module(path_));
    std::size_t next = 0;
    for (auto* list : {&parameters_, &buffers_}) {
      for (auto& entry : *list) {
        if (next == source.size() || source[next].tensor.sizes() != entry.tensor.sizes()) {
          throw DataError(path_ + ": it changed while it was read");
        }
        entry.tensor.variable_data().copy_(source[next++].tensor);
      }
    }
  }

 private:
  // Parameters, then buffers and what is not to be trained; a tensor of two names once.
  static std::vector<NamedTensor> tensors_of(const jit::Module& module) {
    std::vector<NamedTensor> trained, others;
    std::set<const at::TensorImpl*> seen;
    const auto add = [&](const std::string& name, const at::Tensor& tensor) {
      if (!seen.insert(tensor.unsafeGetTensorImpl()).second) return;
      (tensor.requires_grad() ? trained : others)
          .push_back({name, name.substr(0, name.find('.')), tensor});
    };
    for (const auto& entry : module.named_parameters()) add(entry.name, entry.value);
    for (const auto& entry : module.named_buffers()) add(entry.name, entry.value);
    trained.insert(trained.end(), others.begin(), others.end());
    return trained;
  }

  void add_tensors() {
    for (auto& entry : tensors_of(module_)) {
      make_float(entry);
      (entry.tensor.requires_grad() ? parameters_ : buffers_).push_back(std::move(entry));
    }
    if (parameters_.empty()) {
      throw DataError(path_ +
                      ": it has no parameter that can be trained; torch.jit.freeze makes "
                      "constants of them, and requires_grad may be off");
    }
    for (const auto& parameter : parameters_) {
      if (parameter.tensor.dim() == 2) head_ = module_of(parameter.name);
    }
  }

  // As a run has it, whatever the file says.
  void make_float(const NamedTensor& entry) {
    if (!entry.tensor.is_floating_point()) return;
    const at::Tensor in_file = entry.tensor.detach(), value = in_file.to(at::kFloat);
    try {
      check_finite(entry.name, in_file, value);
    } catch (const DataError& error) {
      throw DataError(path_ + ": " + error.what());
    }
    if (in_file.scalar_type() == at::kFloat) return;
    if (other_type_.empty()) other_type_ = entry.name + " is " + type_text(in_file.scalar_type());
    entry.tensor.set_data(value);
  }

  at::Tensor blank(const ModelInput& input, std::int64_t samples) const {
    const std::int64_t channels = channels_ > 0 ? channels_ : input.channels;
    const bool features = input.height == 1 && input.width == 1;
    return features ? at::zeros({samples, channels})
                    : at::zeros({samples, channels, input.height, input.width});
  }

  void probe_output(const ModelInput& input, std::int64_t samples) {
    const at::NoGradGuard no_grad;
    set_mode(Mode::eval);
    const at::Tensor images = blank(input, samples);
    const at::Tensor logits = call("forward", images);
    if (logits.dim() != 2 || logits.size(0) != samples || logits.size(1) != input.classes) {
      throw DataError(path_ + ": forward() makes " + shape_text(logits) + " of samples " +
                      shape_text(images) + "; wanted logits of the data's " +
                      std::to_string(input.classes) + " classes, [" + std::to_string(samples) +
                      ", " + std::to_string(input.classes) + "]");
    }
    if (logits.scalar_type() != images.scalar_type()) {
      throw DataError(path_ + ": forward() makes " + type_text(logits.scalar_type()) + " of " +
                      type_text(images.scalar_type()) + " samples");
    }
  }

  void probe_gradient(const ModelInput& input) {
    const at::AutoGradMode with_gradient(true);
    set_mode(Mode::train);
    const std::int64_t samples = 7;
    const at::Tensor logits = call("forward", blank(input, samples));
    const auto refuse = [&](const std::string& what) {
      throw DataError(path_ + ": " + what +
                      "; forward() may run under torch.no_grad(), detach what it computes, or use "
                      "none of the parameters");
    };
    if (!logits.requires_grad()) refuse("its logits have no gradient");
    try {
      at::cross_entropy_loss(logits, at::zeros({samples}, at::kLong)).backward();
    } catch (const std::exception& error) {
      refuse("the gradient of its loss fails: " + reason_of(error));
    }
    const bool any = std::ranges::any_of(parameters_, [](const NamedTensor& parameter) {
      return parameter.tensor.grad().defined();
    });
    if (!any) refuse("none of its parameters gets a gradient");
  }

  void check_graph(const char* method) {
    const auto graph = module_.get_method(method).graph()->copy();
    jit::Inline(*graph);
    draws_ = std::max(draws_, draws_of(*graph->block()));
    find_fixed(*graph->block(), fixed_);
    if (fixed_.batch_statistics) {
      throw DataError(path_ +
                      ": its BatchNorm takes the statistics of the batch in evaluation too, as "
                      "tracing in training mode leaves it; use torch.jit.script");
    }
    if (draws_ == Draws::always) {
      throw DataError(path_ +
                      ": its dropout is at work in evaluation too, as tracing in training mode "
                      "leaves it; use torch.jit.script, or trace the module after eval()");
    }
  }

  // As a new BatchNorm has them: initialize() puts in those of the file.
  void start_statistics_anew() {
    for (auto& buffer : buffers_) {
      if (is(buffer, ".running_mean") || is(buffer, ".num_batches_tracked")) buffer.tensor.zero_();
      if (is(buffer, ".running_var")) buffer.tensor.fill_(1);
    }
  }

  // With or without a module's name before it.
  static bool is(const NamedTensor& buffer, const std::string& kind) {
    return ("." + buffer.name).ends_with(kind);
  }

  at::Tensor call(const char* method, const at::Tensor& images) {
    std::string what;
    try {
      const auto value = module_.get_method(method)({images});
      if (value.isTensor()) return value.toTensor();
      what = "gives " + value.tagKind() + ", not a tensor";
    } catch (const std::exception& error) {
      what = "fails on samples " + shape_text(images) + ": " + reason_of(error);
    }
    throw DataError(path_ + ": " + method + "() " + what);
  }

  // Training in whole; or, to see statistics of a batch, BatchNorm alone.
  void set_mode(Mode mode) {
    if (mode_ == mode) return;
    mode_ = mode;
    module_.train(mode == Mode::train);
    if (mode == Mode::train || mode == Mode::eval) return;
    for (jit::Module part : module_.modules()) {
      if (part.hasattr("running_mean") && part.hasattr("training")) part.setattr("training", true);
    }
  }

  std::vector<at::Tensor> buffer_values() const {
    std::vector<at::Tensor> values;
    for (const auto& buffer : buffers_) values.push_back(buffer.tensor.detach().clone());
    return values;
  }

  // Not by way of the buffers themselves: autograd, which keeps them for the backward pass
  // without using them, would call them changed.
  void put_back(const std::vector<at::Tensor>& values) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      buffers_[i].tensor.variable_data().copy_(values[i]);
    }
  }

  // Makes running statistics the mean over all batches, whatever the momentum m is:
  // new = old + m (batch - old). A second pass from old + 1 ends m short of new + 1.
  at::Tensor accumulate(const at::Tensor& images) {
    const at::NoGradGuard no_grad;
    const auto old = buffer_values();
    at::Tensor logits = call("forward", images);
    const auto after = buffer_values();
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const bool statistic = is(buffers_[i], ".running_mean") || is(buffers_[i], ".running_var");
      buffers_[i].tensor.variable_data().copy_(statistic ? old[i].add(1) : old[i]);
    }
    call("forward", images);
    auto result = after;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const auto batches = batches_seen(buffers_[i], after);
      if (!batches) continue;
      const double momentum =
          1 - buffers_[i].tensor.sub(after[i]).to(at::kDouble).mean().item<double>();
      if (momentum < 1e-6) continue;  // not a running statistic, or not moving
      result[i] = old[i].add(after[i].sub(old[i]), 1 / (momentum * *batches));
    }
    put_back(result);
    return logits;
  }

  // The counter beside a running mean or variance; absent for another buffer.
  std::optional<double> batches_seen(const NamedTensor& statistic,
                                     const std::vector<at::Tensor>& values) const {
    if (!is(statistic, ".running_mean") && !is(statistic, ".running_var")) return std::nullopt;
    const auto dot = statistic.name.rfind('.');
    const std::string counter =
        statistic.name.substr(0, dot == std::string::npos ? 0 : dot + 1) + "num_batches_tracked";
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (buffers_[i].name == counter) return std::max(1.0, values[i].item<double>());
    }
    return std::nullopt;
  }

  std::string path_;
  std::int64_t channels_;
  jit::Module module_;
  std::string head_;
  std::optional<Mode> mode_;
  std::string other_type_;  ///< "fc.weight is float16": the first that is not float32
  Draws draws_ = Draws::never;
  Fixed fixed_;
  bool gives_features_ = false;
};

class Torchscript final : public ModelBuilder {
 public:
  explicit Torchscript(const TorchscriptOptions& options) : options_(options) {}

  std::unique_ptr<Model> build(const ModelInput& input) const override {
    if (options_.file.empty()) {
      throw OptionError("model.file: is missing; name the TorchScript file of the network");
    }
    check_channels(input);
    check_zip(options_.file);  // libtorch does not
    TorchscriptModel(options_).probe(input);
    return std::make_unique<TorchscriptModel>(options_);
  }

 private:
  // Before so many are asked of the network.
  void check_channels(const ModelInput& input) const {
    constexpr std::int64_t kColours = 3;
    const std::int64_t wanted = options_.channels;
    if (wanted == 0 || wanted == input.channels) return;
    if (input.channels == 1 && wanted == kColours) return;
    throw OptionError("model.channels: " + std::to_string(wanted) + " asked for, the data have " +
                      std::to_string(input.channels) +
                      "; only gray images are repeated, to 3 channels");
  }

  TorchscriptOptions options_;
};

FEDVG_REGISTER(ModelBuilder, "torchscript", Torchscript, TorchscriptOptions,
               "a network out of a TorchScript file");

}  // namespace
}  // namespace fedvg
