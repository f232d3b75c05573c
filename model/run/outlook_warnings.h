// What an outlook warns of: options with which a run cannot go well, or that do not do what they seem to. Their ids have
// words in words/.
#pragma once

#include "model/base/statement.h"
#include "model/run/outlook.h"
#include "model/run/storm.h"

namespace retrystorm {

// Adds the warnings to an outlook that is otherwise complete.
void warn(Outlook& outlook, const Storm& storm);

// Parts of that: of retries alone, without any service ...
Statements warnings_of(const RetrySettings& retry);

// ... and of the calls of a service whose capacity is known: their client rate or their connections let
// through less than is wanted, or most of them are hedged.
Statements warnings_of_limited_calls(const Outlook& outlook);
Statements warnings_of_hedges(const Outlook& outlook);

}  // namespace retrystorm
