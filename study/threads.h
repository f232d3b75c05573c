// Runs work on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace retrystorm {

// Calls `work` on `threads` threads, including the caller's, once all have been started. Waits for
// all of them. If one throws, or if a thread cannot be started, calls `abandon`, which must make
// the others return soon. Then throws the first exception, or std::runtime_error with a readable
// message if a thread could not be started.
void run_on_threads(std::size_t threads, const std::function<void()>& work,
                    const std::function<void()>& abandon);

// Returns `threads`, or the number of cores if it is 0.
std::size_t threads_or_cores(std::size_t threads);

}  // namespace retrystorm
