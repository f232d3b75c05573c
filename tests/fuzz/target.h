// What a target of libFuzzer is: a function that is given a text, and aborts where something does not hold.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace retrystorm {

void fuzz(std::string_view text);

inline void expect_one_line(std::string_view text) {
  if (text.find('\n') != text.npos) std::abort();
}

}  // namespace retrystorm

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  retrystorm::fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}
