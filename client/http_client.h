// Connections beside those of the experiment: to the server's admin port.
#pragma once

#include <httplib.h>

#include "client/url.h"
#include "model/base/duration.h"

namespace retrystorm {

// For the host and port of the URL, whose address is known: no name server is asked again. No part
// of an exchange (to connect, to write, to wait for what is read next) takes longer than this.
httplib::Client client_for(const Url& url, Duration patience);

}  // namespace retrystorm
