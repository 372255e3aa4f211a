import { counter, gauge, histogram } from "./metric-declaration.ts";
import type { MetricSet } from "./metric-set.ts";

/** A label whose values come from configuration or traffic. */
const open: readonly string[] = [];

const listener = { listener: open };
const listenerRoute = { listener: open, route: open };

const requestBuckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Few bounds, because every route has these buckets. */
const firstByteBuckets = [0.01, 0.05, 0.25, 1, 5];
/** Within a host, within a network, and too slow; few, because every route can have these buckets. */
const connectBuckets = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5];
const connectionBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const drainBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120];
const controlBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Metrics of every proxy, shared, dedicated and standalone. */
export const proxyMetrics = {
  requests: counter("svc_proxy_requests_total", "Requests answered.", {
    ...listenerRoute,
    method: open,
    status_code: open,
  }),
  requestDuration: histogram(
    "svc_proxy_request_duration_seconds",
    "Time from the head of a request to the end of its response.",
    requestBuckets,
    listenerRoute,
  ),
  requestBytes: counter(
    "svc_proxy_request_bytes_total",
    "Bytes of request bodies that were read from clients, those of upgraded connections included; counted when the request ends.",
    listenerRoute,
  ),
  responseBytes: counter(
    "svc_proxy_response_bytes_total",
    "Bytes of response bodies for clients, those of upgraded connections included; counted when the request ends.",
    listenerRoute,
  ),
  upstreamFirstByte: histogram(
    "svc_proxy_upstream_first_byte_seconds",
    "Time from the start of an attempt, its connection included, to the head of the response.",
    firstByteBuckets,
    listenerRoute,
  ),
  upstreamConnect: histogram(
    "svc_proxy_upstream_connect_seconds",
    "Time from the start of an attempt to its new connection, the TLS handshake included; attempts on reused connections are not counted.",
    connectBuckets,
    listenerRoute,
  ),
  refusals: counter(
    "svc_proxy_refusals_total",
    "Requests that failed in the proxy, by the filter or part that decided, and by reason; the values are on docs/reference/refusals.md.",
    { filter: open, reason: open },
  ),
  upstreamErrors: counter("svc_proxy_upstream_errors_total", "Upstream attempts that failed, by cause.", {
    ...listenerRoute,
    upstream: open,
    error_type: ["connect", "timeout", "refused", "tls", "5xx", "other"],
  }),
  upstreamRetries: counter(
    "svc_proxy_upstream_retries_total",
    "Retries, by the condition that caused them; the final failing attempt is not counted.",
    {
      ...listenerRoute,
      upstream: open,
      condition: ["connect-failure", "timeout", "5xx", "http-code", "grpc-code", "refused-stream"],
    },
  ),
  upstreamConnections: counter(
    "svc_proxy_upstream_connections_total",
    "Requests by their upstream connection: newly opened, or reused from the idle pool; each request counts once.",
    { state: ["new", "reused"] },
  ),
  upstreamNameQueries: counter(
    "svc_proxy_upstream_name_queries_total",
    "Names of endpoints that were resolved: addresses were found, the name has none, or the query failed and the last addresses are used.",
    { outcome: ["answered", "denied", "failed"] },
  ),
  compressionSkipped: counter(
    "svc_proxy_compression_skipped_total",
    "Responses sent uncompressed because too many others were being compressed.",
    {},
  ),
  mirrorRequests: counter("svc_proxy_mirror_requests_total", "Mirrored requests that were attempted.", {
    route: open,
    upstream: open,
  }),
  activeUpstreams: gauge(
    "svc_proxy_active_upstreams",
    "Usable endpoints of an upstream, a Service as namespace/service.",
    { upstream: open },
    "max",
  ),
  routingTableHosts: gauge(
    "svc_proxy_routing_table_hosts",
    "Host names in the routing table that have routes.",
    {},
    "max",
  ),
  routingTableRoutes: gauge(
    "svc_proxy_routing_table_routes",
    "Routes in the routing table, by the API that defines them.",
    { kind: ["ingress", "gateway"] },
    "max",
  ),
  routingTableRebuilds: counter(
    "svc_proxy_routing_table_rebuilds_total",
    "Routing tables built from a snapshot.",
    { result: ["ok", "error"] },
    "max",
  ),
  routingTableRebuildDuration: histogram(
    "svc_proxy_routing_table_rebuild_duration_seconds",
    "Time to build a routing table from a snapshot.",
    controlBuckets,
    {},
    "max",
  ),
  tlsCertsLoaded: gauge(
    "svc_proxy_tls_certs_loaded",
    "Server names with a TLS certificate, by the way they are selected.",
    { bucket: ["exact", "wildcard", "default"] },
    "max",
  ),
  tlsCertExpiry: gauge(
    "svc_proxy_tls_cert_expiry_seconds",
    "Seconds until a certificate expires, negative once it has; sni is a host, *.x, or * for the default.",
    { sni: open },
    "min",
  ),
  tlsHandshakes: counter("svc_proxy_tls_handshakes_total", "TLS handshakes with clients.", {
    result: ["ok", "fail"],
    version: ["TLSv1.2", "TLSv1.3", "unknown"],
  }),
  connectionsActive: gauge("svc_proxy_connections_active", "Open client connections.", listener),
  connections: counter("svc_proxy_connections_total", "Client connections accepted.", listener),
  connectionDuration: histogram(
    "svc_proxy_connection_duration_seconds",
    "Lifetime of client connections.",
    connectionBuckets,
    listener,
  ),
  listenersActive: gauge(
    "svc_proxy_listeners_active",
    "Listeners that accept connections, or that drain after their removal.",
    { state: ["serving", "draining"] },
    "max",
  ),
  listenerLifecycle: counter(
    "svc_proxy_listener_lifecycle_total",
    "Changes of listeners. bind_failed counts sockets that could not be bound: their port serves nothing.",
    { event: ["added", "removed", "drain_completed", "drain_exceeded", "bind_failed"] },
    "max",
  ),
  listenerDrainDuration: histogram(
    "svc_proxy_listener_drain_duration_seconds",
    "Time from the removal of a listener until its last connection is closed.",
    drainBuckets,
    {},
    "max",
  ),
  requestsForceClosed: counter(
    "svc_proxy_requests_force_closed_total",
    "Requests aborted because their drain timeout was exceeded.",
    {
      reason: ["drain_exceeded", "shutdown"],
    },
  ),
  limitsReached: counter(
    "svc_proxy_limits_reached_total",
    "Connections and requests that were rejected or closed because they reached a limit of the proxy.",
    { limit: open },
  ),
  responseWaitingBytes: gauge(
    "svc_proxy_response_waiting_bytes",
    "Bytes of responses that wait for clients to read them. Reading from backends stops at an eighth of the memory limit.",
  ),
  circuitBreakerState: gauge(
    "svc_proxy_circuit_breaker_state",
    "State of the circuit breaker of an endpoint (ip:port): 0 closed, 1 open, 2 half open.",
    { route: open, upstream: open },
    "max",
  ),
  circuitBreakerRejected: counter(
    "svc_proxy_circuit_breaker_rejected_total",
    "Endpoint selections that skipped an endpoint (ip:port) because its circuit breaker was open.",
    { route: open, upstream: open },
  ),
  circuitBreakerTransitions: counter(
    "svc_proxy_circuit_breaker_transitions_total",
    "State changes of the circuit breaker of an endpoint (ip:port).",
    { route: open, upstream: open, to: ["closed", "open", "half_open"] },
  ),
  connectionReceivedBytes: counter(
    "svc_proxy_connection_received_bytes_total",
    "Bytes from clients of TCP, TLS and UDP routes, counted as they pass; those of datagrams that are dropped included.",
    listenerRoute,
  ),
  connectionSentBytes: counter(
    "svc_proxy_connection_sent_bytes_total",
    "Bytes to clients of TCP, TLS and UDP routes, counted as they pass.",
    listenerRoute,
  ),
  udpSessionsActive: gauge("svc_proxy_udp_sessions_active", "Open UDP sessions.", listener),
  udpSessions: counter("svc_proxy_udp_sessions_total", "UDP sessions opened.", listener),
  udpDatagramsDropped: counter("svc_proxy_udp_datagrams_dropped_total", "UDP datagrams dropped, by reason.", {
    listener: open,
    reason: open,
  }),
  logLinesDropped: counter(
    "svc_proxy_log_lines_dropped_total",
    "Log lines dropped because the reader of the log was too slow.",
  ),
  traceSpansDropped: counter(
    "svc_proxy_trace_spans_dropped_total",
    "Spans that did not get to the collector: the worker or the queue had no room, or the export failed.",
    { reason: ["worker-full", "queue-full", "export-failed"] },
  ),
} as const;

