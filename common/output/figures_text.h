// All figures of a run for people: a table of what happened before, in and after the outage, and a list of the others.
// It follows from the JSON of the summary, so that a figure is added in one place.
#pragma once

#include <string>

#include "common/output/style.h"
#include "model/run/run_observer.h"

namespace retrystorm {

// Several lines, the last with its newline.
std::string figures_text(const Summary& summary, const Style& style);

}  // namespace retrystorm
