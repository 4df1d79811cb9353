#include "engine/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>

#include "engine/named_arrays.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = TensorMisfit::Kind;

NamedTensor target(const std::string& name, at::IntArrayRef shape,
                   at::ScalarType type = at::kFloat) {
  return {name, "block", at::zeros(shape, type)};
}

std::vector<double> numbers_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.to(at::kDouble).contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

NamedArray counted(const std::string& name, std::int64_t numbers,
                   at::ScalarType type = at::kFloat) {
  return to_array(name, at::arange(1, numbers + 1, at::kDouble).to(type));
}

std::string refusal(const std::vector<NamedArray>& arrays,
                    const std::vector<NamedTensor>& targets) {
  try {
    load_named_arrays(arrays, targets);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(ModelFile, TensorsAreMatchedByNameNotByOrder) {
  const auto a = target("a", {2}), b = target("b", {3});
  load_named_arrays({counted("b", 3), counted("a", 2)}, {a, b});
  EXPECT_THAT(numbers_of(a.tensor), ElementsAre(1, 2));
  EXPECT_THAT(numbers_of(b.tensor), ElementsAre(1, 2, 3));
}

TEST(ModelFile, FloatingPointTypesBecomeTheModels) {
  for (const auto type : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
    for (const auto own : {at::kFloat, at::kDouble}) {
      const auto a = target("a", {3}, own);
      load_named_arrays({counted("a", 3, type)}, {a});
      EXPECT_THAT(numbers_of(a.tensor), ElementsAre(1, 2, 3));
      EXPECT_EQ(a.tensor.scalar_type(), own);
    }
  }
}

// 1e300 is a number as float64, and none as float32.
TEST(ModelFile, NumbersThatAreNotFiniteAreNamedAndNothingIsWritten) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  at::Tensor values = at::arange(1, 5, at::kDouble);
  const auto good = target("good", {2}), bad = target("bad", {4});
  for (const double wrong : {nan, HUGE_VAL, -HUGE_VAL, 1e300}) {
    values[2].fill_(wrong);
    const auto text = refusal({counted("good", 2), to_array("bad", values)}, {good, bad});
    EXPECT_THAT(text, ::testing::StartsWith("bad: 1 of its 4 numbers is not finite, the first "));
    EXPECT_THAT(text, ::testing::HasSubstr(wrong == 1e300 ? "1e+300 (as float32) at position 2"
                                                          : " at position 2"));
    EXPECT_THAT(numbers_of(good.tensor), ElementsAre(0, 0));
  }
  EXPECT_EQ(refusal({to_array("bad", values)}, {target("bad", {4}, at::kDouble)}), "");
}

// The model's memory may be laid out otherwise than the file's, which is row-major.
TEST(ModelFile, ALayoutOfItsOwnIsKept) {
  const at::Tensor memory = at::zeros({4});
  const NamedTensor turned{"a", "block", memory.view({2, 2}).t()};
  load_named_arrays({to_array("a", at::arange(1, 5, at::kFloat).view({2, 2}))}, {turned});
  EXPECT_THAT(numbers_of(turned.tensor), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(numbers_of(memory), ElementsAre(1, 3, 2, 4));
}

TEST(ModelFile, EveryMisfitIsListedAndNothingIsWritten) {
  const auto good = target("good", {2}), head = target("head.weight", {3, 4}),
             bias = target("head.bias", {3}), count = target("count", {}, at::kLong);
  const std::vector<NamedArray> arrays = {counted("good", 2), to_array("extra", at::zeros({5, 1})),
                                          to_array("head.weight", at::zeros({10, 4})),
                                          to_array("count", at::zeros({}, at::kFloat))};
  const auto found = misfits(arrays, {good, head, bias, count});
  EXPECT_THAT(found,
              ElementsAre(TensorMisfit{Kind::reshaped, "head.weight", {10, 4}, {3, 4}, "F32"},
                          TensorMisfit{Kind::missing, "head.bias", {}, {3}, ""},
                          TensorMisfit{Kind::mistyped, "count", {}, {}, "F32"},
                          TensorMisfit{Kind::surplus, "extra", {5, 1}, {}, "F32"}));
  EXPECT_EQ(refusal(arrays, {good, head, bias, count}),
            "4 tensors do not fit the model:\n"
            "head.weight: [10, 4] in the file, [3, 4] in the model\n"
            "head.bias: missing; the model has it with shape [3]\n"
            "count: of type F32 in the file, whole numbers in the model\n"
            "extra: not in the model; the file has it with shape [5, 1]");
  EXPECT_THAT(numbers_of(good.tensor), ElementsAre(0, 0));
}

TEST(ModelFile, CountersOfBatchNormMayBeMissing) {
  const auto mean = target("bn.running_mean", {2});
  const NamedTensor count{"bn.num_batches_tracked", "bn", at::full({}, 7, at::kLong)};
  EXPECT_THAT(misfits({counted("bn.running_mean", 2)}, {mean, count}), IsEmpty());
  load_named_arrays({counted("bn.running_mean", 2)}, {mean, count});
  EXPECT_THAT(numbers_of(count.tensor), ElementsAre(7));
}

TEST(ModelFile, AHeadOfOtherClassesStaysAsItIs) {
  const auto body = target("body", {2}), weight = target("head.weight", {3, 4}),
             bias = target("head.bias", {3}), other = target("header.weight", {3});
  const std::vector<NamedArray> arrays = {
      counted("body", 2), to_array("head.weight", at::full({10, 4}, 5.0)),
      to_array("head.bias", at::full({10}, 5.0)), counted("header.weight", 3)};
  const std::vector<NamedTensor> targets = {body, weight, bias, other};
  EXPECT_THAT(load_but_other_head(arrays, targets, "head"),
              ElementsAre(TensorMisfit{Kind::reshaped, "head.weight", {10, 4}, {3, 4}, "F32"},
                          TensorMisfit{Kind::reshaped, "head.bias", {10}, {3}, "F32"}));
  EXPECT_THAT(numbers_of(body.tensor), ElementsAre(1, 2));
  EXPECT_THAT(numbers_of(other.tensor), ElementsAre(1, 2, 3));
  EXPECT_THAT(numbers_of(bias.tensor), ElementsAre(0, 0, 0));
  EXPECT_THROW(load_but_other_head(arrays, targets, ""), DataError);
  EXPECT_THROW(load_but_other_head(arrays, targets, "header"), DataError);
}

TEST(ModelFile, AHeadOfAnotherWidthIsRefused) {
  const auto weight = target("head.weight", {3, 4});
  EXPECT_THROW(load_but_other_head({to_array("head.weight", at::zeros({3, 5}))}, {weight}, "head"),
               DataError);
}

TEST(ModelFile, AHeadThatFitsIsLoaded) {
  const auto weight = target("head.weight", {2});
  EXPECT_THAT(load_but_other_head({counted("head.weight", 2)}, {weight}, "head"), IsEmpty());
  EXPECT_THAT(numbers_of(weight.tensor), ElementsAre(1, 2));
}

TEST(ModelFile, WholeNumbersAreLoadedIntoCounters) {
  const auto count = target("count", {2}, at::kLong);
  load_named_arrays({counted("count", 2, at::kInt)}, {count});
  EXPECT_THAT(numbers_of(count.tensor), ElementsAre(1, 2));
}

}  // namespace
}  // namespace fedvg
