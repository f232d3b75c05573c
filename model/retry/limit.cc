#include "model/retry/limit.h"

#include <chrono>
#include <string>

namespace retrystorm {

void declare_options(OptionList& options, LimitSettings& settings) {
  constexpr std::uint64_t kMost = 1'000'000'000;
  options.group("Limits: when a request is given up");
  options
      .count_or_none("max-retries", settings.max_retries,
                     "how many times a request may be retried; none = no limit", 0, kMost)
      .with_unit("retries")
      .with_range("0", "20")
      .basic = "Retries";
  std::uint32_t& retries = settings.max_retries;
  Option& attempts = options.text(
      "max-attempts",
      "how many attempts a request may have, the first one counted; none = no limit",
      [&retries](std::string_view text) {
        retries = is_none(text) ? LimitSettings::kUnlimited
                                : static_cast<std::uint32_t>(parse_count(text, 1, kMost + 1) - 1);
      },
      [&retries] {
        return retries == LimitSettings::kUnlimited ? std::string(kNoneWord)
                                                    : std::to_string(retries + 1);
      });
  attempts.kind = Option::Kind::kCount;
  attempts.with_unit("attempts").with_range("1", "20");
  attempts.takes_none = true;
  attempts.least = 1;
  attempts.most = kMost + 1;
  attempts.same_as = "max-retries";
  options
      .duration_or_none("deadline", settings.deadline,
                        "how long a request may take, with all its attempts and waits",
                        std::chrono::milliseconds(1))
      .with_range("1s", "2m")
      .basic = "Retries";
  options.choice<DeadlineCheck>(
      "deadline-check", settings.deadline_check,
      {{"before-wait", DeadlineCheck::kBeforeWait}, {"at-end", DeadlineCheck::kAtEnd}},
      "whether a request whose next wait would end after its deadline is given up before that "
      "wait or at the deadline");
  RetryOn& retry_on = settings.retry_on;
  options
      .text(
          "retry-on",
          "which failures are retried (any other fails the request): statuses, joined by + and "
          "-, transport (refused, reset), timeout, hinted (413, 429, 503 with Retry-After), or the name "
          "of a gRPC status, such as UNAVAILABLE (429+502+503+504+transport)",
          [&retry_on](std::string_view text) { retry_on = parse_retry_on(text); },
          [&retry_on] { return to_string(retry_on); })
      .with_examples({"408+429+5xx-501+transport+timeout", "429+503+transport", "transport"});
}

void find_unused(UnusedOptions& unused, const LimitSettings& settings,
                 const LimitSettings& defaults) {
  if (settings.has_deadline()) return;
  find_unused<LimitSettings>(unused, settings, defaults, "without --deadline", {"deadline-check"});
}

}  // namespace retrystorm
