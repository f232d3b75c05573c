// Hints to the machine about memory use. They never change a result.
#pragma once

#include <cstddef>

#include "model/base/queues.h"

namespace retrystorm {

// Requests large pages, which speed up random access. Call before the memory's first use. Does
// nothing where there are no large pages.
void prefer_large_pages(void* memory, std::size_t bytes);

}  // namespace retrystorm
