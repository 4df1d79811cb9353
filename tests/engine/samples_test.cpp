#include "engine/samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fedvg/error.h"

namespace fedvg {
namespace {

Samples two_rgb_images() {
  Samples samples{.channels = 3, .height = 1, .width = 2};
  samples.pixels = {0, 51, 102, 153, 204, 255, 255, 0, 1, 2, 3, 4};
  samples.labels = {7, 9};
  return samples;
}

TEST(ByteStore, DividesBytesBy255InEitherFormat) {
  const Samples samples = two_rgb_images();
  for (const bool channels_last : {false, true}) {
    const ByteStore store(samples, {.dtype = at::kDouble, .channels_last = channels_last}, {});
    BatchBuffer buffer;
    const std::vector<std::int64_t> ids{1, 0};
    const Batch batch = store.assemble(ids, buffer);
    EXPECT_EQ(batch.images.sizes().vec(), (std::vector<std::int64_t>{2, 3, 1, 2}));
    EXPECT_DOUBLE_EQ(batch.images[0][0][0][0].item<double>(), 1);
    EXPECT_DOUBLE_EQ(batch.images[0][2][0][1].item<double>(), 4.0 / 255);
    EXPECT_DOUBLE_EQ(batch.images[1][1][0][1].item<double>(), 0.6);
    EXPECT_EQ(batch.images.stride(1), channels_last ? 1 : 2);
    EXPECT_EQ(batch.labels[0].item<std::int64_t>(), 9);
    EXPECT_EQ(batch.labels[1].item<std::int64_t>(), 7);
  }
}

// (51 / 255 - 0.1) / 0.5 = 0.2.
TEST(ByteStore, StandardizesByChannel) {
  const Samples samples = two_rgb_images();
  const ByteStore store(samples, {.dtype = at::kDouble}, {{0.1, 0, 0}, {0.5, 1, 1}});
  BatchBuffer buffer;
  const std::vector<std::int64_t> ids{0};
  const Batch batch = store.assemble(ids, buffer);
  EXPECT_NEAR(batch.images[0][0][0][1].item<double>(), 0.2, 1e-15);
  EXPECT_DOUBLE_EQ(batch.images[0][1][0][0].item<double>(), 0.4);
}

TEST(ByteStore, KeepsItsBufferWhenBatchesShrink) {
  const Samples samples = two_rgb_images();
  const ByteStore store(samples, {}, {});
  BatchBuffer buffer;
  const std::vector<std::int64_t> both{0, 1}, one{1};
  const void* memory = store.assemble(both, buffer).images.data_ptr();
  EXPECT_EQ(store.assemble(one, buffer).images.data_ptr(), memory);
}

std::vector<double> numbers_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.to(at::kDouble).contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

/// One gray image whose bytes, divided by 255 and times 255, are easy to tell: 1 to 6.
Samples gray_image() {
  Samples samples{.channels = 1, .height = 2, .width = 3};
  samples.pixels = {1, 2, 3, 4, 5, 6};
  samples.labels = {0};
  return samples;
}

/// The statistics under which a byte becomes itself, 0 becomes 0.
const ChannelStatistics kBytes{{0}, {1.0 / 255}};

// --- channels

TEST(ByteStore, RepeatsAGrayChannelInEitherFormat) {
  const Samples samples = gray_image();
  for (const bool channels_last : {false, true}) {
    const ByteStore store(
        samples, {.dtype = at::kDouble, .channels_last = channels_last, .channels = 3}, {});
    BatchBuffer buffer;
    const Batch batch = store.assemble(std::vector<std::int64_t>{0, 0}, buffer);
    EXPECT_EQ(batch.images.sizes().vec(), (std::vector<std::int64_t>{2, 3, 2, 3}));
    EXPECT_EQ(batch.images.stride(1), channels_last ? 1 : 6);
    for (std::int64_t i = 0; i < 2; ++i) {
      for (std::int64_t c = 0; c < 3; ++c) {
        EXPECT_EQ(numbers_of(batch.images[i][c]),
                  (std::vector<double>{1. / 255, 2. / 255, 3. / 255, 4. / 255, 5. / 255, 6. / 255}))
            << channels_last << c;
      }
    }
  }
}

// Byte 6 is 6/255: less 0, less 1/255, and less 2/255, each over its deviation.
TEST(ByteStore, StandardizesEachRepeatedChannelByItsOwnNumbers) {
  const Samples samples = gray_image();
  const ByteStore store(samples, {.dtype = at::kDouble, .channels = 3},
                        {{0, 1. / 255, 2. / 255}, {1. / 255, 5. / 255, 2. / 255}});
  BatchBuffer buffer;
  const Batch batch = store.assemble(std::vector<std::int64_t>{0}, buffer);
  EXPECT_NEAR(batch.images[0][0][1][2].item<double>(), 6, 1e-12);
  EXPECT_NEAR(batch.images[0][1][1][2].item<double>(), 1, 1e-12);
  EXPECT_NEAR(batch.images[0][2][1][2].item<double>(), 2, 1e-12);
}

// --- views

std::vector<double> seen(const ImageView& view) {
  const Samples samples = gray_image();
  const ByteStore store(samples, {.dtype = at::kDouble}, kBytes);
  BatchBuffer buffer;
  const std::vector<ImageView> views{view};
  auto numbers =
      numbers_of(store.assemble_seen(std::vector<std::int64_t>{0}, views, buffer).images);
  for (double& number : numbers) number = std::round(number * 1e6) / 1e6;
  return numbers;
}

// 1 2 3
// 4 5 6
TEST(ByteStore, ShowsAnImageThroughAView) {
  EXPECT_EQ(seen({}), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(seen({.mirrored = true}), (std::vector<double>{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(seen({.down = 1}), (std::vector<double>{4, 5, 6, 0, 0, 0}));
  EXPECT_EQ(seen({.down = -1}), (std::vector<double>{0, 0, 0, 1, 2, 3}));
  EXPECT_EQ(seen({.right = 1}), (std::vector<double>{2, 3, 0, 5, 6, 0}));
  EXPECT_EQ(seen({.right = -2}), (std::vector<double>{0, 0, 1, 0, 0, 4}));
  EXPECT_EQ(seen({.down = 1, .right = 1}), (std::vector<double>{5, 6, 0, 0, 0, 0}));
  EXPECT_EQ(seen({.down = 1, .right = 1, .mirrored = true}),
            (std::vector<double>{0, 6, 5, 0, 0, 0}));
  EXPECT_EQ(seen({.right = 9}), (std::vector<double>{0, 0, 0, 0, 0, 0}));
}

// What a view adds is black, byte 0, which standardising turns into (0 - 0.4) / 0.2 = -2.
TEST(ByteStore, FillsAViewWithBlack) {
  const Samples samples = gray_image();
  const ByteStore store(samples, {.dtype = at::kDouble}, {{0.4}, {0.2}});
  BatchBuffer buffer;
  const std::vector<ImageView> views{{.down = 2}};
  const auto numbers =
      numbers_of(store.assemble_seen(std::vector<std::int64_t>{0}, views, buffer).images);
  for (const double number : numbers) EXPECT_NEAR(number, -2, 1e-12);
}

TEST(ByteStore, ShowsEachImageThroughItsOwnViewInEitherFormat) {
  const Samples samples = two_rgb_images();
  const std::vector<ImageView> views{{.mirrored = true}, {.right = 1}};
  for (const bool channels_last : {false, true}) {
    const ByteStore store(samples, {.dtype = at::kDouble, .channels_last = channels_last}, {});
    BatchBuffer buffer;
    const Batch batch = store.assemble_seen(std::vector<std::int64_t>{1, 0}, views, buffer);
    EXPECT_EQ(numbers_of(batch.images[0]),
              (std::vector<double>{0, 1, 2. / 255, 1. / 255, 4. / 255, 3. / 255}));
    EXPECT_EQ(numbers_of(batch.images[1]), (std::vector<double>{0.2, 0, 0.6, 0, 1, 0}));
    EXPECT_EQ(batch.labels[0].item<std::int64_t>(), 9);
  }
}

// The views that local training draws, put together by hand from the same stream.
TEST(ByteStore, ShowsTheViewsThatAreDrawn) {
  const Samples samples = gray_image();
  const ByteStore store(samples, {.dtype = at::kDouble}, kBytes);
  Random stream(5, "augment", 2, 3), recorded(5, "augment", 2, 3);
  const Augmentation augmentation{.flips = true, .padding = 1};
  const std::vector<std::int64_t> ids(20, 0);
  BatchBuffer buffer;
  const Batch batch =
      store.assemble_seen(ids, draw_views(ids.size(), augmentation, stream), buffer);
  for (std::int64_t i = 0; i < 20; ++i) {
    // The image within its frame: rows 0 and 3, columns 0 and 4 are black.
    const double framed[4][5] = {
        {0, 0, 0, 0, 0}, {0, 1, 2, 3, 0}, {0, 4, 5, 6, 0}, {0, 0, 0, 0, 0}};
    const auto top = recorded.below(3), left = recorded.below(3);
    const bool mirrored = recorded.below(2) == 1;
    for (std::size_t y = 0; y < 2; ++y) {
      for (std::size_t x = 0; x < 3; ++x) {
        const std::size_t column = mirrored ? 2 - x : x;
        EXPECT_NEAR(batch.images[i][0][static_cast<std::int64_t>(y)][static_cast<std::int64_t>(x)]
                        .item<double>(),
                    framed[top + y][left + column], 1e-12)
            << i << " " << y << " " << x;
      }
    }
  }
}

// --- features

Samples two_rows() {
  Samples samples{.channels = 3, .height = 1, .width = 1, .is_features = true};
  const std::vector<float> numbers{1.5F, -2, 1e30F, 0.1F, 4, -7};
  samples.pixels.resize(numbers.size() * sizeof(float));
  std::memcpy(samples.pixels.data(), numbers.data(), samples.pixels.size());
  samples.labels = {2, 1};
  return samples;
}

TEST(FeatureStore, HandsOutRowsAsTheyAre) {
  const Samples samples = two_rows();
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    const auto store = make_store(samples, {.dtype = dtype}, {});
    EXPECT_EQ(store->size(), 2);
    BatchBuffer buffer;
    const Batch batch = store->assemble(std::vector<std::int64_t>{1, 0, 1}, buffer);
    EXPECT_EQ(batch.images.scalar_type(), dtype);
    EXPECT_EQ(batch.images.sizes().vec(), (std::vector<std::int64_t>{3, 3}));
    EXPECT_EQ(numbers_of(batch.images[0]), (std::vector<double>{0.1F, 4, -7}));
    EXPECT_EQ(numbers_of(batch.images[1]), (std::vector<double>{1.5, -2, 1e30F}));
    EXPECT_EQ(batch.labels[0].item<std::int64_t>(), 1);
    EXPECT_EQ(batch.labels[1].item<std::int64_t>(), 2);
  }
}

// (4 + 2) / 3 = 2, (-2 + 2) / 3 = 0.
TEST(FeatureStore, StandardizesByFeature) {
  const Samples samples = two_rows();
  const FeatureStore store(samples, {.dtype = at::kDouble}, {{1.5, -2, 0}, {1, 3, 1}});
  BatchBuffer buffer;
  const Batch batch = store.assemble(std::vector<std::int64_t>{0, 1}, buffer);
  EXPECT_EQ(numbers_of(batch.images[0]), (std::vector<double>{0, 0, 1e30F}));
  EXPECT_EQ(batch.images[1][1].item<double>(), 2);
}

TEST(FeatureStore, HasNoImagesToLookAt) {
  const Samples samples = two_rows();
  const FeatureStore store(samples, {}, {});
  BatchBuffer buffer;
  const std::vector<ImageView> views(1);
  EXPECT_THROW(store.assemble_seen(std::vector<std::int64_t>{0}, views, buffer), RunError);
}

TEST(MakeStore, TakesImagesToo) {
  const Samples samples = gray_image();
  BatchBuffer buffer;
  EXPECT_EQ(
      make_store(samples, {}, {})->assemble(std::vector<std::int64_t>{0}, buffer).images.dim(), 4);
}

std::vector<std::size_t> ends(std::int64_t samples, std::int64_t batch, bool join) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(samples));
  return cut(ids, batch, join).ends;
}

TEST(Cut, LeavesTheRestAsAShorterBatch) {
  EXPECT_EQ(ends(7, 3, false), (std::vector<std::size_t>{3, 6, 7}));
  EXPECT_EQ(ends(6, 3, false), (std::vector<std::size_t>{3, 6}));
  EXPECT_EQ(ends(2, 3, false), (std::vector<std::size_t>{2}));
  EXPECT_TRUE(ends(0, 3, false).empty());
}

TEST(Cut, JoinsALastBatchOfOneToTheOneBefore) {
  EXPECT_EQ(ends(7, 3, true), (std::vector<std::size_t>{3, 7}));
  EXPECT_EQ(ends(8, 3, true), (std::vector<std::size_t>{3, 6, 8}));
  EXPECT_EQ(ends(1, 3, true), (std::vector<std::size_t>{1}));
  EXPECT_EQ(ends(3, 1, true), (std::vector<std::size_t>{1, 3}));
}

}  // namespace
}  // namespace fedvg
