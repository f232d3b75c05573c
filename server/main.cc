// ./server: the service that its clients' retries can overload.
#include "server/program.h"

int main(int argc, char** argv) {
  using namespace retrystorm;
  return run_program<ServerOptions>(
      "An HTTP service that slows down exponentially once too many requests are in it. A connection "
      "carries one request, unless its client asks to keep it (HTTP/1.1 only).",
      "try a lower --max-connections", argc, argv, add_server_options, serve, check_command_line);
}
