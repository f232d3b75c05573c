#include "common/cli/options.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace retrystorm {
namespace {

constexpr std::array<std::pair<std::string_view, Strategy>, 5> kStrategies{
    {{"fixed", Strategy::kFixed},
     {"linear", Strategy::kLinear},
     {"exponential", Strategy::kExponential},
     {"truncated", Strategy::kTruncated},
     {"responsive", Strategy::kResponsive}}};

constexpr std::size_t kMany = 1'000'000'000;
constexpr double kLarge = 1e9;

const std::string kDuration = "DURATION";
const std::string kNumber = "NUMBER";

std::string in_quotes(const std::string& text) {
  return std::string("'").append(text).append("'");
}

template <typename Number>
Number parse_number(const std::string& text, Number least, Number most, const char* what) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(value >= least && value <= most)) {
    const auto print = [](Number number) { return nlohmann::json(number).dump(); };
    throw std::invalid_argument(in_quotes(text) + " is not " + what + " from " + print(least) +
                                " to " + print(most));
  }
  return value;
}

std::string print_number(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

void refuse_short(const std::string& text, Duration value, Duration least) {
  if (value >= least) return;
  throw std::invalid_argument(
      in_quotes(text) + (least == Duration::zero()
                             ? " is negative (a duration of 0s or more is meant)"
                             : " is too short (at least " + format_duration(least) + " is meant)"));
}

// A small count, for the members that are narrower than std::size_t.
CLI::Option* add_small_count(CLI::App& app, const std::string& name, std::uint32_t& target,
                             const std::string& help, std::uint32_t least) {
  return add_value(
      app, name, "COUNT", std::to_string(target),
      [&target, least](const std::string& text) {
        target = parse_number<std::uint32_t>(text, least, kMany, "a whole number");
      },
      help);
}

}  // namespace

std::string_view to_string(Strategy strategy) {
  for (const auto& [name, value] : kStrategies) {
    if (value == strategy) return name;
  }
  return "";
}

Strategy parse_strategy(const std::string& text) {
  std::string names;
  for (const auto& [name, value] : kStrategies) {
    if (name == text) return value;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  throw std::invalid_argument(in_quotes(text) + " is not a strategy: choose one of " + names);
}

std::size_t parse_count(const std::string& text, std::size_t least, std::size_t most) {
  return parse_number<std::size_t>(text, least, most, "a whole number");
}

CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& type,
                       const std::string& default_text, std::function<void(const std::string&)> set,
                       const std::string& help) {
  const std::string shown = name.substr(0, name.find(','));
  auto* option = app.add_option_function<std::string>(
      name,
      [shown, set = std::move(set)](const std::string& text) {
        try {
          set(text);
        } catch (const std::invalid_argument& error) {
          throw CLI::ValidationError(shown, error.what());
        }
      },
      help);
  return option->type_name(type)->default_str(default_text)->take_last();
}

CLI::Option* add_duration(CLI::App& app, const std::string& name, Duration& target,
                          const std::string& help, Duration least) {
  return add_value(
      app, name, kDuration, format_duration(target),
      [&target, least](const std::string& text) {
        const Duration value = parse_duration(text);
        refuse_short(text, value, least);
        target = value;
      },
      help);
}

CLI::Option* add_optional_duration(CLI::App& app, const std::string& name,
                                   std::optional<Duration>& target, const std::string& help) {
  return add_value(
      app, name, kDuration, target ? format_duration(*target) : "",
      [&target](const std::string& text) {
        const Duration value = parse_duration(text);
        refuse_short(text, value, Duration::zero());
        target = value;
      },
      help);
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::size_t& target,
                       const std::string& help, std::size_t least, std::size_t most) {
  return add_value(
      app, name, "COUNT", std::to_string(target),
      [&target, least, most](const std::string& text) { target = parse_count(text, least, most); },
      help);
}

CLI::Option* add_number(CLI::App& app, const std::string& name, double& target,
                        const std::string& help, double least, double most) {
  return add_value(
      app, name, kNumber, print_number(target),
      [&target, least, most](const std::string& text) {
        target = parse_number<double>(text, least, most, "a number");
      },
      help);
}

CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& target,
                      const std::string& help) {
  return add_value(
      app, name, "TEXT", target, [&target](const std::string& text) { target = text; }, help);
}

void add_service_options(CLI::App& app, ServiceOptions& options, Naming naming) {
  const bool alone = naming == Naming::kAlone;
  auto* curve = app.add_option_group("Service curve");
  add_duration(*curve, "--base-delay,--baseDelay", options.base_delay,
               "delay of a request while concurrency is within the limit");
  add_count(*curve, "--limit", options.limit, "concurrency served without slowing down", 0, kMany);
  add_number(*curve, alone ? "--factor,--curve-factor" : "--curve-factor", options.factor,
             "the delay grows by this factor for every k requests above the limit", 1, kLarge);
  add_number(*curve, "--k", options.k, "requests above the limit that make one factor", 1e-9,
             kLarge);

  auto* queues = app.add_option_group("Queues and admission");
  add_count(*queues, "--backlog", options.backlog,
            "the kernel's accept queue: connections that wait while the server is frozen", 0,
            alone ? 65535 : kMany);
  add_count(*queues, "--max-connections", options.max_connections,
            alone ? "connections accepted at a time; 0 = all the descriptors but a reserve"
                  : "connections accepted at a time; 0 = no limit",
            0, kMany);
  add_number(*queues, "--rate-limit", options.rate_limit,
             "requests a second let in, the others get 429 at once; 0 = off", 0, kLarge);
  add_number(*queues, "--rate-burst", options.rate_burst,
             "requests the rate limit lets in at once; 0 = one second's worth", 0, kLarge);
  add_count(*queues, "--shed-above", options.shed_above,
            "concurrency above which a request gets 503 at once; 0 = off", 0, kMany);
}

void add_workload_options(CLI::App& app, WorkloadOptions& options) {
  RetryOptions& retry = options.retry;
  auto* workload = app.add_option_group("Clients");
  add_count(*workload, "--clients", options.clients, "independent clients", 1, kMany);
  add_duration(*workload, "--lambda,--think-time", options.think_time,
               "mean think time after a success (exponentially distributed)");
  add_duration(*workload, "--timeout", options.timeout,
               "an attempt lasts no longer: connect, send and receive together",
               std::chrono::milliseconds(1));
  add_value(
      *workload, "--seed", "COUNT", "",
      [&options](const std::string& text) {
        options.seed = parse_number<std::uint64_t>(
            text, 0, std::numeric_limits<std::uint64_t>::max(), "a whole number");
      },
      "same seed, same waits; random when not given");

  auto* strategy = app.add_option_group("Retries");
  auto* named = add_value(
      *strategy, "--strategy", "NAME", std::string(to_string(retry.strategy)),
      [&retry](const std::string& text) { retry.strategy = parse_strategy(text); },
      "how to retry: fixed, linear, exponential, truncated or responsive");
  strategy->add_flag_callback(
      "--exponential-backoff",
      [&retry, named] {
        if (named->count() > 0) throw CLI::ExcludesError("--exponential-backoff", "--strategy");
        retry.strategy = Strategy::kExponential;
        named->clear();  // what `options_json` shows is what is in force
        named->default_str("exponential");
      },
      "the same as --strategy=exponential");
  add_small_count(*strategy, "--max-retries", retry.max_retries,
                  "then the request is given up; 0 = never (truncated: after 5)", 0);

  auto* fixed = app.add_option_group("fixed: the same wait for ever");
  add_duration(*fixed, "--fixed-delay,--simple-backoff-delay", retry.fixed_delay,
               "wait before each retry");

  auto* linear = app.add_option_group("linear: the wait grows by a step");
  add_duration(*linear, "--linear-initial", retry.linear_initial, "first wait");
  add_duration(*linear, "--linear-step", retry.linear_step, "what each failure adds");

  auto* exponential = app.add_option_group("exponential: the wait is multiplied, and jittered");
  add_duration(*exponential, "--min-delay", retry.min_delay, "first wait");
  add_number(*exponential, "--factor,--backoff-factor", retry.factor,
             "what each failure multiplies the wait by", 1, kLarge);
  add_duration(*exponential, "--max-delay", retry.max_delay,
               "longest wait, before the jitter (also for linear)");
  add_number(*exponential, "--jitter", retry.jitter,
             "standard deviation of the wait, as a share of it", 0, kLarge);
  add_value(
      *exponential, "--backoff-from", "NAME", "min-delay",
      [&retry](const std::string& text) {
        if (text == "min-delay") {
          retry.backoff_from = BackoffFrom::kMinDelay;
        } else if (text == "think-time") {
          retry.backoff_from = BackoffFrom::kThinkTime;
        } else {
          throw std::invalid_argument(in_quotes(text) +
                                      " is not known: choose min-delay or think-time");
        }
      },
      "start from min-delay, as the article says, or from the last think-time, as the original's "
      "code does");

  auto* truncated = app.add_option_group("truncated: doubled waits and a random part");
  add_duration(*truncated, "--truncated-base", retry.truncated_base, "first wait");
  add_duration(*truncated, "--maximum-backoff", retry.maximum_backoff,
               "longest wait, the random part included");
  add_duration(*truncated, "--random", retry.random, "the random part is uniform up to this");

  auto* responsive =
      app.add_option_group("responsive: a pause that failures lengthen, successes shorten");
  add_duration(*responsive, "--initial-interval", retry.initial_interval,
               "first pause; under it the pause ends", Duration(1));
  add_duration(*responsive, "--max-interval", retry.max_interval, "longest pause", Duration(1));
  add_number(*responsive, "--up-multiplier", retry.up_multiplier,
             "what each failure multiplies the pause by", 1, kLarge);
  add_number(*responsive, "--down-multiplier", retry.down_multiplier,
             "what a step down multiplies the pause by", 0, 1);
  add_small_count(*responsive, "--down-threshold", retry.down_threshold,
                  "successes that make a step down", 1);
  add_number(*responsive, "--randomization", retry.randomization,
             "each new pause is drawn from this share around it", 0, 1);
  add_duration(*responsive, "--max-randomization", retry.max_randomization,
               "but from no more than this around it");
}

