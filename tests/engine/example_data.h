#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "data/federated_data.h"
#include "fedvg/error.h"

namespace fedvg::testing {

/// Divides 60 training samples and 12 of the test: 5 clients of 10, and 10 for D_val.
inline void divide_sixty(FederatedData& data) {
  for (std::int64_t i = 0; i < 12; ++i) data.test.push_back(i);
  for (std::int64_t k = 0; k < 5; ++k) {
    auto& client = data.clients.emplace_back();
    for (std::int64_t i = 0; i < 10; ++i) client.push_back(k * 10 + i);
  }
  for (std::int64_t i = 50; i < 60; ++i) data.validation.push_back(i);
}

/// What `call` says when it throws OptionError; "" when it does not.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const OptionError& problem) {
    return problem.what();
  }
  return "";
}

inline void expect_says(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    EXPECT_NE(text.find(word), std::string::npos) << word << ": " << text;
  }
}

}  // namespace fedvg::testing
