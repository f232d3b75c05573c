// ./client: many clients that retry.
#include "client/program.h"

int main(int argc, char** argv) {
  using namespace retrystorm;
  return run_program<ClientOptions>("Many clients of one service, and what their retries do to it.",
                                    "try fewer --clients", argc, argv, add_client_options,
                                    run_clients, check_command_line);
}
