import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { expect } from "chai";
import fc from "fast-check";
import { decodeRecords } from "../../src/tracing/encoded-spans.ts";
import type { TraceIdentity } from "../../src/tracing/trace-identity.ts";
import { decodeExport } from "./collector.ts";
import { collected, encodeSpans, type SpanRecord } from "./span-records.ts";

const hex = (digits: number): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(..."0123456789abcdef"), { minLength: digits, maxLength: digits })
    .map((all) => all.join(""));

/** Texts of characters of every size. Some are longer than a length of one byte can express. */
const text = fc.oneof(fc.string({ unit: "grapheme", maxLength: 300 }), fc.string({ maxLength: 1024 }));
const time = fc.integer({ min: 0, max: 4e9 * 1000 * 16 }).map((sixteenths) => sixteenths / 16);
const attribute = fc.oneof(
  text,
  fc.boolean(),
  fc.nat(),
  fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Number.isInteger(number)),
);

const record: fc.Arbitrary<SpanRecord> = fc.record({
  spanId: hex(16),
  parentId: fc.option(hex(16), { nil: undefined }),
  isParentRemote: fc.boolean(),
  kind: fc.constantFrom("server", "client"),
  name: text,
  startMs: time,
  endMs: time,
  attributes: fc.dictionary(
    fc.string({ minLength: 1, maxLength: 40 }).filter((name) => name !== "__proto__"),
    attribute,
    {
      noNullPrototype: true,
    },
  ),
  error: fc.option(text, { nil: undefined }),
});

const identity: fc.Arbitrary<TraceIdentity> = fc.record({
  traceId: hex(32),
  spanId: hex(16),
  caller: fc.option(
    fc.record({
      traceId: hex(32),
      parentId: hex(16),
      flags: fc.nat(3),
      state: fc.constantFrom("", "a=1,b=2"),
    }),
    { nil: undefined },
  ),
  flags: fc.constantFrom(0, 1, 3),
  isSampled: fc.constant(true),
});

/** The span as the exporters of OpenTelemetry encode it. */
function official({ traceId, flags, caller }: TraceIdentity, one: SpanRecord): Uint8Array {
  const state = caller?.state ?? "";
  const context = {
    traceId,
    spanId: one.spanId,
    traceFlags: flags,
    ...(state !== "" && { traceState: { serialize: () => state } }),
  };
  const resource = { attributes: { "service.name": "edge" }, asyncAttributesPending: false };
  const span = {
    name: one.name,
    kind: { server: 1, client: 2 }[one.kind],
    spanContext: () => context,
    ...(one.parentId !== undefined && {
      parentSpanContext: {
        traceId,
        spanId: one.parentId,
        traceFlags: flags,
        isRemote: one.isParentRemote,
      },
    }),
    startTime: hrTime(one.startMs),
    endTime: hrTime(one.endMs),
    status: one.error === undefined ? { code: 0 } : { code: 2, message: one.error },
    attributes: one.attributes,
    links: [],
    events: [],
    resource,
    instrumentationScope: { name: "svc-gateway" },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
  return ProtobufTraceSerializer.serializeRequest([span as never]) ?? new Uint8Array();
}

const hrTime = (milliseconds: number): [number, number] => {
  const seconds = Math.floor(milliseconds / 1000);
  return [seconds, Math.round((milliseconds - seconds * 1000) * 1e6)];
};

describe("SpanWriter", () => {
  it("a collector reads of a span what it would read of it from OpenTelemetry's own exporter", () => {
    fc.assert(
      fc.property(identity, record, (of, span) => {
        const isRemote = span.parentId !== undefined && span.isParentRemote;
        const given = { ...span, isParentRemote: isRemote };
        const [encoded] = collected(encodeSpans(of, [given]));
        const [expected] = decodeExport(official(of, given));
        expect(encoded).to.deep.equal(expected);
      }),
    );
  });

  it("the spans of several requests are read one after another from what waits in a ring", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(identity, fc.array(record, { maxLength: 4 })), { maxLength: 4 }),
        (all) => {
          const records = Buffer.concat(all.map(([of, spans]) => Buffer.from(encodeSpans(of, spans))));
          expect([...decodeRecords(records)].map(({ count }) => count)).to.deep.equal(
            all.map(([, spans]) => spans.length),
          );
          expect(collected(records).map(({ traceId, spanId }) => [traceId, spanId])).to.deep.equal(
            all.flatMap(([{ traceId }, spans]) => spans.map(({ spanId }) => [traceId, spanId])),
          );
        },
      ),
    );
  });

  it("a text that is no Unicode, or longer than 1024 characters, does not break the message that it is in", () => {
    const of = {
      traceId: "1".repeat(32),
      spanId: "2".repeat(16),
      caller: undefined,
      flags: 1,
      isSampled: true,
    };
    const attributes = { lone: "a\ud800b", long: "x".repeat(100_000), end: "\n\u0000" };
    const span: SpanRecord = {
      ...({
        spanId: "2".repeat(16),
        parentId: undefined,
        isParentRemote: false,
        kind: "server",
        name: "GET",
      } as const),
      ...{ startMs: 1, endMs: 2, attributes, error: undefined },
    };
    const [encoded] = collected(encodeSpans(of, [span]));
    expect(encoded?.attributes).to.deep.equal({ lone: "a\ufffdb", long: "x".repeat(1024), end: "\n\u0000" });
  });
});
