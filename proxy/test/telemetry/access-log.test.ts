import { readFileSync } from "node:fs";
import { createLogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import { parseLogDirectives } from "@svc-gateway/common/telemetry/log-level.ts";
import { expect } from "chai";
import fc from "fast-check";
import type { AccessRecord } from "../../src/telemetry/access-record.ts";
import { createAccessLog, type AccessLog, type AccessLogOptions } from "../../src/telemetry/access-log.ts";

const record: AccessRecord = {
  host: "shop.example.com",
  method: "GET",
  path: "/cart/1",
  pattern: "/cart",
  status: 200,
  routeId: "ingress/shop/web:0.0",
  upstream: "shop/web",
  upstreamAddr: "10.0.0.5:8080",
  durationMs: 12,
  bytesSent: 345,
  clientIp: "192.0.2.7",
  attempts: 1,
};

type SetUp = {
  readonly log: AccessLog;
  readonly writes: string[];
  lines(): string[];
};

function setUp(options: Partial<AccessLogOptions> = {}, directives: string = "info"): SetUp {
  const writes: string[] = [];
  const sink = { write: (lines: string) => writes.push(lines) > 0 };
  const parsed = parseLogDirectives(directives);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const log = createAccessLog({
    enabled: true,
    pathMode: "full",
    format: "json",
    levels: createLogLevels(parsed.value),
    sink,
    ...options,
  });
  return {
    log,
    writes,
    lines() {
      return writes.join("").split("\n").slice(0, -1);
    },
  };
}

const writeOne = (changes: Partial<AccessRecord> = {}, options: Partial<AccessLogOptions> = {}): string => {
  const { log, lines } = setUp(options);
  log.write({ ...record, ...changes });
  return lines()[0] ?? "";
};
const parseOne = (changes: Partial<AccessRecord> = {}, options: Partial<AccessLogOptions> = {}) =>
  JSON.parse(writeOne(changes, options)) as Record<string, unknown>;

describe("access log", () => {
  it("the log follows changes of the level of its target", () => {
    const levels = createLogLevels({ level: "info", targets: [] });
    const { log, lines } = setUp({ levels });
    levels.change({ level: "info", targets: [{ prefix: "svc_proxy::access", level: "off" }] });
    log.write(record);
    expect([log.enabled, log.withFields(["host"]).enabled]).to.deep.equal([false, false]);
    levels.change({ level: "info", targets: [] });
    log.write(record);
    expect(log.enabled).to.equal(true);
    expect(lines()).to.have.length(1);
  });

  it("an access record has the fields of the reference page, in their order", () => {
    const { timestamp, ...fields } = parseOne();
    expect(timestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Math.abs(Date.now() - Date.parse(String(timestamp)))).to.be.below(60_000);
    expect(fields).to.deep.equal({
      level: "INFO",
      target: "svc_proxy::access",
      message: "request",
      host: "shop.example.com",
      method: "GET",
      path: "/cart/1",
      status: 200,
      route_id: "ingress/shop/web:0.0",
      upstream: "shop/web",
      upstream_addr: "10.0.0.5:8080",
      duration_ms: 12,
      bytes_sent: 345,
      mirror: false,
      client_ip: "192.0.2.7",
      attempts: 1,
    });
    const page = readFileSync(new URL("../../../docs/reference/access-log.md", import.meta.url), "utf8");
    const table = page.slice(page.indexOf("## Access log"), page.indexOf("## Route identifiers"));
    const documented = Array.from(table.matchAll(/^\| `(\w+)` \| \w+ \| yes/gm), ([, name]) => name);
    expect(
      Object.keys(parseOne({ error: "upstream reset", reason: "upstream-reset", detail: "x" })).slice(4),
    ).to.deep.equal(documented);
  });

  it("an access record has an error only on failure and marks mirror requests", () => {
    expect(parseOne()).to.not.have.property("error");
    expect(parseOne({ error: "connect timeout", mirror: true })).to.include({
      error: "connect timeout",
      mirror: true,
    });
  });

  it("the detail of an error is text of one line, cut like other texts, and absent without one", () => {
    const failure = { error: "authorization service failed", reason: "auth-service-failed" } as const;
    expect(parseOne(failure)).to.not.have.property("detail");
    const detail = 'shop/authz:9000: "status\n500"';
    expect(parseOne({ ...failure, detail })).to.include({ detail });
    expect(String(parseOne({ ...failure, detail: "x".repeat(100_000) })["detail"]).length).to.be.below(
      20_000,
    );
  });

  it("durations in access records are whole milliseconds", () => {
    expect(parseOne({ durationMs: 1.6 })["duration_ms"]).to.equal(2);
  });

  it("the path of an access record depends on the path mode", () => {
    expect(parseOne({}, { pathMode: "pattern" })["path"]).to.equal("/cart");
    expect(parseOne({}, { pathMode: "none" })).to.not.have.property("path");
  });

  it("an access record is one line of valid JSON for any bytes of a client", () => {
    const bytes = fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    });
    fc.assert(
      fc.property(fc.oneof(bytes, fc.string({ unit: "binary" })), (text) => {
        const line = writeOne({
          host: text,
          method: text,
          path: text,
          clientIp: text,
          error: text,
          routeId: text,
        });
        expect(line).to.not.include("\n");
        expect(JSON.parse(line)).to.include({
          host: text,
          method: text,
          path: text,
          client_ip: text,
          error: text,
          route_id: text,
        });
      }),
      { numRuns: 500 },
    );
    expect(parseOne({ path: "/\ud800" })["path"]).to.equal("/\ud800");
  });

  it("values in access records are cut at 8 KiB of UTF-8", () => {
    expect(parseOne({ path: "a".repeat(8192) })["path"]).to.have.length(8192);
    expect(parseOne({ path: "a".repeat(8193) })["path"]).to.have.length(8192);
    const cut = String(parseOne({ path: `a${"€".repeat(5000)}` })["path"]);
    expect(cut).to.match(/^a€+$/);
    expect(Buffer.byteLength(cut)).to.be.within(8190, 8192);
  });

  it("the access log hands each line to its sink at once", () => {
    const { log, writes } = setUp();
    log.write(record);
    log.write({ ...record, path: "/cart/2" });
    expect(writes.map((line) => (JSON.parse(line) as { path: string }).path)).to.deep.equal([
      "/cart/1",
      "/cart/2",
    ]);
  });

  it("lines that share values with earlier ones have their own", () => {
    const { log, lines } = setUp();
    const long = "r".repeat(300);
    const changes: readonly Partial<AccessRecord>[] = [
      {},
      { host: "other.example.com", routeId: "ingress/shop/web:0.1" },
      { method: "POST", upstream: "shop/other", upstreamAddr: "10.0.0.6:8080", clientIp: "192.0.2.8" },
      { mirror: true, clientIp: "192.0.2.8" },
      { routeId: long, upstream: long, upstreamAddr: long, clientIp: long },
      { attempts: 2, error: "upstream reset", reason: "upstream-reset", routeId: long },
      {},
    ];
    for (const change of changes) log.write({ ...record, ...change });
    lines().forEach((line, index) => {
      const {
        host,
        method,
        routeId,
        upstream,
        upstreamAddr,
        clientIp,
        attempts,
        mirror = false,
      } = {
        ...record,
        ...changes[index],
      };
      expect(JSON.parse(line)).to.include({ host, method, upstream, attempts, mirror });
      expect(JSON.parse(line)).to.include({
        route_id: routeId,
        upstream_addr: upstreamAddr,
        client_ip: clientIp,
      });
    });
  });

  it("the access log is off when the flag or the directive of its target says so", () => {
    const silent = [
      setUp({ enabled: false }),
      setUp({}, "info,svc_proxy::access=off"),
      setUp({}, "info,svc_proxy=warn"),
      setUp({}, "error"),
    ];
    for (const { log, lines } of silent) {
      expect(log.enabled).to.equal(false);
      log.write(record);
      expect(lines()).to.deep.equal([]);
    }
    expect(setUp({}, "error,svc_proxy::access=info").log.enabled).to.equal(true);
    expect(setUp({ enabled: false }, "trace,svc_proxy::access=trace").log.enabled).to.equal(false);
  });

  describe("the console format of the access log", () => {
    it("an access record in the console format is one readable line", () => {
      expect(writeOne({}, { format: "console" }).slice(25)).to.equal(
        "INFO  svc_proxy::access: GET shop.example.com /cart/1 200 12ms 345B route_id=ingress/shop/web:0.0 upstream=shop/web upstream_addr=10.0.0.5:8080 client_ip=192.0.2.7 attempts=1",
      );
      expect(
        writeOne(
          { routeId: "", upstream: "", upstreamAddr: "", error: "no route", mirror: true, attempts: 0 },
          { format: "console", pathMode: "none" },
        ).slice(25),
      ).to.equal(
        'INFO  svc_proxy::access: GET shop.example.com - 200 12ms 345B route_id=- upstream=- upstream_addr=- client_ip=192.0.2.7 attempts=0 error="no route" mirror=true',
      );
    });

    it("a client cannot control a terminal, break the line or forge a field through a console line", () => {
      fc.assert(
        fc.property(fc.string({ unit: "binary" }), (text) => {
          const line = writeOne({ path: text, host: text }, { format: "console" });
          // oxlint-disable-next-line no-control-regex
          expect(line).to.not.match(/[\0-\x1f\x7f-\x9f\u2028\u2029]/);
        }),
      );
      expect(writeOne({ path: "/ 500 1ms" }, { format: "console" })).to.include('"/ 500 1ms" 200 12ms');
    });
  });
});
