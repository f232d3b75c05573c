// Usage: node calls.cjs LIBRARY FOLDER URL CALLS SILENT_MS
//
// Makes CALLS calls, each a little after the one before, with a library that is installed in FOLDER and has
// its default settings. Waits for their ends. URL is that of a server that always fails. SILENT_MS, if not
// 0, is how long an attempt may take (of gRPC: a call). Prints the library's version.
const {createRequire} = require('node:module');
const path = require('node:path');

const [name, folder, url, calls, silent] = process.argv.slice(2);
const load = createRequire(path.join(folder, 'any.js'));
const timeout = Number(silent);
// All at the same time would keep the only thread busy, which would make the first waits longer.
const inTurn = (call) => Promise.allSettled(Array.from({length: Number(calls)}, async (_, i) => {
  await new Promise((done) => setTimeout(done, 40 * i));
  return call(i);
}));
const version = (of) => load(`./node_modules/${of}/package.json`).version;

// Each returns a promise of one call.
const libraries = {
  openai() {
    const {OpenAI} = load('openai');
    return {
      version: `openai ${version('openai')}`,
      call: (i) => new OpenAI({apiKey: 'x', baseURL: `${url}/${i}`, ...(timeout ? {timeout} : {})}).models.list(),
    };
  },
  anthropic() {
    const {Anthropic} = load('@anthropic-ai/sdk');
    return {
      version: `@anthropic-ai/sdk ${version('@anthropic-ai/sdk')}`,
      call: (i) => new Anthropic({apiKey: 'x', baseURL: `${url}/${i}`, ...(timeout ? {timeout} : {})}).models.list(),
    };
  },
  dynamodb() {
    const {DynamoDBClient, ListTablesCommand} = load('@aws-sdk/client-dynamodb');
    return {
      version: `@aws-sdk/client-dynamodb ${version('@aws-sdk/client-dynamodb')}`,
      // Each with a separate client, and so with a full quota.
      call: () => new DynamoDBClient({
        endpoint: url,
        region: 'x',
        credentials: {accessKeyId: 'x', secretAccessKey: 'x'},
        ...(timeout ? {requestHandler: {requestTimeout: timeout, throwOnRequestTimeout: true}} : {}),
      }).send(new ListTablesCommand({})),
    };
  },
  grpc() {
    const lib = load('@grpc/grpc-js');
    const bytes = {serialize: (x) => x, deserialize: (x) => x};
    const method = {
      path: '/Test/Call', requestStream: false, responseStream: false,
      requestSerialize: bytes.serialize, requestDeserialize: bytes.deserialize,
      responseSerialize: bytes.serialize, responseDeserialize: bytes.deserialize,
    };
    // The example of gRPC's proposal A6, because gRPC has no default.
    const config = JSON.stringify({methodConfig: [{name: [{}], retryPolicy: {maxAttempts: 4,
      initialBackoff: '0.1s', maxBackoff: '1s', backoffMultiplier: 2, retryableStatusCodes: ['UNAVAILABLE']}}]});
    const one = (i) => new Promise((done) => {
      const client = new lib.Client(url, lib.credentials.createInsecure(),
        {'grpc.service_config': config, 'grpc.use_local_subchannel_pool': 1});
      client.makeUnaryRequest(method.path, bytes.serialize, bytes.deserialize, Buffer.alloc(0), new lib.Metadata(),
        timeout ? {deadline: Date.now() + timeout} : {}, () => {
        client.close();
        done();
      });
    });
    return {version: `@grpc/grpc-js ${version('@grpc/grpc-js')}`, call: one};
  },
};

async function main() {
  const library = libraries[name]();
  await inTurn(library.call);
  console.log(JSON.stringify({version: library.version}));
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
