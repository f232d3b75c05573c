#include "model/service/errors.h"

namespace retrystorm {

void declare_options(OptionList& options, ErrorSettings& settings) {
  options.number("error-share", settings.share,
                 "the share of admitted requests that get --error-status; 0 = none", 0, 1);
  options
      .count("error-status", settings.status, "the HTTP status of these errors", kLeastErrorStatus,
             kMostErrorStatus)
      .with_range("400", "599");
  options.choice<ErrorAfter>(
      "error-after", settings.after,
      {{"admission", ErrorAfter::kAdmission}, {"service", ErrorAfter::kService}},
      "whether they are answered when they are admitted, or when they have been served like the others");
}

void find_unused(UnusedOptions& unused, const ErrorSettings& settings) {
  if (settings.share == 0)
    find_unused<ErrorSettings>(unused, settings, {}, "without --error-share");
}

}  // namespace retrystorm
