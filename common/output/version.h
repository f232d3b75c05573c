// The version of the programs.
#pragma once

namespace retrystorm {

// "1.0.0"
extern const char* const kVersion;

// The commit that was built: "2f76069a1", or "2f76069a1-dirty" if files differed from it when CMake
// configured the build, or "" if it is not known.
extern const char* const kRevision;

}  // namespace retrystorm
