import { expect } from "chai";
import type { MetricDeclaration } from "../../src/telemetry/metric-declaration.ts";
import {
  controllerMetrics,
  discoveryClientMetrics,
  discoveryServerMetrics,
  proxyMetrics,
} from "../../src/telemetry/metric-declarations.ts";
import { registeredMethods } from "../../src/telemetry/registered-methods.ts";
import { processMetrics, threadMetrics } from "../../src/telemetry/process-metrics.ts";

const all: readonly MetricDeclaration[] = [
  proxyMetrics,
  controllerMetrics,
  discoveryServerMetrics,
  discoveryClientMetrics,
  processMetrics,
  threadMetrics,
].flatMap((set): readonly MetricDeclaration[] => Object.values(set));

/** The contract with dashboards and alerts: name, type and labels. */
const contract = `
svc_proxy_requests_total counter listener route method status_code
svc_proxy_request_duration_seconds histogram listener route
svc_proxy_request_bytes_total counter listener route
svc_proxy_response_bytes_total counter listener route
svc_proxy_upstream_first_byte_seconds histogram listener route
svc_proxy_upstream_connect_seconds histogram listener route
svc_proxy_refusals_total counter filter reason
svc_proxy_upstream_errors_total counter listener route upstream error_type
svc_proxy_upstream_retries_total counter listener route upstream condition
svc_proxy_upstream_connections_total counter state
svc_proxy_upstream_name_queries_total counter outcome
svc_proxy_compression_skipped_total counter
svc_proxy_mirror_requests_total counter route upstream
svc_proxy_active_upstreams gauge upstream
svc_proxy_routing_table_hosts gauge
svc_proxy_routing_table_routes gauge kind
svc_proxy_routing_table_rebuilds_total counter result
svc_proxy_routing_table_rebuild_duration_seconds histogram
svc_proxy_tls_certs_loaded gauge bucket
svc_proxy_tls_cert_expiry_seconds gauge sni
svc_proxy_tls_handshakes_total counter result version
svc_proxy_connections_active gauge listener
svc_proxy_connections_total counter listener
svc_proxy_connection_duration_seconds histogram listener
svc_proxy_listeners_active gauge state
svc_proxy_listener_lifecycle_total counter event
svc_proxy_listener_drain_duration_seconds histogram
svc_proxy_requests_force_closed_total counter reason
svc_proxy_limits_reached_total counter limit
svc_proxy_response_waiting_bytes gauge
svc_proxy_circuit_breaker_state gauge route upstream
svc_proxy_circuit_breaker_rejected_total counter route upstream
svc_proxy_circuit_breaker_transitions_total counter route upstream to
svc_proxy_connection_received_bytes_total counter listener route
svc_proxy_connection_sent_bytes_total counter listener route
svc_proxy_udp_sessions_active gauge listener
svc_proxy_udp_sessions_total counter listener
svc_proxy_udp_datagrams_dropped_total counter listener reason
svc_proxy_log_lines_dropped_total counter
svc_proxy_trace_spans_dropped_total counter reason
svc_controller_leader gauge
svc_controller_leader_transitions_total counter
svc_controller_reconcile_total counter controller result
svc_controller_reconcile_duration_seconds histogram controller
svc_controller_reconcile_errors_total counter controller
svc_controller_status_patch_total counter kind result
svc_controller_status_patch_duration_seconds histogram kind
svc_controller_watch_events_total counter kind event
svc_controller_watch_errors_total counter kind
svc_controller_routing_table_hosts gauge
svc_controller_routing_table_routes gauge kind
svc_controller_routing_table_rebuilds_total counter result
svc_controller_routing_table_rebuild_duration_seconds histogram
svc_controller_snapshot_bytes gauge scope namespace
svc_controller_key_set_fetches_total counter result
svc_controller_key_set_fetch_duration_seconds histogram
svc_controller_key_sets_failing gauge
svc_controller_unprotected_paths gauge
svc_controller_certificates_kept gauge
svc_controller_tls_certs_loaded gauge bucket
svc_discovery_connected_proxies gauge
svc_discovery_streams_total counter result
svc_discovery_proxy_behind_seconds gauge proxy
svc_discovery_proxy_unknown_fields gauge proxy
svc_discovery_ca_expiry_seconds gauge
svc_discovery_acks_total counter
svc_discovery_bootstrap_total counter result reason
svc_discovery_svid_issued_total counter
svc_discovery_snapshot_messages_total counter kind
svc_discovery_client_reconnects_total counter
svc_discovery_client_state gauge
svc_discovery_client_bootstrap_total counter result
svc_discovery_client_svid_expiry_seconds gauge
svc_discovery_client_snapshot_timestamp_seconds gauge
svc_discovery_client_snapshots_total counter kind result
svc_build_info gauge release node
process_cpu_seconds_total counter
process_resident_memory_bytes gauge
process_start_time_seconds gauge
svc_event_loop_active_seconds_total counter thread
svc_event_loop_idle_seconds_total counter thread
svc_event_loop_delay_seconds histogram thread
svc_heap_used_bytes gauge thread
svc_heap_limit_bytes gauge thread`;

describe("metric declarations", () => {
  it("the names, types and labels of all metrics are those of the contract", () => {
    const declared = all.map(({ name, type, labels }) => [name, type, ...Object.keys(labels)].join(" "));
    expect(declared).to.deep.equal(contract.trim().split("\n"));
  });

  it("the metric names follow the rules of Prometheus", () => {
    for (const { name, type, help, buckets } of all) {
      expect(name, name).to.match(
        /^(svc_(proxy|controller|discovery|build|event_loop|heap)|process)_[a-z_]+$/,
      );
      expect(name.endsWith("_total"), name).to.equal(type === "counter");
      expect(help, name).to.match(/^[A-Z0-9].*\.$/);
      expect(buckets !== undefined, name).to.equal(type === "histogram");
      expect(buckets ?? [], name).to.deep.equal([...(buckets ?? [])].toSorted((a, b) => a - b));
    }
    expect(new Set(all.map(({ name }) => name)).size).to.equal(all.length);
  });

  it("the histograms have the documented range", () => {
    const range = (declaration: MetricDeclaration) => [declaration.buckets?.[0], declaration.buckets?.at(-1)];
    expect(range(proxyMetrics.requestDuration)).to.deep.equal([0.0025, 10]);
    expect(range(proxyMetrics.connectionDuration)).to.deep.equal([0.05, 300]);
    expect(range(proxyMetrics.listenerDrainDuration)).to.deep.equal([0.1, 120]);
    expect(range(controllerMetrics.reconcileDuration)).to.deep.equal([0.005, 60]);
  });

  it("the registered methods are listed once each", () => {
    expect(registeredMethods).to.include.members([
      "GET",
      "HEAD",
      "POST",
      "PUT",
      "DELETE",
      "PATCH",
      "OPTIONS",
      "PROPFIND",
      "QUERY",
    ]);
    expect(new Set(registeredMethods).size).to.equal(registeredMethods.length);
  });
});
