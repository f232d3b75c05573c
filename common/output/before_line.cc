#include "common/output/before_line.h"

#include <cmath>

#include "words/words.h"

namespace retrystorm {

std::string before_line(const Outlook& outlook, const std::string& retries, std::size_t workers) {
  Statements all;
  const bool open = outlook.arrivals == Arrivals::kOpen;
  if (!open) all.push_back({"before-clients", {{"clients", outlook.clients}, {"retries", retries}}});
  if (outlook.service) {
    const Outlook::Service& service = *outlook.service;
    const bool limited = service.capacity < Outlook::kUnlimited;
    const bool of_workers = service.kind == Capacity::kWorkers && !service.rate_limited;
    const Statement can{!limited ? "before-unlimited" : of_workers ? "before-workers" : "before-curve",
                        {{"workers", static_cast<double>(workers)}, {"capacity", service.capacity}}};
    all.push_back({"before-load",
                   {{"service", words_of(can)},
                    {"load", outlook.wanted},
                    {"used", ShareOf{limited ? outlook.wanted / service.capacity : 0}}}});
  } else {
    all.push_back({"before-load-alone", {{"load", outlook.wanted}}});
  }
  const Outlook::Failing& failing = outlook.retries.overload();
  const bool too_many = outlook.service && failing.rate > outlook.service->capacity;
  if (std::isfinite(failing.attempts) && failing.attempts > 1) {
    all.push_back({too_many ? "before-attempts-too-many" : "before-attempts",
                   {{"attempts", failing.attempts}, {"rate", failing.rate}}});
  } else if (open) {
    all.push_back({"before-retries", {{"retries", retries}}});
  }
  if (outlook.outage && outlook.outage->length > Duration::zero()) {
    all.push_back({"before-outage",
                   {{"what", in_words(outlook.outage->what)}, {"length", outlook.outage->length}}});
  }
  std::string text;
  for (const Statement& each : all) text += (text.empty() ? "" : " · ") + words_of(each);
  return text;
}

void print_before(std::ostream& out, const std::string& line,
                  const std::vector<std::string>& warnings, const Style& style) {
  if (!line.empty()) out << painted(fitted("", line, style), Tone::kDim, style);
  for (const std::string& each : warnings) {
    out << painted(fitted("warning: ", each, style), Tone::kDoubt, style);
  }
  out << std::flush;
}

}  // namespace retrystorm
