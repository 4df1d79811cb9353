#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// What a checkpoint remembers of a run, as JSON and back: plain structs whose members one
// function lists, `fields(visit, x)` beside the struct, and what they are made of. Numbers that
// are not finite are words, since JSON has none.

namespace fedvg::json_form {

using Json = nlohmann::json;

template <class T>
Json to(const T& x);
template <class T>
void from(const Json& json, T& x);

namespace detail {

template <class T, template <class...> class Template>
inline constexpr bool is_a = false;
template <class... Args, template <class...> class Template>
inline constexpr bool is_a<Template<Args...>, Template> = true;

inline Json of_number(double number) {
  if (std::isfinite(number)) return number;
  return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

inline const Json::array_t& items(const Json& json) { return json.get_ref<const Json::array_t&>(); }

inline double to_number(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto& word = json.get_ref<const std::string&>();
  return word == "inf"    ? kInfinity
         : word == "-inf" ? -kInfinity
         : word == "nan"  ? std::numeric_limits<double>::quiet_NaN()
                          : json.get<double>();  // throws
}

}  // namespace detail

template <class T>
Json to(const T& x) {
  using namespace detail;
  if constexpr (std::is_same_v<T, double>) {
    return of_number(x);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return x;
  } else if constexpr (is_a<T, std::optional>) {
    return x ? to(*x) : Json();
  } else if constexpr (is_a<T, std::pair>) {
    return Json::array({to(x.first), to(x.second)});
  } else if constexpr (is_a<T, std::vector> || is_a<T, std::map> || is_a<T, std::set>) {
    Json list = Json::array();
    for (const auto& item : x) list.push_back(to(item));
    return list;
  } else {
    Json object = Json::object();
    const auto put = [&](const char* name, const auto& member) { object[name] = to(member); };
    fields(put, const_cast<T&>(x));  // lists members for both directions
    return object;
  }
}

/// Throws nlohmann::json::exception where it is of another form.
template <class T>
void from(const Json& json, T& x) {
  using namespace detail;
  if constexpr (std::is_same_v<T, double>) {
    x = to_number(json);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    x = json.get<T>();
  } else if constexpr (is_a<T, std::optional>) {
    x.reset();
    if (!json.is_null()) from(json, x.emplace());
  } else if constexpr (is_a<T, std::pair>) {
    from(json.at(0), const_cast<std::remove_const_t<typename T::first_type>&>(x.first));
    from(json.at(1), x.second);
  } else if constexpr (is_a<T, std::map>) {
    x.clear();
    for (const Json& item : items(json)) {
      std::pair<typename T::key_type, typename T::mapped_type> entry;
      from(item, entry);
      x.insert(std::move(entry));
    }
  } else if constexpr (is_a<T, std::set>) {
    x.clear();
    for (const Json& item : items(json)) {
      typename T::value_type value;
      from(item, value);
      x.insert(std::move(value));
    }
  } else if constexpr (is_a<T, std::vector>) {
    x.clear();
    for (const Json& item : items(json)) from(item, x.emplace_back());
  } else {
    const auto take = [&](const char* name, auto& member) { from(json.at(name), member); };
    fields(take, x);
  }
}

}  // namespace fedvg::json_form
