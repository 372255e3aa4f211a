import { readFileSync } from "node:fs";
import { createLogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import { parseLogDirectives } from "@svc-gateway/common/telemetry/log-level.ts";
import { expect } from "chai";
import fc from "fast-check";
import { type ConnectionRecord, createConnectionLog } from "../../src/telemetry/connection-log.ts";

const record: ConnectionRecord = {
  protocol: "tls",
  listener: 443,
  serverName: "db.example.com",
  routeId: "tlsroute/ns/db:0",
  upstream: "ns/db",
  upstreamAddr: "10.0.0.5:5432",
  clientIp: "192.0.2.7",
  durationMs: 12.4,
  bytesReceived: 3,
  bytesSent: 4,
  attempts: 1,
  failure: { error: "connection refused", reason: "upstream-refused" },
};

function linesOf(
  one: ConnectionRecord,
  format: "json" | "console",
  directives = "info",
  enabled = true,
): readonly string[] {
  const lines: string[] = [];
  const parsed = parseLogDirectives(directives);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const sink = { write: (line: string) => lines.push(line) > 0 };
  createConnectionLog({ enabled, format, levels: createLogLevels(parsed.value), sink })?.(one);
  return lines;
}

describe("lines of connections", () => {
  it("a line has the fields of the reference page, in their order", () => {
    const [line = ""] = linesOf(record, "json");
    const { timestamp, ...fields } = JSON.parse(line) as Record<string, unknown>;
    expect(timestamp).to.be.a("string");
    expect(Object.entries(fields)).to.deep.equal([
      ["level", "INFO"],
      ["target", "svc_proxy::access"],
      ["message", "connection"],
      ["protocol", "tls"],
      ["listener", 443],
      ["tls_server_name", "db.example.com"],
      ["route_id", "tlsroute/ns/db:0"],
      ["upstream", "ns/db"],
      ["upstream_addr", "10.0.0.5:5432"],
      ["duration_ms", 12],
      ["bytes_received", 3],
      ["bytes_sent", 4],
      ["error", "connection refused"],
      ["reason", "upstream-refused"],
      ["client_ip", "192.0.2.7"],
      ["attempts", 1],
    ]);
    const page = readFileSync(new URL("../../../docs/reference/access-log.md", import.meta.url), "utf8");
    const table = page.slice(page.indexOf("## Connections"), page.indexOf("## Route identifiers"));
    const names = Array.from(table.matchAll(/^\| (`[^|]*`) /gm), ([, cell = ""]) => cell.split("`, `"));
    expect(names.flat().map((name) => name.replaceAll("`", ""))).to.deep.equal(Object.keys(fields).slice(3));
  });

  it("a connection that has not failed has neither error nor reason", () => {
    const [line = ""] = linesOf({ ...record, failure: undefined }, "json");
    expect(JSON.parse(line)).to.not.have.any.keys("error", "reason");
  });

  it("a readable line has the same fields", () => {
    const [line = ""] = linesOf({ ...record, failure: undefined, upstream: "" }, "console");
    expect(line.slice(25)).to.equal(
      "INFO  svc_proxy::access: connection protocol=tls listener=443 tls_server_name=db.example.com route_id=tlsroute/ns/db:0 upstream=- upstream_addr=10.0.0.5:5432 duration_ms=12 bytes_received=3 bytes_sent=4 client_ip=192.0.2.7 attempts=1\n",
    );
  });

  it("a server name cannot end a line, in any format", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (serverName) => {
        const [json = ""] = linesOf({ ...record, serverName }, "json");
        expect(JSON.parse(json)).to.include({ tls_server_name: serverName });
        for (const line of [json, ...linesOf({ ...record, serverName }, "console")]) {
          expect(line.indexOf("\n")).to.equal(line.length - 1);
        }
      }),
    );
  });

  it("no line is written where the flag or the directive says so", () => {
    expect(linesOf(record, "json", "info", false)).to.deep.equal([]);
    expect(linesOf(record, "json", "info,svc_proxy::access=off")).to.deep.equal([]);
  });
});
