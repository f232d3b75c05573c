// ./simulate: the experiment in virtual time, once or many times.
#include "simulator/program.h"

int main(int argc, char** argv) {
  using namespace retrystorm;
  return run_program<SimulatorOptions>(
      "The experiment in virtual time: the clients, the kernel's queue, the server.", argc, argv,
      add_simulator_options, simulate, check);
}
