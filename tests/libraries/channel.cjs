// Usage: node channel.cjs FOLDER serve PORT | call PORT PORT...
//
// With the gRPC that npm has installed in FOLDER. serve: answers calls on PORT, each by one of ten workers in 50 ms. call:
// makes a call for each HTTP request on PORT, over one channel with round_robin to the other ports: 200 if it is OK within
// a second, else 503. Ends after ten minutes.
const http = require('node:http');
const path = require('node:path');
const {createRequire} = require('node:module');

const [folder, role, port, ...others] = process.argv.slice(2);
const grpc = createRequire(path.join(folder, 'any.js'))('@grpc/grpc-js');
const same = bytes => bytes;
setTimeout(() => process.exit(), 600_000);

function serve() {
  const workers = 10;
  const waiting = [];
  let busy = 0;
  const work = () => {
    if (busy === workers || waiting.length === 0) return;
    const answer = waiting.shift();
    ++busy;
    setTimeout(() => {
      --busy;
      answer(null, Buffer.from('OK'));
      work();
    }, 50);
  };
  const server = new grpc.Server();
  server.addService({get: {
    path: '/api/get', requestStream: false, responseStream: false, requestSerialize: same, requestDeserialize: same,
    responseSerialize: same, responseDeserialize: same,
  }}, {get: (_, answer) => {
    waiting.push(answer);
    work();
  }});
  server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), error => {
    if (error) throw error;
  });
}

function call(ports) {
  const client = new grpc.Client(`ipv4:${ports.map(each => `127.0.0.1:${each}`)}`, grpc.credentials.createInsecure(), {
    'grpc.service_config': JSON.stringify({loadBalancingConfig: [{round_robin: {}}]}),
  });
  http.createServer((_, response) => {
    client.makeUnaryRequest('/api/get', same, same, Buffer.alloc(0), {deadline: Date.now() + 1000}, error => {
      response.statusCode = error ? 503 : 200;
      response.end(error ? error.details : 'OK');
    });
  }).listen(Number(port), '127.0.0.1', 4096);
}

role === 'serve' ? serve() : call(others);
