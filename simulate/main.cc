// ./simulate: the experiment in virtual time, once or many times.
#include "simulate/program.h"

int main(int argc, char** argv) {
  using namespace retrystorm;
  return run_program<SimulatorOptions>(
      "The experiment in virtual time: the clients, the kernel's queue, the server.",
      "try fewer --clients or --threads, or a shorter --observe", argc, argv, add_simulator_options,
      simulate, check_command_line,
      "  simulate --arrivals=open --rate=170/s --strategy=exponential\n"
      "  simulate --service=workers --workers=20 --service-time=100ms --outage=slow:5 "
      "--expect='down<5%'\n"
      "  simulate --sweep strategy=all --sweep outage-for=5s,20s --runs=100");
}
