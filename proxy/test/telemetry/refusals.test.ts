import { expect } from "chai";
import type { ClientConnection } from "../../src/exchange/client-connection.ts";
import type { AccessRecord } from "../../src/telemetry/access-record.ts";
import { createProxyMetrics } from "../../src/telemetry/metrics.ts";
import { createRefusalRecorder, type Refusal } from "../../src/telemetry/refusals.ts";
import { testListener } from "../http/h1/harness.ts";
import { recordingLog } from "./recording-log.ts";

describe("requests that a front refuses", () => {
  const connection: ClientConnection = {
    ...{ remoteAddress: "192.0.2.7", remotePort: 4711, proxied: false },
    ...{ listener: testListener(), tls: undefined },
  };

  const record = (refusal: Omit<Refusal, "connection">) => {
    const records: AccessRecord[] = [];
    const metrics = createProxyMetrics();
    const observer = { accessLog: recordingLog(records), tracer: undefined };
    createRefusalRecorder(observer, metrics)({ connection, ...refusal });
    return { metrics, record: records[0] };
  };

  it("a refused request is logged and measured with its duration and the bytes of its answer", async () => {
    const refusal = { reason: "header-timeout", status: 408, durationMs: 15_250.4, bytesSent: 20 };
    const { metrics, record: logged } = record(refusal);
    expect(logged).to.deep.include({ status: 408, durationMs: 15_250, bytesSent: 20 });
    const { body } = await metrics.expose();
    expect(body).to.match(/^svc_proxy_request_duration_seconds_sum\{.*\} 15\.25/m);
  });

  it("a refused request that arrived in one piece, and got no body, has neither", () => {
    const { record: logged } = record({ reason: "too-many-headers", status: 431 });
    expect(logged).to.deep.include({ status: 431, durationMs: 0, bytesSent: 0 });
  });
});
