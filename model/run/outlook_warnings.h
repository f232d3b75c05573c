// What an outlook warns of: options with which a run cannot go well, or that do not do what they seem to.
#pragma once

#include "model/run/outlook.h"
#include "model/run/storm.h"

namespace retrystorm {

// Adds the warnings to an outlook that is otherwise complete.
void warn(Outlook& outlook, const OutlookInput& input, const Storm& storm);

// Parts of that: of retries alone, without any service ...
std::vector<std::string> warnings_of(const RetrySettings& retry);

// ... and of the calls of a service whose capacity is known: their client rate or their connections let
// through less than is wanted, or most of them are hedged. `who`: "the clients send".
void warn_of_limited_calls(Outlook& outlook, const OutlookInput& input, const std::string& who);
void warn_of_hedges(Outlook& outlook);

}  // namespace retrystorm
