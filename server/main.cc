// ./server: the service that its clients' retries can kill.
#include "server/program.h"

int main(int argc, char** argv) {
  using namespace retrystorm;
  return run_program<ServerOptions>(
      "An HTTP service that slows down exponentially once too many requests are in it.", argc, argv,
      add_server_options, serve);
}
