// The two elementary functions that a simulation needs, with the same result on every machine.
//
// The C library's `log` and `exp` differ in the last bit between versions and processors. One bit
// is enough to reorder two events of a long simulation. These functions use only operations that IEEE
// 754 rounds exactly. They agree with the C library within 4 units in the last place.
#pragma once

namespace retrystorm {

// The natural logarithm of a positive, finite, normal number.
double natural_log(double x);

// e to the power of x. Below -708 the result is 0, and above 709.78 it is infinity.
double exponential(double x);

}  // namespace retrystorm
