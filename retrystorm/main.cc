// ./retrystorm: studies of many simulated runs, a command each.
#include "retrystorm/commands.h"

int main(int argc, char** argv) {
  return retrystorm::run_commands(argc, argv);
}
