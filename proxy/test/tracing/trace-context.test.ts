import { expect } from "chai";
import fc from "fast-check";
import { Fields } from "../../src/message/fields.ts";
import { readTraceContext, readTraceState } from "../../src/tracing/trace-context.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";
const read = (...values: readonly string[]) =>
  readTraceContext(Fields.of(values.flatMap((one) => ["traceparent", one])));

describe("the trace context of a request", () => {
  it("a well-formed traceparent names the trace, the caller's span and its decision", () => {
    expect(read(`00-${traceId}-${parentId}-01`)).to.deep.equal({ traceId, parentId, flags: 1, state: "" });
    expect(read(`00-${traceId}-${parentId}-00`)).to.include({ flags: 0 });
    expect(readTraceContext(Fields.of(["TraceParent", `00-${traceId}-${parentId}-02`]))).to.include({
      flags: 2,
    });
  });

  it("flags that have no meaning yet are not passed on", () => {
    expect(read(`00-${traceId}-${parentId}-ff`)).to.include({ flags: 3 });
  });

  it("a later version is read as far as this one goes", () => {
    expect(read(`cc-${traceId}-${parentId}-01-what-the-future-brings`)).to.include({ traceId, flags: 1 });
    expect(read(`cc-${traceId}-${parentId}-01`)).to.include({ traceId });
  });

  const malformed = [
    "",
    traceId,
    `00-${traceId}-${parentId}`,
    `00-${traceId}-${parentId}-1`,
    `00-${traceId}-${parentId}-01-more`,
    `00-${traceId}-${parentId}-01-`,
    `cc-${traceId}-${parentId}-01more`,
    `ff-${traceId}-${parentId}-01`,
    `0-${traceId}-${parentId}-01`,
    `00-${"0".repeat(32)}-${parentId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${parentId}-01`,
    `00-${traceId}g-${parentId}-01`,
    `00-${traceId}-${parentId}-0x`,
    ` 00-${traceId}-${parentId}-01`,
    `00-${traceId}-${parentId}-01\n`,
    `cc-${traceId}-${parentId}-01-${"x".repeat(300)}`,
  ];
  for (const one of malformed) {
    it(`the traceparent ${JSON.stringify(one).slice(0, 90)} is no context`, () => {
      expect(read(one)).to.equal(undefined);
    });
  }

  it("two lines of traceparent are no context", () => {
    const line = `00-${traceId}-${parentId}-01`;
    expect(read(line, line)).to.equal(undefined);
  });

  it("a context holds nothing but hexadecimal digits, for any bytes of a client", () => {
    const near = fc.stringMatching(/^[\da-f]{2}-[\da-f]{30,34}-[\da-f]{15,17}-[\da-f]{2}(-.*)?$/);
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), near), (line) => {
        const context = read(line);
        if (context === undefined) return;
        expect(context.traceId).to.match(/^[\da-f]{32}$/);
        expect(context.parentId).to.match(/^[\da-f]{16}$/);
      }),
    );
  });
});

describe("tracestate", () => {
  it("lines are joined in order, and empty members left out", () => {
    expect(readTraceState(["a=1, b=2 ", "", "c=3,,"])).to.equal("a=1,b=2,c=3");
    expect(readTraceState(["t61rcwkgmze@nv=x y,foo/*_-=1"])).to.equal("t61rcwkgmze@nv=x y,foo/*_-=1");
  });

  const malformed = [
    "a",
    "=1",
    "A=1",
    "a=1,a=2",
    "a=",
    "a=1=2",
    "a b=1",
    "a=\u00e9",
    "a=\u0000",
    "@nv=1",
    "a:b=1",
  ];
  for (const one of malformed) {
    it(`the tracestate ${JSON.stringify(one)} is dropped as a whole`, () => {
      expect(readTraceState([one])).to.equal("");
      expect(readTraceState(["x=1", one])).to.equal("");
    });
  }

  it("33 members are too many", () => {
    const members = (count: number) => [Array.from({ length: count }, (_, index) => `k${index}=v`).join(",")];
    expect(readTraceState(members(32)).split(",")).to.have.lengthOf(32);
    expect(readTraceState(members(33))).to.equal("");
  });

  it("long members go first and then the last ones, until 512 characters are left", () => {
    const long = `long=${"x".repeat(200)}`;
    const short = (name: string) => `${name}=${"y".repeat(100)}`;
    const all = [short("a"), long, short("b"), short("c"), short("d"), short("e")].join(",");
    expect(readTraceState([all])).to.equal([short("a"), short("b"), short("c"), short("d")].join(","));
  });

  it("what is passed on is bounded and printable, for any bytes of a client", () => {
    const member = fc
      .tuple(fc.stringMatching(/^[a-z]{1,3}$/), fc.stringMatching(/^[ -~]{0,300}$/))
      .map(([k, v]) => `${k}=${v}`);
    fc.assert(
      fc.property(fc.array(fc.oneof(member, fc.string({ unit: "binary" }))), (lines) => {
        expect(readTraceState(lines)).to.match(/^[ -~]{0,512}$/);
      }),
    );
  });
});
