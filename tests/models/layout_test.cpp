#include "fedvg/layout.h"

#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

namespace fedvg {
namespace {

TEST(Layout, AlignsTensorsTo64Bytes) {
  const Layout layout({{.name = "a", .block = "x", .shape = {3, 5}, .strides = {5, 1}},
                       {.name = "b", .block = "y", .shape = {}, .strides = {}},
                       {.name = "c", .block = "x", .shape = {16}, .strides = {1}}});
  EXPECT_EQ(layout.slots()[1].offset, 16);
  EXPECT_EQ(layout.slots()[2].offset, 32);
  EXPECT_EQ(layout.size(), 48);
  EXPECT_EQ(layout.parameters(), 15 + 1 + 16);
  EXPECT_EQ(layout.blocks(), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(layout.block_of(), (std::vector<std::size_t>{0, 1, 0}));
}

// [O, C, H, W] = [1, 2, 1, 3] stored as OHWI: element (c, w) lies at w * 2 + c.
TEST(Layout, ViewsFollowTheirStrides) {
  const Layout layout(
      {{.name = "a", .block = "a", .shape = {1}, .strides = {1}},
       {.name = "w", .block = "w", .shape = {1, 2, 1, 3}, .strides = {6, 1, 6, 2}}});
  const at::Tensor flat = at::arange(layout.size(), at::kDouble);
  const at::Tensor view = layout.view(flat, 1);
  EXPECT_EQ(view[0][1][0][2].item<double>(), 16 + 5);
  EXPECT_EQ(view[0][0][0][1].item<double>(), 16 + 2);
  view[0][1][0][2].fill_(-1);
  EXPECT_EQ(layout.segment(flat, 1)[5].item<double>(), -1);
}

TEST(Layout, KeepsATensorsTailBehindItsView) {
  const Layout layout({{.name = "a", .block = "a", .shape = {2, 7}, .strides = {7, 1}, .tail = 3},
                       {.name = "b", .block = "a", .shape = {2}, .strides = {1}}});
  EXPECT_EQ(layout.slots()[0].numel, 14);
  EXPECT_EQ(layout.slots()[1].offset, 32);  // 14 + 3 take two times 64 bytes
  EXPECT_EQ(layout.parameters(), 14 + 2);
  const at::Tensor flat = at::arange(layout.size(), at::kDouble);
  EXPECT_EQ(layout.view(flat, 0).numel(), 14);
  EXPECT_EQ(layout.segment(flat, 0).numel(), 17);
  EXPECT_EQ(layout.tail(flat, 0).numel(), 3);
  EXPECT_EQ(layout.tail(flat, 0)[0].item<double>(), 14);
  EXPECT_EQ(layout.tail(flat, 1).numel(), 0);
  const Tensors tails = layout.tails(flat);
  ASSERT_EQ(tails.size(), 1);
  tails[0][2].fill_(-1);
  EXPECT_EQ(flat[16].item<double>(), -1);
}

}  // namespace
}  // namespace fedvg