/** Metrics of the supervisor of a proxy's workers. */
export const supervisorMetrics = {
  workers: gauge("svc_proxy_workers", "Worker threads that serve requests."),
  workerRestarts: counter(
    "svc_proxy_worker_restarts_total",
    "Worker threads that were replaced: after an error, because their heap was exhausted, because their event loop was blocked, or because they did not answer.",
    { reason: ["error", "memory", "hang", "terminated"] },
  ),
  traceSpansExported: counter("svc_proxy_trace_spans_exported_total", "Spans that the collector has taken."),
} as const;

/** Metrics of the controller. */
export const controllerMetrics = {
  leader: gauge("svc_controller_leader", "1 while this replica holds the lease."),
  leaderTransitions: counter(
    "svc_controller_leader_transitions_total",
    "Times this replica gained or lost the lease.",
  ),
  reconciles: counter("svc_controller_reconcile_total", "Reconciliations.", {
    controller: open,
    result: ["ok", "error"],
  }),
  reconcileDuration: histogram(
    "svc_controller_reconcile_duration_seconds",
    "Duration of a reconciliation.",
    controlBuckets,
    { controller: open },
  ),
  reconcileErrors: counter("svc_controller_reconcile_errors_total", "Reconciliations that failed.", {
    controller: open,
  }),
  statusPatches: counter("svc_controller_status_patch_total", "Status updates sent to the API server.", {
    kind: open,
    result: ["ok", "error", "conflict"],
  }),
  statusPatchDuration: histogram(
    "svc_controller_status_patch_duration_seconds",
    "Duration of a status update.",
    controlBuckets,
    { kind: open },
  ),
  watchEvents: counter("svc_controller_watch_events_total", "Events received from watches.", {
    kind: open,
    event: ["init_done", "apply", "delete", "restart"],
  }),
  watchErrors: counter("svc_controller_watch_errors_total", "Watches that failed.", { kind: open }),
  routingTableHosts: gauge(
    "svc_controller_routing_table_hosts",
    "Host names with routes in the routing tables of all proxies. Without dedicated Gateways, a lasting difference from the proxies' value means that they serve a stale table.",
  ),
  routingTableRoutes: gauge(
    "svc_controller_routing_table_routes",
    "Routes in the routing table, by the API that defines them.",
    {
      kind: ["ingress", "gateway"],
    },
  ),
  routingTableRebuilds: counter("svc_controller_routing_table_rebuilds_total", "Routing tables built.", {
    result: ["ok", "error"],
  }),
  routingTableRebuildDuration: histogram(
    "svc_controller_routing_table_rebuild_duration_seconds",
    "Time to build a routing table.",
    controlBuckets,
  ),
  snapshotBytes: gauge(
    "svc_controller_snapshot_bytes",
    "Approximate size of a namespace's routes and of the certificates of its Gateways in the snapshot of a scope (shared, or namespace/name of a dedicated Gateway), before anything is left out. Only the ten largest namespaces; the empty namespace is everything else: certificates of Ingresses, endpoints, TLS settings for backends, fetched and inline key sets, and the rest.",
    { scope: open, namespace: open },
  ),
  keySetFetches: counter(
    "svc_controller_key_set_fetches_total",
    "Fetches of the key sets that JwtAuths name; rejected are responses that are no key set.",
    { result: ["ok", "error", "rejected"] },
  ),
  keySetFetchDuration: histogram(
    "svc_controller_key_set_fetch_duration_seconds",
    "Duration of a fetch of a key set, failed ones included.",
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ),
  keySetsFailing: gauge(
    "svc_controller_key_sets_failing",
    "Key sets whose last fetch failed: the keys that were fetched before are used, or none.",
  ),
  unprotectedPaths: gauge(
    "svc_controller_unprotected_paths",
    "Paths of Ingresses that are served without a protection that they ask for, as their class allows (`whenUnprotected: serve`).",
  ),
  keptCertificates: gauge(
    "svc_controller_certificates_kept",
    "TLS Secrets that became unusable and whose last valid certificate is still served.",
  ),
  tlsCertsLoaded: gauge(
    "svc_controller_tls_certs_loaded",
    "Server names with a TLS certificate, by the way they are selected.",
    { bucket: ["exact", "wildcard", "default"] },
  ),
} as const;

