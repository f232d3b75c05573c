// The options of a service that calls others, and those of its calls.
#pragma once

#include <string>

#include "model/base/option_list.h"
#include "model/graph/topology.h"

namespace retrystorm {

void declare_waiting(OptionList& options, Waiting& waiting, std::string help);
void declare_deadline(OptionList& options, DeadlinePropagation& deadline, std::string help);

// How a service makes its calls, but for the calls themselves and the options of any service.
void declare_calling_options(OptionList& options, GraphNode& node);

// The calls of one service to another.
void declare_edge_options(OptionList& options, GraphEdge& edge);

// Clients of one kind.
void declare_clients_options(OptionList& options, GraphEdge& edge);

}  // namespace retrystorm
