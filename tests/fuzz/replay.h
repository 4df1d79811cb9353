#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

// What a machine without clang runs of a target: the kept corpus, and mutations that are the same
// each time.

namespace fedvg::fuzz {

using Input = std::vector<std::uint8_t>;
using Target = void (*)(std::span<const std::uint8_t>);

struct NamedInput {
  std::string name;
  Input bytes;
};

inline std::vector<NamedInput> corpus_of(const std::string& target) {
  const std::filesystem::path folder = FEDVG_SOURCE_DIR "/tests/fuzz/corpus/" + target;
  std::vector<NamedInput> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    inputs.push_back(
        {entry.path().filename().string(), Input{std::istreambuf_iterator<char>(file), {}}});
  }
  std::ranges::sort(inputs, {}, &NamedInput::name);
  return inputs;
}

/// Runs one input; what the target throws is a failure that names the input, which is kept.
inline void run_input(Target target, const Input& input, const std::string& name) {
  try {
    target(input);
  } catch (const std::exception& error) {
    std::string kept = ::testing::TempDir() + "fedvg-fuzz-" + name;
    std::ofstream(kept, std::ios::binary)
        .write(reinterpret_cast<const char*>(input.data()),
               static_cast<std::streamsize>(input.size()));
    ADD_FAILURE() << name << " (kept as " << kept << "): " << error.what();
  }
}

/// Bytes changed, numbers put in, parts removed, repeated or taken from another input.
class Mutation {
 public:
  explicit Mutation(std::uint64_t seed) : random_(seed) {}

  Input of(Input input, const Input& other) {
    for (std::size_t steps = 1 + below(4); steps > 0; --steps) change(input, other);
    return input;
  }

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

  void change(Input& input, const Input& other) {
    if (input.empty()) input.push_back(0);
    const std::size_t at = below(input.size());
    const std::size_t count = std::min(input.size() - at, 1 + below(below(8) == 0 ? 1024 : 8));
    const auto first = input.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last = first + static_cast<std::ptrdiff_t>(count);
    switch (below(8)) {
      case 0:
        *first ^= static_cast<std::uint8_t>(1 << below(8));
        break;
      case 1:
        *first = special_byte();
        break;
      case 2:
        std::fill(first, last, special_byte());
        break;
      case 3:
        put_number(input, at);
        break;
      case 4:
        input.erase(first, last);
        break;
      case 5: {
        const Input part(first, last);
        for (std::size_t times = 1 + below(8); times > 0; --times) {
          input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), part.begin(), part.end());
        }
        break;
      }
      case 6:
        input.resize(at);
        break;
      default:
        splice(input, at, other);
    }
  }

  std::uint8_t special_byte() {
    constexpr std::uint8_t kBytes[] = {0,   1,   0x7f, 0x80, 0xff, '"',  '\'', '\\', '{', '}',
                                       '[', ']', ',',  ':',  '=',  '\n', '#',  '-',  '.', '9'};
    return kBytes[below(std::size(kBytes))];
  }

  // Of 1, 2, 4 or 8 bytes, the least or the greatest first.
  void put_number(Input& input, std::size_t at) {
    constexpr std::uint64_t kNumbers[] = {
        0,          1,          0x7fff,     0x10000,
        0x7fffffff, 0x80000000, 0xffffffff, std::uint64_t{1} << 62,
        INT64_MAX,  UINT64_MAX};
    std::uint64_t number = kNumbers[below(std::size(kNumbers))];
    const std::size_t size = std::min(input.size() - at, std::size_t{1} << below(4));
    std::uint8_t bytes[8];
    std::memcpy(bytes, &number, sizeof bytes);
    if (below(2) == 0) std::reverse(bytes, bytes + size);
    std::copy_n(bytes, size, input.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void splice(Input& input, std::size_t at, const Input& other) {
    if (other.empty()) return;
    const std::size_t from = below(other.size());
    const std::size_t count = 1 + below(other.size() - from);
    const auto part = other.begin() + static_cast<std::ptrdiff_t>(from);
    input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), part,
                 part + static_cast<std::ptrdiff_t>(count));
  }

  std::mt19937_64 random_;
};

inline void replay_corpus(const std::string& name, Target target) {
  const auto inputs = corpus_of(name);
  ASSERT_FALSE(inputs.empty());
  run_input(target, {}, name + "-empty");
  for (const auto& [file, bytes] : inputs) run_input(target, bytes, name + "-" + file);
}

inline void replay_mutations(const std::string& name, Target target) {
  constexpr std::size_t kMutations = 4000;
  const auto inputs = corpus_of(name);
  ASSERT_FALSE(inputs.empty());
  for (std::size_t i = 0; i < kMutations && !::testing::Test::HasFailure(); ++i) {
    const Input& other = inputs[(i * 7 + 3) % inputs.size()].bytes;
    run_input(target, Mutation(i).of(inputs[i % inputs.size()].bytes, other),
              name + "-mutation-" + std::to_string(i));
  }
}

}  // namespace fedvg::fuzz
