// What to try next, tried in a few runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "study/campaign.h"
#include "study/cell_result.h"
#include "study/named_options.h"
#include "study/trial_lines.h"

namespace retrystorm {

// The first suggestion that helps the row with these options in a few runs, with what it does:
// "--queue-length=190 (0 of 20 runs down)". If that is a change of the service, also the first of the clients, for
// whoever owns only these. What is `swept` is in the table already. None if there is nothing to try, or it was stopped.
std::vector<std::string> tried_suggestions(const NamedOptions& row, const CellResult& result,
                                           const std::vector<std::string>& swept,
                                           const CampaignOptions& campaign,
                                           const std::function<bool()>& stop);

// Where a row is well, but not in what was tried beside it: what of its clients helps in the worst of these cases,
// too, and what it costs: "--retry-budget=10% (0 of 20 runs down with --rate=440, too; 32 % succeed in the outage, not
// 93 %)". Empty if there is nothing.
std::string suggestion_beside(const ScenarioOptions& row, const CellResult& result,
                              const AnswerTrials& trials, const std::vector<std::string>& swept,
                              const CampaignOptions& campaign, const std::function<bool()>& stop);

// Has it clearly better results for requests than `before`, or for the same ones clearly fewer attempts, and for none of
// the phases and times a clearly worse one?
bool is_clear_gain(const CellResult& now, const CellResult& before);

}  // namespace retrystorm
