// Work that is shared among threads.
#pragma once

#include <cstddef>
#include <functional>

namespace retrystorm {

// Calls `work` on so many threads at once, the caller's among them, when all have been started, and
// waits for all of them. When one throws, or a thread cannot be started, calls `abandon`, whereupon
// the others are to return soon. Throws what was thrown first, or std::runtime_error with a
// sentence for a person where the threads cannot be started.
void run_on_threads(std::size_t threads, const std::function<void()>& work,
                    const std::function<void()>& abandon);

}  // namespace retrystorm
