// The exit codes of all programs. docs/output.md has the same table.
#pragma once

#include "common/os/foreign_file.h"

namespace retrystorm {

enum ExitCode {
  kExitHolds = 0,       // the program did its work, and all expectations hold
  kExitFault = 1,       // a fault at run time
  kExitUnreadable = 2,  // a file cannot be read
  kExitBroken = 3,      // an expectation is broken
  kExitUndecided = 4,   // an expectation is neither broken nor known to hold
  // CLI11's codes for a wrong option are above 100, too.
  kExitWrongOptions = 108,  // options that contradict each other
};

}  // namespace retrystorm
