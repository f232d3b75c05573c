// Who sends requests to a simulated server, as the server sees it.
#pragma once

#include <cstdint>

#include "model/base/duration.h"
#include "model/service/rejection.h"

namespace retrystorm {

// One attempt of one client (of one request, when arrivals are open).
struct Attempt {
  std::uint32_t client;
  std::uint32_t number;
};

class Caller {
 public:
  // False once it has hung up.
  virtual bool waits_for(const Attempt& attempt) const = 0;

  // The answer to an attempt that it waits for.
  virtual void take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) = 0;

  // There will be no answer to it: its connection was refused, reset, or never made.
  virtual void lose_connection(TimePoint now, const Attempt& attempt) = 0;

  // A word to the machine: the attempt will be asked about soon.
  virtual void expect(const Attempt& attempt) const = 0;

 protected:
  ~Caller() = default;
};

}  // namespace retrystorm
