// What was measured of a service, and the settings that follow.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/output/json_text.h"
#include "model/base/duration.h"
#include "model/base/statement.h"
#include "retrystorm/service_fit.h"
#include "study/named_options.h"

namespace retrystorm {

struct MeasuredService {
  std::string url{};  // or the file of the steps
  Duration timeout{0};
  bool keeps_connections = false;  // it was asked on kept connections
  std::vector<LoadStep> steps{};
  std::optional<Statement> stopped{};  // by which rule everything ended
  std::optional<Statement> enough{};   // by which rule only the rise of the load ended
  std::optional<FittedService> fit{};
  // It turned requests away: how, with how many clients, and the most requests in it.
  std::optional<Statement> rejects{};
  std::size_t rejected_clients = 0;
  double most_inside = 0;
  // Does it serve requests whose clients have hung up? By so many that hung up.
  std::optional<bool> serves_abandoned{};
  double hung_up = 0;
  std::map<std::size_t, double> queued{};  // connections in the accept queue, by the clients
  std::size_t backlog = 0;                 // 0: not known
  std::string accepts{};                   // "all", "when-free"; empty: not known
  bool kept = false;                       // it keeps connections
  std::optional<Duration> kept_for{}, kept_at_least{};

  // Set by `judge`.
  bool known = false;  // settings follow
  Statement headline{};
  Statements findings{};
  Statements doubts{};
};

// Says what was found, and whether that is enough for settings.
void judge(MeasuredService& measured);

// As options of `simulate`. Of a service that is known.
NamedOptions settings_of(const MeasuredService& measured);
// The same as a settings file, each with how it was found. Without the last line's end.
std::string settings_text(const MeasuredService& measured);

// What was found, as one line of JSON (docs/output.schema.json, measured).
Json measured_json(const MeasuredService& measured);

// Steps as CSV: clients,ok_per_second,mean_seconds,p50_seconds,p95_seconds,cv,answers,error_share. Without the last line's
// end.
std::string steps_table(const std::vector<LoadStep>& steps);

// Steps from a table of them (at least the first three columns, found by name), from k6's JSON lines, and from vegeta's:
// of these two each window of a twentieth of the run is a step, whose concurrency is the sum of the times by its length.
// Throw BadFile.
std::vector<LoadStep> steps_of_table(std::string_view text);
std::vector<LoadStep> steps_of_k6(std::string_view text);
std::vector<LoadStep> steps_of_vegeta(std::string_view text);

}  // namespace retrystorm
