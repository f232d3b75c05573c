// Usage: node accepted.mjs FOLDER
//
// Reads lines of JSON, [kind, document], and writes for each a line: empty if a reader of that kind accepts
// the document, else what it says. FOLDER has the packages that tests/libraries/accepted installs.
//
// grpc: a service config, by @grpc/grpc-js itself. istio: an object, by the schemas of Istio's custom resources
// (@kubernetes-models/istio). route, cluster: Envoy's messages VirtualHost and Cluster, by its own .proto
// files (of @grpc/grpc-js-xds), as strictly as protobuf's JSON mapping: names, types, and rules of numbers.
import {createRequire} from "node:module";
import {existsSync} from "node:fs";
import {createInterface} from "node:readline";
import {pathToFileURL} from "node:url";

const folder = process.argv[2];
const require = createRequire(`${folder}/package.json`);

function grpc(document) {
  require("@grpc/grpc-js/build/src/service-config").validateServiceConfig(document);
}

async function istio(document) {
  const version = document.apiVersion.split("/")[1];
  const name = `@kubernetes-models/istio/networking.istio.io/${version}`;
  const path = `${folder}/node_modules/${name}/${document.kind}.js`;
  const models = await import(pathToFileURL(path));
  new models[document.kind](document).validate();
}

let root;

function envoy(type, document) {
  const protobuf = require("protobufjs");
  if (!root) {
    const deps = `${folder}/node_modules/@grpc/grpc-js-xds/deps`;
    const places = ["envoy-api", "xds", "googleapis", "protoc-gen-validate"].map((each) => `${deps}/${each}`);
    root = new protobuf.Root();
    root.resolvePath = (_, target) =>
      places.map((place) => `${place}/${target}`).find(existsSync) ??
      require.resolve(`protobufjs/${target}`);
    root.loadSync(["envoy/config/route/v3/route_components.proto", "envoy/config/cluster/v3/cluster.proto"],
                  {keepCase: true});
    root.resolveAll();
  }
  message(root.lookupType(type), document, type);
}

function refuse(path, why) {
  throw new Error(`${path}: ${why}`);
}

function message(type, value, path) {
  const name = type.fullName;
  if (name === ".google.protobuf.Duration") {
    if (typeof value !== "string" || !/^-?\d+(\.\d{1,9})?s$/.test(value)) refuse(path, `no duration: ${value}`);
    return;
  }
  if (/^\.google\.protobuf\.\w+Value$/.test(name)) {
    scalar(type.fields.value, value, path);
    return;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(path, "no object");
  for (const [key, each] of Object.entries(value)) {
    const field = type.fieldsArray.find((one) => one.name === key);
    if (!field) refuse(path, `no field ${key}`);
    const here = `${path}.${key}`;
    if (field.repeated !== Array.isArray(each)) refuse(here, "one in place of several, or several of one");
    for (const one of [each].flat()) {
      if (field.resolvedType?.fields) message(field.resolvedType, one, here);
      else scalar(field, one, here);
    }
  }
}

function scalar(field, value, path) {
  if (field.resolvedType) {
    if (!(value in field.resolvedType.values)) refuse(path, `no such word: ${value}`);
  } else if (/int|fixed/.test(field.type)) {
    const least = field.type.startsWith("u") ? 0 : -(2 ** 31);
    if (!Number.isInteger(value) || value < least || value >= 2 ** 32) refuse(path, `no ${field.type}: ${value}`);
  } else if (field.type === "double" || field.type === "float") {
    if (typeof value !== "number") refuse(path, `no number: ${value}`);
  } else if (field.type === "bool" ? typeof value !== "boolean" : typeof value !== "string") {
    refuse(path, `no ${field.type}: ${value}`);
  }
}

const readers = {
  grpc,
  istio,
  route: (document) => envoy("envoy.config.route.v3.VirtualHost", document),
  cluster: (document) => envoy("envoy.config.cluster.v3.Cluster", document),
};

for await (const line of createInterface({input: process.stdin})) {
  const [kind, document] = JSON.parse(line);
  let said = "";
  try {
    await readers[kind](document);
  } catch (error) {
    said = String(error.message || error).replaceAll("\n", " ");
  }
  console.log(said);
}
