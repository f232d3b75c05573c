// The outcome of one attempt.
#pragma once

namespace retrystorm {

enum class Outcome {
  kOk,        // an answer with a 2xx status within the timeout
  kError,     // any other answer, or none because the connection was refused, reset or closed
  kTimedOut,  // no answer within the timeout
};

}  // namespace retrystorm
