import { expect } from "chai";
import { createListenerMetrics } from "../../src/listeners/metrics.ts";
import { createProxyMetrics } from "../../src/telemetry/metrics.ts";

describe("the metrics of listeners", () => {
  const linesOf = async (metrics: ReturnType<typeof createProxyMetrics>, name: string): Promise<string[]> =>
    (await metrics.expose()).body
      .split("\n")
      .filter((line) => line.startsWith(`svc_proxy_${name}`) && !line.includes("_bucket"))
      .map((line) => line.slice("svc_proxy_".length));

  it("count connections by listener port", async () => {
    const metrics = createProxyMetrics();
    const events = createListenerMetrics(metrics);
    events.onConnectionOpened("80");
    events.onConnectionOpened("80");
    events.onConnectionClosed("80", 1500);
    expect(await linesOf(metrics, "connection")).to.deep.equal([
      'connections_active{listener="80"} 1',
      'connections_total{listener="80"} 2',
      'connection_duration_seconds_sum{listener="80"} 1.5',
      'connection_duration_seconds_count{listener="80"} 1',
    ]);
  });

  it("count what happens to listeners", async () => {
    const metrics = createProxyMetrics();
    const events = createListenerMetrics(metrics);
    events.onLifecycle("added");
    events.onLifecycle("bind_failed");
    events.onListeners({ serving: 2, draining: 1 });
    events.onDrained(250);
    events.onRequestsForceClosed("shutdown", 3);
    expect(await linesOf(metrics, "listener")).to.include.members([
      'listeners_active{state="serving"} 2',
      'listeners_active{state="draining"} 1',
      'listener_lifecycle_total{event="added"} 1',
      'listener_lifecycle_total{event="bind_failed"} 1',
      'listener_lifecycle_total{event="removed"} 0',
      "listener_drain_duration_seconds_sum 0.25",
    ]);
    expect(await linesOf(metrics, "requests_force_closed")).to.include(
      'requests_force_closed_total{reason="shutdown"} 3',
    );
  });

  it("count handshakes, and those that met a limit", async () => {
    const metrics = createProxyMetrics();
    const events = createListenerMetrics(metrics);
    events.onHandshake({ result: "ok", version: "TLSv1.3" });
    events.onHandshake({ result: "fail", version: "unknown", reason: "timeout" });
    events.onHandshake({ result: "fail", version: "unknown", reason: "too many handshakes" });
    events.onConnectionRefused("443");
    expect(await linesOf(metrics, "tls_handshakes")).to.deep.equal([
      'tls_handshakes_total{result="ok",version="TLSv1.3"} 1',
      'tls_handshakes_total{result="fail",version="unknown"} 2',
    ]);
    expect(await linesOf(metrics, "limits_reached")).to.deep.equal([
      'limits_reached_total{limit="handshake-timeout"} 1',
      'limits_reached_total{limit="handshakes"} 1',
      'limits_reached_total{limit="connections"} 1',
    ]);
  });

  it("show certificates by bucket, and the seconds until the first one of a name expires", async () => {
    const metrics = createProxyMetrics();
    const events = createListenerMetrics(metrics);
    events.onServedNames([{ bucket: "exact", name: "gone.example", notAfterMs: 0 }]);
    events.onServedNames([
      { bucket: "exact", name: "a.example", notAfterMs: 20_000 },
      { bucket: "exact", name: "a.example", notAfterMs: 10_000 },
      { bucket: "wildcard", name: "*.b.example", notAfterMs: 1000 },
    ]);
    events.refresh(5000);
    expect(await linesOf(metrics, "tls_cert")).to.deep.equal([
      'tls_certs_loaded{bucket="exact"} 2',
      'tls_certs_loaded{bucket="wildcard"} 1',
      'tls_certs_loaded{bucket="default"} 0',
      'tls_cert_expiry_seconds{sni="a.example"} 5',
      'tls_cert_expiry_seconds{sni="*.b.example"} -4',
    ]);
  });
});
