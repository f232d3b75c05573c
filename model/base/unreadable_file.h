// The error of a file that cannot be read.
#pragma once

#include <stdexcept>

namespace retrystorm {

// A file that was named on the command line and cannot be read. Programs exit with 2.
class UnreadableFile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace retrystorm
