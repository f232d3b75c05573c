// Sums and differences of structs of counts. Those that are added are listed once, in the struct's `kSummed`.
#pragma once

#include <cstddef>
#include <tuple>

namespace retrystorm {

template <typename T>
concept Summed = requires {
  T::kSummed;
};

// Calls `change` with each count of `a` and that of `b`: those in a struct, in an array, or these themselves.
template <typename T, typename Change>
void each_count(T& a, const T& b, const Change& change) {
  if constexpr (Summed<T>) {
    std::apply([&](auto... member) { (each_count(a.*member, b.*member, change), ...); },
               T::kSummed);
  } else if constexpr (requires { a.size(); }) {
    for (std::size_t i = 0; i < a.size(); ++i) each_count(a[i], b[i], change);
  } else {
    change(a, b);
  }
}

template <Summed T>
T& operator+=(T& a, const T& b) {
  each_count(a, b, [](auto& count, auto other) { count += other; });
  return a;
}

template <Summed T>
T& operator-=(T& a, const T& b) {
  each_count(a, b, [](auto& count, auto other) { count -= other; });
  return a;
}

template <Summed T>
T operator-(T a, const T& b) {
  return a -= b;
}

}  // namespace retrystorm
