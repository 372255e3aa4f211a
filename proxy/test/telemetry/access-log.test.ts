import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseLogDirectives } from "@svc-gateway/common/telemetry/log-level.ts";
import type { LogSink } from "@svc-gateway/common/telemetry/log-sink.ts";
import { expect } from "chai";
import fc from "fast-check";
import type { AccessRecord } from "../../src/telemetry/access-line.ts";
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
  readonly written: Promise<void>;
  lines(): string[];
};

function setUp(options: Partial<AccessLogOptions> = {}, directives: string = "info"): SetUp {
  const writes: string[] = [];
  const { promise: written, resolve } = Promise.withResolvers<void>();
  const sink: LogSink = {
    write(lines) {
      writes.push(lines);
      resolve();
      return true;
    },
    droppedLines: () => 0,
    isCongested: () => false,
    flushSync: () => {},
    close: () => Promise.resolve(),
  };
  const parsed = parseLogDirectives(directives);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const log = createAccessLog({
    enabled: true,
    pathMode: "full",
    format: "json",
    directives: parsed.value,
    sink,
    ...options,
  });
  return {
    log,
    writes,
    written,
    lines() {
      void log.close();
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
    const documented = Array.from(table.matchAll(/^\| `(\w+)`/gm), ([, name]) => name);
    expect(Object.keys(parseOne({ error: "upstream reset" })).slice(4)).to.deep.equal(documented);
  });

  it("an access record has an error only on failure and marks mirror requests", () => {
    expect(parseOne()).to.not.have.property("error");
    expect(parseOne({ error: "connect timeout", mirror: true })).to.include({
      error: "connect timeout",
      mirror: true,
    });
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

  it("the access log writes batches of lines at 64 KiB and on flush", () => {
    const { log, writes } = setUp();
    log.write(record);
    expect(writes).to.have.length(0);
    const lineLength = 400;
    for (let count = 0; count < (2 * 64 * 1024) / lineLength + 2; count += 1)
      log.write({ ...record, path: "/".padEnd(130, "x") });
    expect(writes.length).to.be.within(1, 3);
    expect(writes.every((text) => text.endsWith("\n"))).to.equal(true);
    log.flush();
    const written = writes.length;
    log.flush();
    expect(writes).to.have.length(written);
  });

  it("the access log writes a batch by itself after a while", async () => {
    const { log, writes, written } = setUp();
    log.write(record);
    log.write(record);
    // The log's own timer does not keep a process alive.
    const keepAlive = setTimeout(() => {}, 60_000);
    await written;
    clearTimeout(keepAlive);
    await log.close();
    expect(writes).to.have.length(1);
    expect(writes[0]?.split("\n")).to.have.length(3);
  });

  it("the access log loses no line when the process exits", async () => {
    const sources = ["../../src/telemetry/access-log.ts", "../../../common/src/telemetry/log-sink.ts"];
    const [accessLog, logSink] = sources.map((path) =>
      JSON.stringify(fileURLToPath(new URL(path, import.meta.url))),
    );
    const program = `
      import { createAccessLog } from ${accessLog};
      import { createLogSink } from ${logSink};
      const sink = createLogSink({ fd: 1 });
      const log = createAccessLog({ enabled: true, pathMode: "full", format: "json", directives: { level: "info", targets: [] }, sink });
      log.write(${JSON.stringify(record)});
      process.exit(0);`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
    expect(JSON.parse(stdout)).to.include({ path: "/cart/1" });
  });

  it("the access log writes all lines when it is closed", async () => {
    const { log, writes } = setUp();
    log.write(record);
    await log.close();
    expect(writes).to.have.length(1);
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