void set_up_app(CLI::App& app) {
  app.set_version_flag("--version", "retrystorm " RETRYSTORM_VERSION);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.set_config("--config", "", "read options from this file (INI or TOML; named as here)");
  app.get_formatter()->column_width(44);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    std::string line = error.what();
    line.resize(std::min(line.size(), line.find('\n')));
    return line + " (see --help)\n";
  });
}

std::optional<int> parse(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
}

std::string command_line(int argc, const char* const* argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) {
    std::string word = argv[i];
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                                            "XYZ0123456789_./:=,+-@%") == std::string::npos;
    if (!plain) {
      for (std::size_t at = 0; (at = word.find('\'', at)) != std::string::npos; at += 4) {
        word.replace(at, 1, "'\\''");
      }
      word = in_quotes(word);
    }
    line += (i == 0 ? "" : " ") + word;
  }
  return line;
}

nlohmann::ordered_json options_json(const CLI::App& app) {
  auto values = nlohmann::ordered_json::object();
  for (const CLI::Option* option : app.get_options()) {
    if (option == app.get_help_ptr() || option == app.get_version_ptr() ||
        option == app.get_config_ptr()) {
      continue;
    }
    std::string name = option->get_single_name();
    std::replace(name.begin(), name.end(), '-', '_');
    if (option->get_expected_max() == 0) {
      values[name] = option->count() > 0;
      continue;
    }
    if (option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll) {
      if (option->count() > 0) values[name] = option->results();  // each of them counts
      continue;
    }
    const std::string text =
        option->count() > 0 ? option->results().back() : option->get_default_str();
    if (text.empty()) continue;
    const auto number = nlohmann::ordered_json::parse(text, nullptr, false);
    if (option->get_type_name() == kDuration) {
      values[name] = format_duration(parse_duration(text));
    } else if (number.is_number()) {
      values[name] = number;
    } else {
      values[name] = text;
    }
  }
  for (const CLI::App* group : app.get_subcommands([](const CLI::App* sub) {
         return sub->get_name().empty();  // option groups are nameless
       })) {
    values.update(options_json(*group));
  }
  return values;
}

}  // namespace retrystorm
