// ./simulate: the experiment in virtual time, once or many times.
#include "simulate/program.h"

int main(int argc, char** argv) {
  return retrystorm::run_simulate(argc, argv);
}
