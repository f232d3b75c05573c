#include "study/threads.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace retrystorm {

std::size_t threads_or_cores(std::size_t threads) {
  return threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

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
    // Held until all threads have started. Otherwise runs could take the memory that further
    // threads need, and fail first with an error that does not name the cause.
    std::mutex starting;
    std::vector<std::thread> others;
    std::unique_lock until_all_are_there(starting);
    try {
      for (std::size_t i = 1; i < threads; ++i) {
        others.emplace_back([&] {
          { const std::scoped_lock wait(starting); }
          work_that_may_fail();
        });
      }
    } catch (const std::exception& error) {
      const std::string what = "cannot start " + std::to_string(threads) + " threads";
      fail(std::make_exception_ptr(std::runtime_error(what + " (see --threads): " + error.what())));
    }
    until_all_are_there.unlock();
    work_that_may_fail();
    for (std::thread& each : others) each.join();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace retrystorm
