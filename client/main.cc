// ./client: many clients that retry, each in its own way of hurting.
#include "client/program.h"

int main(int argc, char** argv) {
  using namespace retrystorm;
  return run_program<ClientOptions>("Many clients of one service, and what their retries do to it.",
                                    argc, argv, add_client_options, run_clients, check);
}
