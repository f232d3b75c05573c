// The commands of the program `retrystorm`.
#pragma once

namespace retrystorm {

struct Command {
  const char* name;
  const char* about;    // a sentence
  const char* example;  // a command line that answers a question
  int (*run)(const Command& command, int argc, const char* const* argv);
};

// Each is defined in the file of its name; import and export are in policy_files.cc.
extern const Command kCheck;
extern const Command kCompare;
extern const Command kExport;
extern const Command kImport;
extern const Command kJobStudy;
extern const Command kMapStudy;
extern const Command kMeasure;
extern const Command kMerge;
extern const Command kRecommend;
extern const Command kRemedies;
extern const Command kSchedule;
extern const Command kServiceOf;
extern const Command kSimulate;
extern const Command kStrategies;

// Runs the command that the first argument names. Returns the exit code.
int run_commands(int argc, const char* const* argv);

}  // namespace retrystorm
