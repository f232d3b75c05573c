// The two elementary functions that the model needs, with the same result on every machine.
//
// The C library's `log` and `exp` differ in the last bit between versions and processors, and one
// bit is enough to reorder two events of a long simulation. These use nothing but IEEE 754's exact
// operations, and agree with the C library's within 4 units in the last place.
#pragma once

namespace retrystorm {

// The natural logarithm of a positive, finite, normal number.
double natural_log(double x);

// e to the power of x; 0 below the range of a double, infinity above it.
double exponential(double x);

}  // namespace retrystorm
