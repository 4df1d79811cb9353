#include "data/validation_set.h"

#include <algorithm>
#include <set>

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::message_of;
using testing::TemporaryFolder;
using testing::write_idx_set;

bool noted(const FederatedData& data, const std::string& text) {
  return std::ranges::any_of(
      data.notes, [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

// One byte an image; labels by turns.
Samples bytes(std::int64_t count, std::int64_t classes, int first) {
  Samples made;
  made.channels = made.height = made.width = 1;
  for (std::int64_t i = 0; i < count; ++i) {
    made.pixels.push_back(static_cast<std::uint8_t>(first + i));
    made.labels.push_back(i % classes);
  }
  return made;
}

// 40 training samples of four classes, two clients; a validation part of twelve.
FederatedData two_clients() {
  FederatedData data;
  data.dataset.name = "made";
  data.dataset.source = "here";
  data.dataset.classes = {"a", "b", "c", "d"};
  data.dataset.training = bytes(40, 4, 0);
  data.dataset.test = bytes(4, 4, 200);
  data.dataset.validation = bytes(12, 4, 100);
  data.clients.resize(2);
  for (std::int64_t i = 0; i < 40; ++i) data.clients[i < 20 ? 0 : 1].push_back(i);
  return data;
}

FederatedData settled(const ValidationOptions& options, Partition partition = {},
                      const IndexList& drawn = {}) {
  FederatedData data = two_clients();
  settle_validation(data, partition, drawn, options, 1);
  return data;
}

TEST(ValidationSet, TakesTheDataSetsOwnPart) {
  const FederatedData data = settled({.source = "official"});
  ASSERT_TRUE(data.validation_set.has_value());
  EXPECT_EQ(data.validation_samples().pixels, bytes(12, 4, 100).pixels);
  EXPECT_EQ(data.validation, (IndexList{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_TRUE(data.held_out.empty());
  EXPECT_EQ(data.clients, two_clients().clients);
  EXPECT_FALSE(data.dataset.validation.has_value());
  EXPECT_EQ(data.notes, std::vector<std::string>{
                            "D_val: the 12 samples of the data set's own validation part"});
}

TEST(ValidationSet, OfASetWithoutOneIsRefusedWithTheAlternatives) {
  FederatedData data = two_clients();
  data.dataset.validation.reset();
  Partition partition;
  EXPECT_EQ(message_of<OptionError>(
                [&] { settle_validation(data, partition, {}, {.source = "official"}, 1); }),
            "validation.source = \"official\": made (here) has no validation part of its own; "
            "\"holdout\" holds a part of the training set out, \"file\" takes another data set, "
            "\"none\" does without");
}

TEST(ValidationSet, SaysThatTheOwnPartStaysUnused) {
  const std::string unused = "the data set's own validation part of 12 samples stays unused";
  const FederatedData held = settled({}, {}, {3, 7});
  EXPECT_TRUE(noted(held, "validation.source = \"holdout\": " + unused));
  EXPECT_FALSE(held.dataset.validation.has_value());
  EXPECT_TRUE(noted(settled({.source = "none"}), unused));
}

TEST(ValidationSet, TakesADrawnOneOutOfTheClients) {
  const FederatedData data = settled({}, {}, {3, 7, 25});
  EXPECT_EQ(data.validation, (IndexList{3, 7, 25}));
  EXPECT_EQ(data.held_out, data.validation);
  EXPECT_FALSE(data.validation_set.has_value());
  EXPECT_EQ(data.clients[0].size(), 18u);
  EXPECT_EQ(data.clients[1].size(), 19u);
  EXPECT_TRUE(noted(data, "D_val has no sample of class 0 (a), 2 (c)"));
}

TEST(ValidationSet, LeavesAFilesOneUnusedWhenTheSourceIsAnother) {
  Partition partition;
  partition.validation = IndexList{1, 2};
  const FederatedData data = settled({.source = "official"}, partition);
  EXPECT_EQ(data.validation.size(), 12u);
  EXPECT_TRUE(noted(data, "the 2 validation samples of the partition file stay unused"));
  EXPECT_TRUE(noted(settled({.ratio = 0.3}, partition),
                    "validation.ratio = 0.3 does not apply: the partition file brings D_val"));
}

// Twelve of four classes: half are 6, of rho 0.5 over 15/8 are 3.2, 1.6, 0.8, 0.4; then two
// of the 3 + 1, stratified: 1.5 and 0.5, the earlier remainder wins.
TEST(ValidationSet, AppliesImbalanceBeforeSize) {
  const auto by_label = [](const FederatedData& data) {
    std::vector<int> counts(4);
    for (const std::int64_t i : data.validation) {
      ++counts[static_cast<std::size_t>(
          data.validation_samples().labels[static_cast<std::size_t>(i)])];
    }
    return counts;
  };
  FederatedData data = settled({.source = "official", .imbalance = 0.5});
  EXPECT_EQ(by_label(data), (std::vector<int>{3, 1, 0, 0}));
  EXPECT_TRUE(noted(data, "validation.imbalance = 0.5: 4 of them are left, the others unused"));
  data = settled({.source = "official", .size = 2, .imbalance = 0.5});
  EXPECT_EQ(by_label(data), (std::vector<int>{2, 0, 0, 0}));
  EXPECT_TRUE(noted(data, "validation.size: 2 of them are used"));
  EXPECT_EQ(
      message_of<OptionError>([] { settled({.source = "official", .size = 5, .imbalance = 0.5}); }),
      "validation.size = 5 is more than the 4 samples of D_val");
}

TEST(ValidationSet, OfNothingIsRefusedAndOfOneSampleSaid) {
  EXPECT_EQ(message_of<OptionError>([] {
              settled({.imbalance = 1}, {}, {0, 1, 2, 3});
            }),
            "validation.imbalance = 1.0 leaves no sample of the 4 of D_val: its classes need "
            "more, or set it to 0");
  const FederatedData one = settled({.source = "official", .size = 1});
  EXPECT_EQ(one.validation.size(), 1u);
  EXPECT_TRUE(noted(one, "D_val is a single sample"));
  EXPECT_TRUE(noted(one, "D_val has no sample of class 1 (b), 2 (c), 3 (d)"));
}

TEST(ValidationSet, NoneHasNoEffectiveSettings) {
  const FederatedData data = settled({.source = "none", .size = 3, .imbalance = 1, .noise = 0.5});
  EXPECT_TRUE(data.validation.empty());
  for (const char* setting : {"size = 3", "imbalance = 1.0", "noise = 0.5"}) {
    EXPECT_TRUE(noted(data, std::string("validation.") + setting +
                                " has no effect with validation.source = \"none\""));
  }
}

TEST(ValidationSet, GetsNoiseInACopyOfItsOwn) {
  const ValidationOptions options{.noise = 0.3};
  FederatedData data = settled(options, {}, {3, 7, 25});
  add_validation_noise(data, options, 1);
  EXPECT_EQ(data.dataset.training.pixels, two_clients().dataset.training.pixels);
  ASSERT_TRUE(data.validation_set.has_value());
  EXPECT_EQ(data.validation, (IndexList{0, 1, 2}));
  EXPECT_EQ(data.validation_set->labels, (std::vector<std::int64_t>{3, 3, 1}));
  EXPECT_NE(data.validation_set->pixels, (Bytes{3, 7, 25}));
  EXPECT_EQ(data.held_out, (IndexList{3, 7, 25}));
  EXPECT_TRUE(noted(data, "validation.noise = 0.3: added to the 3 samples of D_val"));
  FederatedData quiet = settled({}, {}, {3});
  add_validation_noise(quiet, {}, 1);
  EXPECT_FALSE(quiet.validation_set.has_value());
}

std::string wrong(const ValidationOptions& options) {
  std::string text;
  for (const auto& [key, reason] : wrong_settings(options)) text += key + ": " + reason + "\n";
  return text;
}

TEST(ValidationSet, RefusesSettingsOfOtherSources) {
  EXPECT_EQ(wrong({.ratio = 0.2, .size = 5, .imbalance = 0.5, .noise = 1}), "");
  EXPECT_EQ(wrong({.source = "official", .ratio = 0.2}),
            "validation.ratio: is for validation.source = \"holdout\", but the source is "
            "\"official\"\n");
  const std::string foreign =
      "is for validation.source = \"file\", but the source is \"holdout\"\n";
  EXPECT_EQ(wrong({.path = "a", .format = "idx", .mapping = "m.csv"}),
            "validation.path: " + foreign + "validation.format: " + foreign +
                "validation.mapping: " + foreign);
  EXPECT_EQ(wrong({.source = "file"}),
            "validation.path: is missing: validation.source = \"file\" takes D_val from the data "
            "set that it names\n");
  EXPECT_EQ(wrong({.source = "file", .path = "a", .format = "idx", .mapping = "m.csv"}), "");
}

// 2 x 2 gray.
Samples gray() {
  return {.channels = 1,
          .height = 2,
          .width = 2,
          .pixels = {1, 2, 3, 4, 50, 60, 70, 80},
          .labels = {0, 1},
          .owners = {},
          .is_features = false};
}

Samples of_shape(std::int64_t channels, std::int64_t height, std::int64_t width) {
  Samples made;
  made.channels = channels;
  made.height = height;
  made.width = width;
  return made;
}

TEST(ForeignImages, ThatFitStayAsTheyAre) {
  std::vector<std::string> notes;
  EXPECT_EQ(in_form_of(gray(), gray(), "f", notes).pixels, gray().pixels);
  EXPECT_TRUE(notes.empty());
}

TEST(ForeignImages, GetThreeChannelsFromOne) {
  std::vector<std::string> notes;
  const Samples made = in_form_of(of_shape(3, 2, 2), gray(), "f", notes);
  EXPECT_EQ(made.channels, 3);
  EXPECT_EQ(made.pixels, (Bytes{1,  2,  3,  4,  1,  2,  3,  4,  1,  2,  3,  4,
                                50, 60, 70, 80, 50, 60, 70, 80, 50, 60, 70, 80}));
  EXPECT_EQ(made.labels, gray().labels);
  EXPECT_EQ(notes, std::vector<std::string>{"f: gray images repeated to 3 channels"});
}

// Of a plain image only its value is left.
TEST(ForeignImages, AreResizedToTheTrainingSize) {
  std::vector<std::string> notes;
  Samples plain = gray();
  plain.pixels = {9, 9, 9, 9, 200, 200, 200, 200};
  const Samples made = in_form_of(of_shape(1, 3, 3), plain, "f", notes);
  EXPECT_EQ(made.height, 3);
  EXPECT_EQ(made.width, 3);
  Bytes wanted(9, 9);
  wanted.insert(wanted.end(), 9, 200);
  EXPECT_EQ(made.pixels, wanted);
  EXPECT_EQ(notes,
            std::vector<std::string>{"f: images of 2 x 2 resized to the training size 3 x 3"});
}

TEST(ForeignImages, ThatCannotFitAreRefused) {
  std::vector<std::string> notes;
  const auto refusal = [&](const Samples& training, const Samples& foreign) {
    return message_of<DataError>([&] { in_form_of(training, foreign, "f", notes); });
  };
  EXPECT_EQ(refusal(gray(), of_shape(3, 2, 2)),
            "f: D_val would have 2 x 2 images of 3 channels, but the training set has 2 x 2 "
            "images of 1 channel");
  EXPECT_EQ(refusal(of_shape(1, 2, 5), gray()),
            "f: its 2 x 2 images cannot be resized to those of the training set, which are not "
            "square: 2 x 5");
  Samples features = of_shape(7, 1, 1);
  features.is_features = true;
  EXPECT_EQ(refusal(features, gray()),
            "f: D_val would have 2 x 2 images of 1 channel, but the training set has 7 features");
  Samples fewer = of_shape(1, 1, 1);
  fewer.is_features = true;
  EXPECT_EQ(refusal(features, fewer),
            "f: D_val would have 1 features, but the training set has 7 features");
}

// Through the door that everybody uses: 200 samples of classes 0 to 3 in turn.
class LoadedValidationSet : public ::testing::Test {
 protected:
  LoadedValidationSet() {
    Bytes labels(200);
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint8_t>(i % 4);
    write_idx_set(own_, labels, {0, 1, 2, 3});
    data_.name = Part{"idx", {}};
    data_.name.options.set("path", own_.path().string());
    partition_.scheme = Part{"iid", {}};
    partition_.clients = 5;
    partition_.min_samples = 1;
  }
  FederatedData load() const { return load_federated_data(data_, partition_, validation_, 1); }

  TemporaryFolder own_, foreign_;
  DataOptions data_;
  PartitionOptions partition_;
  ValidationOptions validation_;
};

// U25: by position and by content.
TEST_F(LoadedValidationSet, SharesNoSampleWithClientsAndTestSet) {
  for (const double noise : {0.0, 0.2}) {
    validation_.noise = noise;
    const FederatedData data = load();
    std::set<std::int64_t> seen(data.held_out.begin(), data.held_out.end());
    EXPECT_EQ(seen.size(), 20u);
    for (const auto& client : data.clients) {
      for (const std::int64_t i : client) EXPECT_TRUE(seen.insert(i).second) << i;
    }
    // Image i is all i, and test images are 255 to 252: nothing is in two parts.
    EXPECT_FALSE(noted(data, "pixel-for-pixel copy"));
  }
}

TEST_F(LoadedValidationSet, NoiseLeavesClientsAndIdentityAlone) {
  const FederatedData plain = load();
  validation_.noise = 0.2;
  const FederatedData noisy = load();
  EXPECT_EQ(noisy.clients, plain.clients);
  EXPECT_EQ(noisy.identity.fingerprint, plain.identity.fingerprint);
  EXPECT_EQ(noisy.dataset.training.pixels, plain.dataset.training.pixels);
  EXPECT_EQ(partition_json(noisy), partition_json(plain));
  EXPECT_EQ(noisy.validation_samples().size(), 20);
}

// With the same [validation] the written partition gives the same D_val again.
TEST_F(LoadedValidationSet, IsReadBackWithImbalanceSizeAndNoise) {
  validation_ = {.size = 6, .imbalance = 0.9, .noise = 0.1};
  const FederatedData written = load();
  partition_.scheme = Part{"file", {}};
  partition_.scheme.options.set("file", own_.write("p.json", partition_json(written)));
  const FederatedData read = load();
  EXPECT_EQ(read.clients, written.clients);
  EXPECT_EQ(read.validation_samples().pixels, written.validation_samples().pixels);
  EXPECT_EQ(read.validation_samples().labels, written.validation_samples().labels);
}

// Training images 0 to 11 and test images of value 255 to 244, each of classes 0 to 5, of
// which the first four are ours: of 24 samples 16 are left, 8 of them images of our clients.
TEST_F(LoadedValidationSet, ComesFromAnotherDataSet) {
  Bytes labels(12);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint8_t>(i % 6);
  write_idx_set(foreign_, labels, labels);
  validation_.source = "file";
  validation_.path = foreign_.path().string();
  const FederatedData data = load();
  ASSERT_TRUE(data.validation_set.has_value());
  EXPECT_TRUE(data.held_out.empty());
  EXPECT_EQ(data.validation.size(), 16u);
  for (const std::int64_t label : data.validation_set->labels) EXPECT_LT(label, 4);
  EXPECT_TRUE(noted(data, "2 classes have no counterpart (4, 5)"));
  // All 200 training samples stay with the clients, image for image copies in D_val.
  std::size_t samples = 0;
  for (const auto& client : data.clients) samples += client.size();
  EXPECT_EQ(samples, 200u);
  const std::string copies = "0 of the clients in the test set, 8 of the clients in D_val";
  EXPECT_TRUE(noted(data, copies));
  validation_.noise = 0.3;  // copies all the same
  EXPECT_TRUE(noted(load(), copies));

  validation_.mapping = foreign_.write("m.csv", "own,foreign\n3,5\n");
  const FederatedData mapped = load();
  EXPECT_TRUE(std::ranges::all_of(mapped.validation_set->labels,
                                  [](std::int64_t label) { return label == 3; }));
  EXPECT_TRUE(noted(mapped, "D_val has no sample of class 0, 1, 2"));
}

TEST_F(LoadedValidationSet, RefusesSettingsOfOtherSourcesTogether) {
  validation_ = {.path = "a", .mapping = "b"};
  EXPECT_EQ(message_of<OptionError>([&] { load(); }),
            "validation.path: is for validation.source = \"file\", but the source is "
            "\"holdout\"\nvalidation.mapping: is for validation.source = \"file\", but the source "
            "is \"holdout\"");
}

}  // namespace
}  // namespace fedvg
