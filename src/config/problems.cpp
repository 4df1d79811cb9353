#include "config/problems.h"

#include <algorithm>
#include <tuple>

#include "fedvg/error.h"

namespace fedvg::config {

void Problems::add(const Source& source, std::string_view where, std::string_view message) {
  if (full()) {
    ++dropped_;
    return;
  }
  std::string text = source.text();
  if (!text.empty()) text += ": ";
  if (!where.empty()) text += std::string(where) + ": ";
  entries_.push_back({source, text + std::string(message)});
}

void Problems::add(const Problems& others) {
  for (const Entry& entry : others.entries_) {
    if (full())
      ++dropped_;
    else
      entries_.push_back(entry);
  }
  dropped_ += others.dropped_;
}

std::vector<std::string> Problems::messages() const {
  std::vector<const Entry*> sorted;
  for (const Entry& entry : entries_) sorted.push_back(&entry);
  const auto rank = [](const Source& source) {
    return source.line > 0 ? 0 : source.file.empty() ? 2 : 1;
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Entry* a, const Entry* b) {
    return std::tuple(rank(a->source), std::string_view(a->source.file), a->source.line) <
           std::tuple(rank(b->source), std::string_view(b->source.file), b->source.line);
  });
  std::vector<std::string> messages;
  for (const Entry* entry : sorted) {
    if (std::find(messages.begin(), messages.end(), entry->text) == messages.end()) {
      messages.push_back(entry->text);
    }
  }
  if (dropped_ > 0) messages.push_back("and " + std::to_string(dropped_) + " more");
  return messages;
}

void Problems::throw_if_any() const {
  if (!empty()) throw OptionError(messages());
}

}  // namespace fedvg::config
