#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fedvg {

/// Where the first byte lies that is no UTF-8 (RFC 3629: nothing overlong, no surrogates);
/// std::string_view::npos when all is.
std::size_t first_not_utf8(std::string_view text);

/// For messages: control characters and bytes that are no UTF-8 as \xfc.
std::string escaped(std::string_view text);

/// Throws DataError unless `name`, of a class or a client, is UTF-8 without control
/// characters: it goes to the terminal and into files. `place` begins the message ("/data/train
/// holds the folder"), the name follows, escaped and in quotes, then `todo` ("rename it").
void check_name(const std::string& name, const std::string& place, const std::string& todo);

}  // namespace fedvg
