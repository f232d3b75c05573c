// What is said as something is refused.
#pragma once

#include <stdexcept>
#include <string>

namespace retrystorm::test {

// The message of the error of this kind, or empty if there is none. Errors of other kinds pass.
template <typename Error = std::invalid_argument, typename Work>
std::string refusal_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace retrystorm::test
