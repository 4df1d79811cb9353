#include "fedvg/value.h"

#include "config/toml_text.h"

namespace fedvg {
namespace {

struct TypeName {
  const char* operator()(bool) const { return "boolean"; }
  const char* operator()(std::int64_t) const { return "integer"; }
  const char* operator()(double) const { return "number"; }
  const char* operator()(const std::string&) const { return "string"; }
  const char* operator()(const Array&) const { return "list"; }
  const char* operator()(const Table&) const { return "table"; }
};

struct Text {
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(std::int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return config::toml_number(v); }
  std::string operator()(const std::string& v) const { return config::toml_string(v); }
  std::string operator()(const Array& list) const {
    std::string text;
    for (const auto& item : list) text += (text.empty() ? "" : ", ") + item.text();
    return "[" + text + "]";
  }
  std::string operator()(const Table& table) const {
    std::string text;
    for (const auto& [key, value] : table.entries()) {
      text += (text.empty() ? "" : ", ") + config::toml_key(key) + " = " + value.text();
    }
    return "{" + text + "}";
  }
};

}  // namespace

Table::Table(std::initializer_list<Entry> entries) {
  for (const auto& [key, value] : entries) set(key, value);
}

const Value* Table::find(std::string_view key) const {
  for (const auto& [name, value] : entries_) {
    if (name == key) return &value;
  }
  return nullptr;
}

Value* Table::find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

Value& Table::set(std::string_view key, Value value) {
  if (Value* present = find(key)) return *present = std::move(value);
  return entries_.emplace_back(std::string(key), std::move(value)).second;
}

bool Table::erase(std::string_view key) {
  return std::erase_if(entries_, [&](const Entry& entry) { return entry.first == key; }) > 0;
}

bool Table::empty() const { return entries_.empty(); }

bool Table::operator==(const Table& other) const {
  if (entries_.size() != other.entries_.size()) return false;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto& [key, value] = entries_[i];
    const auto& same_place = other.entries_[i];
    const Value* found = same_place.first == key ? &same_place.second : other.find(key);
    if (!found || !(value == *found)) return false;
  }
  return true;
}

const char* Value::type_name() const { return std::visit(TypeName{}, content); }

std::string Value::text() const { return std::visit(Text{}, content); }

}  // namespace fedvg
