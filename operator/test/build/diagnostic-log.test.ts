import { expect } from "chai";
import { fakeLog, type LogLine } from "../../../common/test/telemetry/fake-log.ts";
import { createDiagnosticLog } from "../../src/build/diagnostic-log.ts";
import type { Diagnostic } from "../../src/translate/finding.ts";
import { createTestClock } from "../support/test-clock.ts";

const finding = (
  reason: string,
  severity: Diagnostic["severity"] = "error",
  message = "wrong",
): Diagnostic => ({
  object: { kind: "Ingress", namespace: "ns", name: "a" },
  severity,
  reason,
  field: "spec",
  message,
});

function setUp() {
  const log = fakeLog();
  const clock = createTestClock();
  return { lines: log.lines, clock, ...createDiagnosticLog({ log, clock }) };
}

/** As short as they can be read. */
const told = (lines: readonly LogLine[]): readonly string[] =>
  lines.map(({ level, fields, message }) => `${level} ${message} ${String(fields["reason"])}`);

const ten = 10_000;

describe("createDiagnosticLog", () => {
  it("tells a finding once while it lasts, that it is gone, and again after that", () => {
    const { lines, report } = setUp();
    report([finding("A")]);
    report([finding("A"), finding("B")]);
    report([finding("B"), finding("B")]);
    report([finding("A"), finding("B")]);
    expect(told(lines)).to.deep.equal([
      "warn finding A",
      "warn finding B",
      "info finding gone A",
      "warn finding A",
    ]);
    expect(lines[0]?.fields).to.deep.equal({
      reason: "A",
      object: "Ingress ns/a",
      field: "spec",
      detail: "wrong",
    });
    expect(lines[2]?.fields).to.deep.equal({ reason: "A", object: "Ingress ns/a", field: "spec" });
  });

  it("leaves what is merely good to know to the debug level", () => {
    const { lines, report } = setUp();
    report([finding("A", "info"), finding("B", "warning")]);
    report([]);
    expect(lines.map(({ level }) => level)).to.deep.equal(["debug", "warn", "debug", "info"]);
  });

  it("says nothing of what is mended while the objects of an application arrive", async () => {
    const { lines, clock, report } = setUp();
    report([finding("ServiceNotFound")]);
    await clock.advance(200);
    report([finding("NoEndpoints", "warning", "no EndpointSlice")]);
    await clock.advance(300);
    report([finding("NoEndpoints", "warning", "none is ready")]);
    await clock.advance(ten - 1);
    report([]);
    await clock.advance(ten);
    expect(lines).to.deep.equal([]);
  });

  it("tells what lasts after ten seconds, and that it is gone", async () => {
    const { lines, clock, report } = setUp();
    report([finding("NoEndpoints", "warning")]);
    await clock.advance(ten - 1);
    report([finding("NoEndpoints", "warning"), finding("A")]);
    expect(told(lines)).to.deep.equal(["warn finding A"]);
    await clock.advance(1);
    expect(told(lines).slice(1)).to.deep.equal(["warn finding NoEndpoints"]);
    report([finding("A")]);
    expect(told(lines).slice(2)).to.deep.equal(["info finding gone NoEndpoints"]);
    report([finding("A"), finding("NoEndpoints", "warning")]);
    await clock.advance(ten);
    expect(told(lines).slice(3)).to.deep.equal(["warn finding NoEndpoints"]);
  });

  it("does not take a finding for gone that only has another cause", async () => {
    const { lines, clock, report } = setUp();
    report([finding("NoEndpoints", "warning", "no EndpointSlice")]);
    await clock.advance(ten);
    report([finding("NoEndpoints", "warning", "none is ready")]);
    await clock.advance(1);
    report([]);
    expect(told(lines)).to.deep.equal(["warn finding NoEndpoints", "info finding gone NoEndpoints"]);
  });

  it("tells nothing after its end", async () => {
    const { lines, clock, report, stop } = setUp();
    report([finding("NoEndpoints", "warning")]);
    stop();
    await clock.advance(ten);
    expect(lines).to.deep.equal([]);
  });

  it("tells a hundred findings of one object and reason, then how many more there are", async () => {
    const { lines, report, clock } = setUp();
    const many = Array.from({ length: 7000 }, (_, index) => ({ ...finding("A"), field: `spec[${index}]` }));
    report([...many, finding("B")]);
    await clock.advance(ten);
    expect(lines).to.have.length(102);
    expect(lines.at(-1)?.message).to.equal("more findings of this kind");
    expect(lines.at(-1)?.fields).to.deep.equal({ reason: "A", object: "Ingress ns/a", findings: 6900 });
    report([finding("B")]);
    expect(lines.slice(102).map(({ message }) => message)).to.deep.equal(
      Array.from({ length: 100 }, () => "finding gone"),
    );
    report([finding("A"), finding("B")]);
    expect(told(lines).at(-1)).to.equal("warn finding A");
  });

  it("counts findings that follow each other at one place once", () => {
    const { lines, report } = setUp();
    for (let index = 0; index < 300; index++) report([finding("A", "error", `wrong ${index}`)]);
    expect(lines).to.have.length(300);
  });
});
