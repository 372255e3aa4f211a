import { accessFields } from "@svc-gateway/common/values/access-fields.ts";
import { createLogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import { parseLogDirectives } from "@svc-gateway/common/telemetry/log-level.ts";
import { expect } from "chai";
import fc from "fast-check";
import type { AccessDetails, AccessRecord } from "../../src/telemetry/access-record.ts";
import { createAccessLog, type AccessLog, type AccessLogOptions } from "../../src/telemetry/access-log.ts";

const details: AccessDetails = {
  requestId: "0af7651916cd43dd8448eb211c80319c",
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  listener: 443,
  protocol: "HTTP/1.1",
  userAgent: "curl/8.5.0",
  referer: "https://user:secret@shop.example.com/list?token=secret#here",
  bytesReceived: 17,
  tlsVersion: "TLSv1.3",
  tlsServerName: "shop.example.com",
  connectMs: 0.4128,
  firstByteMs: 3,
  attemptMs: 11.25,
};

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
  attempts: 3,
  details,
};

// oxlint-disable-next-line no-control-regex
const controls = /[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/;

const everyField = accessFields.map(({ name }) => name);

function setUp(options: Partial<AccessLogOptions>): { readonly log: AccessLog; readonly lines: string[] } {
  const lines: string[] = [];
  const parsed = parseLogDirectives("info");
  if (!parsed.ok) throw new Error(parsed.error.message);
  const log = createAccessLog({
    enabled: true,
    pathMode: "full",
    format: "json",
    levels: createLogLevels(parsed.value),
    sink: { write: (line) => lines.push(line) > 0 },
    ...options,
  });
  return { log, lines };
}

function lineOf(changes: Partial<AccessRecord>, options: Partial<AccessLogOptions>): string {
  const { log, lines } = setUp(options);
  log.write({ ...record, ...changes });
  return lines.join("");
}

const fieldsOf = (line: string): Record<string, unknown> => {
  const { timestamp, level, target, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
  expect([typeof timestamp, level, target, message]).to.deep.equal([
    "string",
    "INFO",
    "svc_proxy::access",
    "request",
  ]);
  return fields;
};

describe("the fields of access-log lines", () => {
  it("added fields follow the usual ones", () => {
    const usual = fieldsOf(lineOf({}, {}));
    const added = fieldsOf(lineOf({}, { fields: ["+request_id", "+retries", "+upstream_connect_ms"] }));
    expect(added).to.deep.equal({
      ...usual,
      retries: 2,
      request_id: details.requestId,
      upstream_connect_ms: 0.413,
    });
    expect(Object.keys(added).slice(-3)).to.deep.equal(["retries", "request_id", "upstream_connect_ms"]);
  });

  it("a list without signs is all that lines have, in the order of the reference page", () => {
    const line = lineOf({}, { fields: ["status", "protocol", "host"] });
    expect(Object.entries(fieldsOf(line))).to.deep.equal([
      ["host", "shop.example.com"],
      ["status", 200],
      ["protocol", "HTTP/1.1"],
    ]);
  });

  it("usual fields that are chosen one by one have the values of the usual line", () => {
    fc.assert(
      fc.property(
        fc.record({ host: fc.string({ unit: "binary" }), status: fc.integer({ min: 100, max: 599 }) }),
        fc.constantFrom({}, { error: "upstream reset", reason: "upstream-reset", detail: "why" } as const),
        fc.boolean(),
        (changes, failure, mirror) => {
          const change = { ...changes, ...failure, mirror };
          const usual = fieldsOf(lineOf(change, {}));
          delete usual["mirror"];
          expect(fieldsOf(lineOf(change, { fields: ["-mirror"] }))).to.deep.equal(usual);
        },
      ),
    );
  });

  it("every field has the type of the reference page", () => {
    const fields = fieldsOf(
      lineOf({ error: "no route", reason: "no-route", detail: "why" }, { fields: everyField }),
    );
    for (const { name, type } of accessFields) {
      const expected = type === "integer" ? "number" : type;
      expect(typeof fields[name], name).to.equal(expected);
      if (type === "integer") expect(Number.isInteger(fields[name]), name).to.equal(true);
    }
  });

  it("a field of which nothing is known is empty, and times without an upstream are absent", () => {
    const fields = fieldsOf(lineOf({ details: undefined }, { fields: everyField }));
    expect(fields).to.include({ request_id: "", user_agent: "", tls_version: "", protocol: "" });
    expect(fields).to.not.have.any.keys("upstream_connect_ms", "upstream_first_byte_ms", "upstream_ms");
  });

  it("the path mode holds for chosen fields, too", () => {
    expect(fieldsOf(lineOf({}, { fields: ["path"], pathMode: "pattern" }))).to.deep.equal({ path: "/cart" });
    expect(fieldsOf(lineOf({}, { fields: ["path"], pathMode: "none" }))).to.deep.equal({});
  });

  it("a route with a choice of its own changes the fields of the flag, and shares its log", () => {
    const { log, lines } = setUp({ fields: ["host", "status"] });
    const own = log.withFields(["-status", "+protocol"]);
    expect(log.withFields(["+protocol", "-status"])).to.equal(own);
    expect(log.withFields([])).to.equal(log);
    own.write(record);
    expect(fieldsOf(lines.join(""))).to.deep.equal({ host: "shop.example.com", protocol: "HTTP/1.1" });
  });

  it("callers collect only what lines show", () => {
    const shows = (fields: readonly string[]): string => setUp({ fields }).log.shows;
    expect(shows([])).to.equal("usual");
    expect(shows(["+retries", "-host"])).to.equal("usual");
    expect(shows(["+user_agent"])).to.equal("details");
    expect(shows(["+upstream_ms"])).to.equal("times");
    expect(setUp({ format: "combined" }).log.shows).to.equal("details");
  });

  it("a referer is logged without user information, query and fragment", () => {
    expect(fieldsOf(lineOf({}, { fields: ["referer"] }))).to.deep.equal({
      referer: "https://shop.example.com/list",
    });
    const refererOf = (referer: string): unknown =>
      fieldsOf(lineOf({ details: { ...details, referer } }, { fields: ["referer"] }))["referer"];
    expect(refererOf("//a:b@c@host/x")).to.equal("//host/x");
    expect(refererOf("/a@b")).to.equal("/a@b");
    expect(refererOf("?token=secret")).to.equal("");
  });

  it("texts of clients that look like secrets are masked", () => {
    const userAgent = "x Bearer abcdefghijkl eyJhbGciOi.eyJzdWIi.c2ln";
    for (const format of ["json", "console", "combined"] as const) {
      const fields = format === "combined" ? [] : ["user_agent"];
      const line = lineOf({ details: { ...details, userAgent } }, { format, fields });
      expect(line, format).to.include("[redacted]").and.not.include("abcdefghijkl");
      expect(line, format).to.not.include("eyJhbGciOi");
    }
  });
});

describe("the formats of access-log lines", () => {
  const date = /\[\d\d\/[A-Z][a-z][a-z]\/\d{4}:\d\d:\d\d:\d\d \+0000\]/;

  it("the common format is that of web servers", () => {
    const line = lineOf({}, { format: "common" });
    expect(line).to.match(date);
    expect(line.replace(date, "[]")).to.equal('192.0.2.7 - - [] "GET /cart/1 HTTP/1.1" 200 345\n');
  });

  it("the combined format adds referer and user agent", () => {
    expect(lineOf({}, { format: "combined" }).replace(date, "[]")).to.equal(
      '192.0.2.7 - - [] "GET /cart/1 HTTP/1.1" 200 345 "https://shop.example.com/list" "curl/8.5.0"\n',
    );
    expect(
      lineOf({ method: "", path: "", details: undefined }, { format: "combined" }).replace(date, "[]"),
    ).to.equal('192.0.2.7 - - [] "- - -" 200 345 "-" "-"\n');
  });

  it("the quotes and octets of clients are escaped as by web servers", () => {
    const userAgent = 'a"b\\c\n\u00e9';
    expect(lineOf({ details: { ...details, userAgent } }, { format: "combined" })).to.include(
      '"a\\"b\\\\c\\x0a\\xc3\\xa9"\n',
    );
  });

  it("the console format shows added fields by their names, and lines without usual fields nothing else", () => {
    const added = lineOf({}, { format: "console", fields: ["+user_agent", "+request_id"] });
    expect(added).to.match(
      / attempts=3 request_id=0af7651916cd43dd8448eb211c80319c user_agent=curl\/8\.5\.0\n$/,
    );
    expect(lineOf({}, { format: "console", fields: ["status", "host"] }).slice(25)).to.equal(
      "INFO  svc_proxy::access: host=shop.example.com status=200\n",
    );
  });

  it("a JSON line on a terminal cannot control it, and reads back as what the client sent", () => {
    const userAgent = "\x9b31m\x7f\x85\u2028\u202eé";
    const line = lineOf({ host: userAgent, details: { ...details, userAgent } }, { fields: ["+user_agent"] });
    expect(line).to.include('"user_agent":"\\u009b31m\\u007f\\u0085\\u2028\\u202eé"');
    expect(fieldsOf(line)).to.include({ host: userAgent, user_agent: userAgent });
  });

  it("a client cannot end a line or a value in any format, with any fields", () => {
    const text = fc.string({ unit: "binary" });
    const hostile = fc.record({ requestId: text, userAgent: text, referer: text, tlsServerName: text });
    fc.assert(
      fc.property(text, hostile, (value, values) => {
        const change = {
          host: value,
          method: value,
          path: value,
          clientIp: value,
          details: { ...details, ...values },
        };
        for (const format of ["json", "console", "common", "combined"] as const) {
          const fields = format === "json" || format === "console" ? everyField : [];
          const line = lineOf(change, { format, fields });
          expect(line.endsWith("\n"), format).to.equal(true);
          expect(line.slice(0, -1), format).to.not.match(controls);
          if (format === "json") JSON.parse(line);
          if (format === "combined")
            expect(line).to.match(/^\S+ - - \[[^\]]+\] (?:"(?:[^"\\]|\\.)*" ?|\d+ )+\n$/);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("values of clients are cut at 8 KiB in every format", () => {
    const userAgent = "a".repeat(100_000);
    for (const format of ["json", "console", "combined"] as const) {
      const fields = format === "combined" ? [] : ["+user_agent"];
      const line = lineOf({ details: { ...details, userAgent } }, { format, fields });
      expect(line.match(/a{100,}/)?.[0], format).to.have.length(8192);
    }
  });
});
