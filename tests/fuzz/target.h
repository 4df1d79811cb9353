#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "fedvg/error.h"

// A target is one reader that is given any bytes. It is written once,
//
//     FEDVG_FUZZ_TARGET(idx, bytes) { accepts([&] { idx_from_bytes(bytes, "file", …); }); }
//
// and compiled twice: as a program of libFuzzer where FEDVG_FUZZER is defined (cmake/fuzz.cmake),
// and as a test that runs corpus/idx and a fixed number of mutations of it (replay.h).

namespace fedvg::fuzz {

using Bytes = std::span<const std::uint8_t>;

inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A property that does not hold: in both programs a fault of the target.
inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

/// Runs a reader. False: it refused its input by DataError or OptionError, in a message that
/// names `place`. Whatever else it throws is a fault.
template <class Read>
bool accepts(const std::string& place, Read&& read) {
  const auto check = [&](const std::string& message) {
    require(message.find(place) != std::string::npos, "a refusal without a place: " + message);
  };
  try {
    read();
    return true;
  } catch (const DataError& error) {
    check(error.what());
  } catch (const OptionError& error) {
    check(error.what());
  }
  return false;
}

}  // namespace fedvg::fuzz

#ifdef FEDVG_FUZZER
#define FEDVG_FUZZ_TARGET(NAME, BYTES)                                                \
  static void fuzz_##NAME(::fedvg::fuzz::Bytes BYTES);                                \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);  \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    fuzz_##NAME({data, size});                                                        \
    return 0;                                                                         \
  }                                                                                   \
  static void fuzz_##NAME(::fedvg::fuzz::Bytes BYTES)
#else
#include "fuzz/replay.h"
#define FEDVG_FUZZ_TARGET(NAME, BYTES)                                           \
  static void fuzz_##NAME(::fedvg::fuzz::Bytes BYTES);                           \
  TEST(Corpus, NAME) { ::fedvg::fuzz::replay_corpus(#NAME, fuzz_##NAME); }       \
  TEST(Mutations, NAME) { ::fedvg::fuzz::replay_mutations(#NAME, fuzz_##NAME); } \
  static void fuzz_##NAME(::fedvg::fuzz::Bytes BYTES)
#endif
