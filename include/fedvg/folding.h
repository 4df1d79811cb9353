#pragma once

namespace fedvg {

/// Numbers that the loss never depends on, as taps of a kernel that meet no pixel: their gradient
/// is always 0. The engine leaves those of a tensor out of its vectors (engine.live_taps) and,
/// where weight decay moves them, keeps their length along the vector that they started as, which
/// has the l2 norm of them all and is a number like others. What a part of a method says of it:
enum class Folding {
  never,    ///< it moves such numbers itself, or looks at numbers one by one, or at their number
  at_rest,  ///< as long as nothing moves them, so that they are 0 in every gradient and update
  always,   ///< also when they move: linear number by number, with factors of the whole tensor or
            ///< model that follow from l2 norms, so that multiples of a vector stay multiples of it
};

}  // namespace fedvg