/** Metrics of the discovery server, on the controller. */
export const discoveryServerMetrics = {
  connectedProxies: gauge(
    "svc_discovery_connected_proxies",
    "Open streams of proxies; 0 means that no proxy receives updates.",
  ),
  streams: counter(
    "svc_discovery_streams_total",
    "Requested streams. Rejected are wrong wire versions, malformed scopes, and identities that are not authorized for the scope.",
    { result: ["accepted", "rejected"] },
  ),
  proxyBehind: gauge(
    "svc_discovery_proxy_behind_seconds",
    "For how long a connected proxy (namespace/pod) has not acknowledged the latest snapshot of its scope; 0 when it has.",
    { proxy: open },
  ),
  proxyUnknownFields: gauge(
    "svc_discovery_proxy_unknown_fields",
    "How many settings of this release a connected proxy (namespace/pod) of an older one does not know: they have no effect there.",
    { proxy: open },
  ),
  authorityExpiry: gauge(
    "svc_discovery_ca_expiry_seconds",
    "Seconds until the certificate authority of the discovery channel expires; it is renewed before.",
  ),
  acks: counter("svc_discovery_acks_total", "Snapshots acknowledged by proxies."),
  bootstraps: counter(
    "svc_discovery_bootstrap_total",
    "Requests for a workload identity; reason is ok when accepted.",
    {
      result: ["accepted", "rejected"],
      reason: [
        "ok",
        "wire_version",
        "sa_token",
        "token_review_error",
        "invalid_principal",
        "ca_not_ready",
        "malformed_csr",
        "signing_error",
        "internal",
      ],
    },
  ),
  svidsIssued: counter("svc_discovery_svid_issued_total", "Workload identity certificates signed."),
  snapshotMessages: counter("svc_discovery_snapshot_messages_total", "Snapshot messages sent to proxies.", {
    kind: ["full", "delta"],
  }),
} as const;

export type DiscoveryServerMetrics = MetricSet<typeof discoveryServerMetrics>;

/** Metrics of the discovery client, on each proxy. */
export const discoveryClientMetrics = {
  reconnects: counter(
    "svc_discovery_client_reconnects_total",
    "Attempts to reconnect; the first connection is not counted.",
  ),
  state: gauge("svc_discovery_client_state", "0 pending, 1 ready, 2 degraded."),
  bootstraps: counter(
    "svc_discovery_client_bootstrap_total",
    "Attempts to obtain or renew the workload identity.",
    { result: ["success", "failure"] },
  ),
  svidExpiry: gauge(
    "svc_discovery_client_svid_expiry_seconds",
    "Seconds until the workload identity certificate expires.",
  ),
  snapshotTime: gauge(
    "svc_discovery_client_snapshot_timestamp_seconds",
    "When the snapshot that is served was applied, in seconds since 1970; 0 before the first.",
  ),
  snapshots: counter("svc_discovery_client_snapshots_total", "Snapshot messages received.", {
    kind: ["full", "delta"],
    result: ["ok", "nack"],
  }),
} as const;
