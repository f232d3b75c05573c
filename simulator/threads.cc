#include "simulator/threads.h"

#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace retrystorm {

void run_on_threads(std::size_t threads, const std::function<void()>& work,
                    const std::function<void()>& abandon) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto fail = [&](const std::exception_ptr& error) {
    {
      const std::scoped_lock lock(mutex);
      if (!failure) failure = error;
    }
    abandon();
  };
  const auto work_that_may_fail = [&] {
    try {
      work();
    } catch (...) {
      fail(std::current_exception());
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work_that_may_fail);
    } catch (const std::system_error& error) {
      fail(std::make_exception_ptr(std::system_error(
          error.code(), "cannot start " + std::to_string(threads) + " threads (see --threads)")));
    }
    work_that_may_fail();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace retrystorm
