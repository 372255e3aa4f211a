import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { envoy as findEnvoy } from "../programs.ts";
import { benchHost, grpcHost, hostName, spansPath, type Ports, type Setup } from "../setup.ts";
import type { Subject } from "./subject.ts";

/** Envoy with the filters that a gateway based on it would configure for these routes. */
export const envoy: Subject = {
  name: "envoy",
  missing: () => (findEnvoy() === undefined ? "envoy was not found, and pip could not get it" : undefined),
  configure(setup, ports) {
    mkdirSync(setup.folder, { recursive: true });
    const file = join(setup.folder, "envoy.json");
    writeFileSync(file, JSON.stringify(bootstrapOf(setup, ports)));
    const args = [
      "-c",
      file,
      "--concurrency",
      String(setup.variant.workers),
      "--disable-hot-restart",
      "-l",
      "error",
    ];
    return { command: findEnvoy() ?? "envoy", args };
  },
};

const http = "type.googleapis.com/envoy.extensions.filters.http";
const http2 = { "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions" };

function bootstrapOf(setup: Setup, ports: Ports): object {
  const { backendPort, grpcBackendPort, tls } = setup;
  const secure = {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
      common_tls_context: {
        alpn_protocols: ["h2", "http/1.1"],
        tls_certificates: [
          {
            certificate_chain: { inline_string: readFileSync(tls.certificate, "utf8") },
            private_key: { inline_string: readFileSync(tls.key, "utf8") },
          },
        ],
      },
    },
  };
  const listener = (name: string, port: number, isSecure: boolean): object => ({
    name,
    address: { socket_address: { address: "127.0.0.1", port_value: port } },
    filter_chains: [{ filters: [connectionManager(setup)], ...(isSecure && { transport_socket: secure }) }],
  });
  return {
    static_resources: {
      listeners: [listener("http", ports.http, false), listener("https", ports.https, true)],
      clusters: [cluster("backend", backendPort, false), cluster("grpc", grpcBackendPort, true)],
    },
  };
}

function connectionManager(setup: Setup): object {
  const { variant, folder } = setup;
  const format = {
    timestamp: "%START_TIME%",
    method: "%REQ(:METHOD)%",
    host: "%REQ(:AUTHORITY)%",
    path: "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%",
    status: "%RESPONSE_CODE%",
    bytes_sent: "%BYTES_SENT%",
    duration_ms: "%DURATION%",
    upstream_addr: "%UPSTREAM_HOST%",
    client_ip: "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%",
  };
  const log = {
    name: "envoy.access_loggers.file",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog",
      path: join(folder, "access.log"),
      log_format: { json_format: format },
    },
  };
  return {
    name: "envoy.filters.network.http_connection_manager",
    typed_config: {
      "@type":
        "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
      stat_prefix: "bench",
      codec_type: "AUTO",
      use_remote_address: true,
      normalize_path: true,
      upgrade_configs: [{ upgrade_type: "websocket" }],
      http2_protocol_options: { max_concurrent_streams: 256 },
      route_config: { name: "bench", virtual_hosts: virtualHosts(setup) },
      http_filters: [
        ...(variant.features ? featureFilters(setup) : []),
        { name: "envoy.filters.http.router", typed_config: { "@type": `${http}.router.v3.Router` } },
      ],
      ...(variant.accessLog && { access_log: [log] }),
      ...(variant.tracing && { tracing: tracingOf(setup) }),
    },
  };
}

function virtualHosts({ variant }: Setup): readonly object[] {
  const to = (name: string): object => ({ cluster: name, timeout: "0s" });
  const prefixes = Array.from({ length: variant.paths }, (_, path) => `/svc${path}`);
  const hosts = Array.from({ length: variant.hosts }, (_, host) => {
    const isBench = hostName(host) === benchHost;
    return {
      name: hostName(host),
      domains: [hostName(host), `${hostName(host)}:*`],
      routes: [...prefixes, ...(isBench ? ["/bytes"] : [])].map((prefix) => ({
        match: { path_separated_prefix: prefix },
        route: to("backend"),
      })),
      ...(isBench && variant.features && headerChanges),
    };
  });
  const grpc = { match: { prefix: "/" }, route: to("grpc") };
  return [...hosts, { name: "grpc", domains: [grpcHost, `${grpcHost}:*`], routes: [grpc] }];
}

const headerChanges = {
  request_headers_to_add: [
    { header: { key: "x-bench", value: "request" }, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" },
  ],
  response_headers_to_add: [
    { header: { key: "x-bench", value: "response" }, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" },
  ],
};

const tracingOf = ({ backendPort }: Setup): object => ({
  provider: {
    name: "envoy.tracers.opentelemetry",
    typed_config: {
      "@type": "type.googleapis.com/envoy.config.trace.v3.OpenTelemetryConfig",
      service_name: "bench",
      http_service: {
        http_uri: {
          uri: `http://127.0.0.1:${backendPort}${spansPath}`,
          cluster: "backend",
          timeout: "5s",
        },
      },
    },
  },
});

const featureFilters = ({ token }: Setup): readonly object[] => [
  {
    name: "envoy.filters.http.local_ratelimit",
    typed_config: {
      "@type": `${http}.local_ratelimit.v3.LocalRateLimit`,
      stat_prefix: "bench",
      token_bucket: { max_tokens: 10_000_000, tokens_per_fill: 10_000_000, fill_interval: "1s" },
      filter_enabled: { default_value: { numerator: 100 } },
      filter_enforced: { default_value: { numerator: 100 } },
    },
  },
  {
    name: "envoy.filters.http.jwt_authn",
    typed_config: {
      "@type": `${http}.jwt_authn.v3.JwtAuthentication`,
      providers: {
        bench: {
          issuer: token.issuer,
          local_jwks: { inline_string: JSON.stringify(token.jwks) },
          jwt_cache_config: { jwt_cache_size: 100 },
        },
      },
      rules: [{ match: { prefix: "/" }, requires: { provider_name: "bench" } }],
    },
  },
];

const cluster = (name: string, port: number, isHttp2: boolean): object => ({
  name,
  type: "STATIC",
  connect_timeout: "5s",
  circuit_breakers: {
    thresholds: [{ max_connections: 100_000, max_pending_requests: 100_000, max_requests: 100_000 }],
  },
  load_assignment: {
    cluster_name: name,
    endpoints: [
      {
        lb_endpoints: [
          { endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port } } } },
        ],
      },
    ],
  },
  ...(isHttp2 && {
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        ...http2,
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
  }),
});
