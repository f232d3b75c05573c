// ./server: the service that its clients' retries can overload.
#include "server/program.h"

int main(int argc, char** argv) {
  using namespace retrystorm;
  return run_program<ServerOptions>(
      "An HTTP service that slows down exponentially once too many requests are in it.",
      "try a lower --max-connections", argc, argv, add_server_options, serve);
}
