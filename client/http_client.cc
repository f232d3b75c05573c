#include "client/http_client.h"

namespace retrystorm {

httplib::Client client_for(const Url& url, Duration patience) {
  httplib::Client client(url.host, url.port);
  client.set_hostname_addr_map({{url.host, url.address}});
  client.set_connection_timeout(patience);
  client.set_read_timeout(patience);
  client.set_write_timeout(patience);
  return client;
}

}  // namespace retrystorm
