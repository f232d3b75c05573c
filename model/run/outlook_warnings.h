// What an outlook warns of: options with which a run cannot go well, or that do not do what they seem to.
#pragma once

#include "model/run/outlook.h"
#include "model/run/storm.h"

namespace retrystorm {

// Adds the warnings to an outlook that is otherwise complete.
void warn(Outlook& outlook, const OutlookInput& input, const Storm& storm);

}  // namespace retrystorm
