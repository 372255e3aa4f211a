import { flag, optionalFlag, requiredFlag } from "./flag.ts";
import {
  choiceType,
  cidrsType,
  durationType,
  endpointType,
  integerType,
  ipAddressType,
  namespaceType,
  objectNameType,
  pathType,
  portMapType,
  sizeType,
  switchType,
  timeoutType,
} from "./flag-types.ts";

const proxy = ["proxy"] as const;
const serving = ["proxy", "standalone"] as const;

const kibibyte = 1024;
const mebibyte = 1024 * 1024;

/** The default ports of the discovery channel, for endpoints without a port. */
export const discoveryPort = 50051;
export const discoveryBootstrapPort = 50052;

/** Flags of the data plane, which serves traffic. */
export const proxyFlags = [
  flag({
    name: "port-map",
    type: portMapType,
    roles: serving,
    defaultValue: [],
    standaloneDefault: [
      { listenerPort: 80, localPort: 8080 },
      { listenerPort: 443, localPort: 8443 },
    ],
    shownDefault: "none",
    meaning:
      "Accept connections for a listener port on another local port; metrics and routes keep the listener port. Local port 0 selects a free port.",
  }),
  flag({
    name: "shared",
    type: switchType,
    roles: proxy,
    defaultValue: false,
    meaning:
      "Serve all shared Gateways and all Ingresses. Exactly one of `--shared` and `--dedicated` is required.",
  }),
  flag({
    name: "dedicated",
    type: switchType,
    roles: proxy,
    defaultValue: false,
    meaning: "Serve one Gateway, named by `--gateway-name` and `--gateway-namespace`.",
  }),
  optionalFlag({
    name: "gateway-name",
    type: objectNameType,
    roles: proxy,
    meaning: "The Gateway of a dedicated proxy.",
  }),
  optionalFlag({
    name: "gateway-namespace",
    type: namespaceType,
    roles: proxy,
    meaning: "The namespace of that Gateway.",
  }),
  requiredFlag({
    name: "discovery-endpoint",
    type: endpointType(discoveryPort),
    roles: proxy,
    meaning: `The controller's snapshot stream; port ${discoveryPort} unless given.`,
  }),
  optionalFlag({
    name: "discovery-bootstrap-endpoint",
    type: endpointType(discoveryBootstrapPort),
    roles: proxy,
    shownDefault: `the same host, port ${discoveryBootstrapPort}`,
    meaning: "The controller's bootstrap endpoint, where the proxy obtains its identity certificate.",
  }),
  flag({
    name: "discovery-sa-token-path",
    type: pathType,
    roles: proxy,
    defaultValue: "/var/run/secrets/svc/discovery-token/token",
    meaning: "File with the service-account token that proves the proxy's identity.",
  }),
  flag({
    name: "discovery-ca-bundle-path",
    type: pathType,
    roles: proxy,
    defaultValue: "/var/run/secrets/svc/trust-bundle/ca.crt",
    meaning: "File with the certificate authorities that the proxy trusts for discovery.",
  }),
  optionalFlag({
    name: "proxy-bind-address",
    type: ipAddressType,
    roles: serving,
    shownDefault: "`::`, else `0.0.0.0`",
    meaning: "Bind address of the listeners.",
  }),
  flag({
    name: "proxy-accept-proxy-protocol",
    type: switchType,
    roles: serving,
    defaultValue: false,
    meaning:
      "Require a PROXY protocol header on Ingress listeners, and on Gateway listeners without a ClientTrafficPolicy, and take the client address from it.",
  }),
  flag({
    name: "proxy-protocol-trusted-cidrs",
    type: cidrsType,
    roles: serving,
    defaultValue: [],
    shownDefault: "any peer",
    meaning: "Peers that may send a PROXY protocol header; connections from others are closed.",
  }),
  flag({
    name: "proxy-workers",
    type: integerType(0, 1024),
    roles: serving,
    defaultValue: 0,
    shownDefault: "0",
    meaning: "Number of worker threads; 0 means one per processor of the CPU limit, at least one.",
  }),
  flag({
    name: "proxy-max-connections",
    type: integerType(0, 10_000_000),
    roles: serving,
    defaultValue: 0,
    shownDefault: "0",
    meaning:
      "Maximum of open client connections in the whole process; further ones are closed immediately. 0 derives it from the memory limit: one for each 128 KiB, at most 50,000. In both cases it is lower where the process may open fewer file descriptors than this needs (docs/features/listeners.md).",
  }),
  flag({
    name: "proxy-max-connections-per-listener",
    type: integerType(0, 10_000_000),
    roles: serving,
    defaultValue: 0,
    shownDefault: "0",
    meaning:
      "Maximum of open client connections per listener port, unless a ClientTrafficPolicy sets one; further ones are closed immediately. 0: only the maximum of the process applies.",
  }),
  flag({
    name: "proxy-shutdown-grace-period",
    type: durationType(),
    roles: serving,
    defaultValue: 30_000,
    meaning: "Time for requests to finish after a termination signal; 0 for none.",
  }),
  flag({
    name: "proxy-shutdown-timeout",
    type: durationType(),
    roles: serving,
    defaultValue: 5000,
    meaning: "Time after the grace period before the remaining requests are aborted; 0 for immediately.",
  }),
  flag({
    name: "proxy-listener-drain-timeout",
    type: timeoutType,
    roles: serving,
    defaultValue: 30_000,
    meaning: "Time for the connections of a removed listener to finish; 0 for no limit.",
  }),
  flag({
    name: "proxy-default-request-timeout",
    type: timeoutType,
    roles: serving,
    defaultValue: 0,
    meaning: "Request timeout of rules without `timeouts`.",
  }),
  flag({
    name: "proxy-default-backend-request-timeout",
    type: timeoutType,
    roles: serving,
    defaultValue: 0,
    meaning: "Backend request timeout of rules without `timeouts`.",
  }),
  flag({
    name: "proxy-connect-timeout",
    type: timeoutType,
    roles: serving,
    defaultValue: 5000,
    meaning: "Timeout for connecting to an upstream; 0 leaves it to the operating system.",
  }),
  flag({
    name: "proxy-tls-handshake-timeout",
    type: timeoutType,
    roles: serving,
    defaultValue: 10_000,
    meaning: "Timeout for a client's TLS handshake; 0 for no limit.",
  }),
  flag({
    name: "proxy-client-header-timeout",
    type: timeoutType,
    roles: serving,
    defaultValue: 15_000,
    meaning: "Timeout for receiving the whole head of a request; 0 for no limit.",
  }),
  flag({
    name: "proxy-client-body-timeout",
    type: timeoutType,
    roles: serving,
    defaultValue: 60_000,
    meaning: "Longest gap between two reads of a request body; 0 for no limit.",
  }),
  flag({
    name: "proxy-client-idle-timeout",
    type: timeoutType,
    roles: serving,
    defaultValue: 75_000,
    meaning: "Idle timeout of client connections without a request; 0 for no limit.",
  }),
  flag({
    name: "proxy-client-write-timeout",
    type: timeoutType,
    roles: serving,
    defaultValue: 60_000,
    meaning:
      "Closes a client connection that reads less than 128 bytes per second of a pending response, measured over this time; 0 for no limit.",
  }),
  flag({
    name: "proxy-stream-idle-timeout",
    type: timeoutType,
    roles: serving,
    defaultValue: 300_000,
    meaning: "Idle timeout of a request, without a byte in either direction; 0 for no limit.",
  }),
  flag({
    name: "proxy-tunnel-idle-timeout",
    type: timeoutType,
    roles: serving,
    defaultValue: 3_600_000,
    meaning:
      "Idle timeout of an upgraded connection, gRPC stream or TCP connection, without a byte in either direction; 0 for no limit.",
  }),
  flag({
    name: "proxy-max-uri-size",
    type: sizeType(kibibyte, mebibyte),
    roles: serving,
    defaultValue: 16 * kibibyte,
    meaning: "Maximum size of the request target; 414 above it.",
  }),
  flag({
    name: "proxy-max-header-size",
    type: sizeType(kibibyte, mebibyte),
    roles: serving,
    defaultValue: 64 * kibibyte,
    meaning: "Maximum size of the request head; 431 above it.",
  }),
  flag({
    name: "proxy-max-headers",
    type: integerType(1, 10_000),
    roles: serving,
    defaultValue: 100,
    meaning: "Maximum number of header fields of a request; 431 above it.",
  }),
  flag({
    name: "http1-codec",
    type: choiceType(["native", "node"]),
    roles: serving,
    defaultValue: "native",
    meaning:
      "What reads and writes HTTP/1 for clients: the proxy's own codec, which is faster, stricter and names each reason of a refusal, or the parser of Node.js (docs/features/http1.md).",
  }),
  flag({
    name: "socket-layer",
    type: choiceType(["handles", "node"]),
    roles: serving,
    defaultValue: "handles",
    meaning:
      "What reads and writes connections of the native codecs, those to backends, and those of TCP routes, with and without TLS: the handles under the sockets of Node.js, which are faster and checked at start, or its public sockets (docs/adr/0037-tcp-handles-by-default.md).",
  }),
  flag({
    name: "proxy-upstream-keepalive-pool-size",
    type: integerType(0, 1_000_000),
    roles: serving,
    defaultValue: 128,
    meaning:
      "Maximum of idle upstream connections in the whole process, at most a quarter of the free file descriptors; 0 keeps none.",
  }),
  flag({
    name: "proxy-retry-buffer-size",
    type: sizeType(0, 64 * mebibyte),
    roles: serving,
    defaultValue: 64 * kibibyte,
    meaning: "Maximum size of a request body that is kept for retries.",
  }),
  flag({
    name: "proxy-via",
    type: switchType,
    roles: serving,
    defaultValue: true,
    meaning: "Add a `Via` header to upstream requests.",
  }),
  flag({
    name: "proxy-tls-min-version",
    type: choiceType(["1.2", "1.3"]),
    roles: serving,
    defaultValue: "1.2",
    meaning: "Minimum TLS version of clients.",
  }),
  flag({
    name: "http2-codec",
    type: choiceType(["native", "node"]),
    roles: serving,
    defaultValue: "native",
    meaning:
      "What reads and writes HTTP/2 of clients and backends: the proxy's own codec, or Node's own module (nghttp2) (docs/features/http2.md).",
  }),
  flag({
    name: "proxy-udp-session-timeout",
    type: timeoutType,
    roles: serving,
    defaultValue: 10_000,
    meaning: "Idle timeout of UDP sessions; 0 for no limit.",
  }),
] as const;
