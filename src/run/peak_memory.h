#pragma once

namespace fedvg {

/// MB (of 1024 x 1024 bytes) that this process has had in memory at most so far.
double peak_megabytes();

}  // namespace fedvg
