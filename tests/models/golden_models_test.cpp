// The built-in networks against torchvision's and timm's: tests/golden/models/*.json, whose
// form and formulas stand at the head of make_models.py beside them.

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fedvg/model.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

using Json = nlohmann::json;

// u(i, t) of make_models.py, in [-1, 1).
double number(std::uint32_t i, std::uint32_t t) {
  std::uint32_t x = i + 1 + 1000003u * t;
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x = (x ^ (x >> 13)) * 0xc2b2ae35u;
  return 2.0 * (x ^ (x >> 16)) / 4294967296.0 - 1.0;
}

template <class Function>
at::Tensor computed(at::IntArrayRef shape, Function value) {
  at::Tensor tensor = at::empty(shape, at::kDouble);
  auto* numbers = tensor.data_ptr<double>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) numbers[i] = value(i);
  return tensor;
}

at::Tensor filled(const std::string& name, at::IntArrayRef shape, std::uint32_t t) {
  const auto scaled = [&](double centre, double by) {
    return computed(shape, [&](std::int64_t i) {
      return centre + by * number(static_cast<std::uint32_t>(i), t);
    });
  };
  for (const char* token : {"class_token", "cls_token", "pos_embedding", "pos_embed"}) {
    if (name.ends_with(token)) return scaled(0, 0.1);
  }
  if (shape.size() >= 2) {
    double fan_in = 1;
    for (const auto extent : shape.slice(1)) fan_in *= static_cast<double>(extent);
    return scaled(0, std::sqrt(3.0 / fan_in));
  }
  if (name.ends_with("running_mean")) return scaled(0, 0.1);
  if (name.ends_with("running_var")) {
    return computed(shape, [&](std::int64_t i) {
      return 1 + 0.5 * std::abs(number(static_cast<std::uint32_t>(i), t));
    });
  }
  if (name.ends_with("num_batches_tracked")) return scaled(0, 0);
  if (name.ends_with("bn3.weight")) return scaled(0.2, 0.1);
  return name.ends_with("weight") ? scaled(1, 0.1) : scaled(0, 0.1);
}

// Of parameters, then of buffers, in float64.
std::vector<at::Tensor> values_of(const Model& model) {
  std::vector<at::Tensor> values;
  for (const auto* list : {&model.parameters(), &model.buffers()}) {
    for (const auto& entry : *list) {
      values.push_back(
          filled(entry.name, entry.tensor.sizes(), static_cast<std::uint32_t>(values.size())));
    }
  }
  return values;
}

void fill(Model& model, const std::vector<at::Tensor>& values, at::ScalarType type) {
  std::size_t t = 0;
  for (auto* list : {&model.parameters(), &model.buffers()}) {
    for (auto& entry : *list) {
      const bool counter = !entry.tensor.is_floating_point();
      entry.tensor.set_data(values[t++].to(counter ? at::kLong : type));
    }
  }
}

Json names_and_shapes(const std::vector<NamedTensor>& tensors) {
  Json list = Json::array();
  for (const auto& entry : tensors) list.push_back({entry.name, entry.tensor.sizes().vec()});
  return list;
}

void expect_logits(const at::Tensor& logits, const Json& expected, double near,
                   const std::string& what) {
  ASSERT_EQ(logits.size(0), std::ssize(expected)) << what;
  const at::Tensor plain = logits.detach().to(at::kDouble).contiguous();
  for (std::int64_t n = 0; n < logits.size(0); ++n) {
    for (std::int64_t c = 0; c < logits.size(1); ++c) {
      ASSERT_NEAR(plain[n][c].item<double>(),
                  expected.at(static_cast<std::size_t>(n)).at(static_cast<std::size_t>(c)), near)
          << what << ", image " << n << ", class " << c;
    }
  }
}

class GoldenModel : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string path =
        std::string(FEDVG_SOURCE_DIR) + "/tests/golden/models/" + GetParam() + ".json";
    std::ifstream file(path);
    ASSERT_TRUE(file) << path;
    golden = Json::parse(file);
    const Json& image = golden["image"];
    Table options;
    for (const auto& [key, value] : golden["options"].items()) {
      value.is_string() ? options.set(key, value.get<std::string>())
                        : options.set(key, value.get<std::int64_t>());
    }
    model = Registry<ModelBuilder>::instance()
                .make(golden["model"].get<std::string>(), options)
                ->build({image[0], image[1], image[2], golden["classes"]});
    const std::int64_t batch = golden["batch"];
    images = computed({batch, image[0], image[1], image[2]}, [](std::int64_t i) {
      return (number(static_cast<std::uint32_t>(i), 7777) + 1) / 2;
    });
    labels = at::arange(batch, at::kLong).remainder(golden["classes"].get<std::int64_t>());
  }

  at::Tensor logits(at::ScalarType type, Mode mode) {
    at::Tensor input = images.to(type);
    if (model->channels_last(false)) input = input.contiguous(at::MemoryFormat::ChannelsLast);
    return model->forward(input, mode).logits;
  }

  Json golden;
  std::unique_ptr<Model> model;
  at::Tensor images, labels;
};

TEST_P(GoldenModel, HasTheReferencesTensors) {
  EXPECT_EQ(names_and_shapes(model->parameters()), golden["names"]);
  EXPECT_EQ(names_and_shapes(model->buffers()), golden["buffers"]);
  std::int64_t parameters = 0;
  for (const auto& parameter : model->parameters()) parameters += parameter.tensor.numel();
  EXPECT_EQ(parameters, golden["parameters"]);
}

TEST_P(GoldenModel, ComputesTheReferencesNumbers) {
  const auto values = values_of(*model);
  fill(*model, values, at::kFloat);
  expect_logits(logits(at::kFloat, Mode::eval), golden["logits_eval_f32"], 1e-4, "eval");
  expect_logits(logits(at::kFloat, Mode::train), golden["logits_train_f32"], 1e-4, "train");

  fill(*model, values, at::kDouble);
  const at::Tensor output = logits(at::kDouble, Mode::train);
  expect_logits(output, golden["logits_train_f64"], 1e-9, "train, float64");
  const at::Tensor loss = at::cross_entropy_loss(output, labels);
  const double expected_loss = golden["loss_train_f64"];
  EXPECT_NEAR(loss.item<double>(), expected_loss, 1e-10 * expected_loss);
  loss.backward();
  double largest = 0;
  for (const auto& [name, norm] : golden["gradient_norms_f64"].items()) {
    largest = std::max(largest, norm.get<double>());
  }
  for (const auto& parameter : model->parameters()) {
    const double norm = golden["gradient_norms_f64"].at(parameter.name);
    // A norm that is 0 but for rounding: a bias before a norm layer.
    const double near = std::max(1e-8 * norm, 1e-14 * largest);
    EXPECT_NEAR(parameter.tensor.grad().norm().item<double>(), norm, near) << parameter.name;
  }
  for (const auto& buffer : model->buffers()) {
    if (!buffer.tensor.is_floating_point()) {
      EXPECT_EQ(buffer.tensor.item<std::int64_t>(), 1) << buffer.name;
      continue;
    }
    const double norm = golden["running_f64"].at(buffer.name);
    EXPECT_NEAR(buffer.tensor.norm().item<double>(), norm, 1e-9 * norm) << buffer.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenModel,
                         testing::Values("resnet18", "resnet18_64", "resnet18_cifar",
                                         "resnet18_group", "resnet34", "resnet50", "vit_b_16",
                                         "vit_s_16"),
                         [](const auto& chosen) { return std::string(chosen.param); });

}  // namespace
}  // namespace fedvg
