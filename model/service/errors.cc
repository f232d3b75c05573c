#include "model/service/errors.h"

namespace retrystorm {

void declare_options(OptionList& options, ErrorSettings& settings) {
  options.number("error-share", settings.share,
                 "the share of the requests let in that are answered with 500; 0 = none", 0, 1);
  options.choice<ErrorAfter>(
      "error-after", settings.after,
      {{"admission", ErrorAfter::kAdmission}, {"service", ErrorAfter::kService}},
      "answer them at once, or when they have been served like the others");
}

void find_unused(UnusedOptions& unused, const ErrorSettings& settings) {
  if (settings.share == 0)
    find_unused<ErrorSettings>(unused, settings, {}, "without --error-share");
}

}  // namespace retrystorm
