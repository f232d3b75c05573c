// The sentences of an outlook: the one place where they are. Each names the options that it hangs on.
#pragma once

#include <string>

#include "model/run/outlook.h"

namespace retrystorm {

std::string service_sentence(const Outlook& outlook);     // what it can do, and the load
std::string attempts_sentence(const Outlook& outlook);    // how many, if all fail
std::string storm_sentence(const Outlook& outlook);       // can it sustain itself?
std::string outage_sentence(const Outlook& outlook);      // what comes meanwhile
std::string herd_sentence(const Outlook& outlook);        // clients that come back together
std::string processes_sentence(const Outlook& outlook);   // how many, and their budgets
std::string connection_sentence(const Outlook& outlook);  // kept ones
std::string timeout_sentence(const Outlook& outlook);     // from when on answers come too late
std::string waits_sentence(const Outlook& outlook);       // before retries

// Is each client, or request, a process of its own?
bool has_process_each(const Outlook& outlook);

// "26 %"
std::string percent_of(double share);
// "1 request", "1,200 requests"
std::string counted(double number, const std::string& noun);

}  // namespace retrystorm
