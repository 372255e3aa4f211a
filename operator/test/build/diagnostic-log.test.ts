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

/** The level, message and reason of each line. */
const summaries = (lines: readonly LogLine[]): readonly string[] =>
  lines.map(({ level, fields, message }) => `${level} ${message} ${String(fields["reason"])}`);

const ten = 10_000;

describe("createDiagnosticLog", () => {
  it("a finding is logged once while it lasts, when it is resolved, and again when it returns", () => {
    const { lines, report } = setUp();
    report([finding("A")]);
    report([finding("A"), finding("B")]);
    report([finding("B"), finding("B")]);
    report([finding("A"), finding("B")]);
    expect(summaries(lines)).to.deep.equal([
      "warn finding A",
      "warn finding B",
      "info finding resolved A",
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

  it("informational findings are logged at debug level", () => {
    const { lines, report } = setUp();
    report([finding("A", "info"), finding("B", "warning")]);
    report([]);
    expect(lines.map(({ level }) => level)).to.deep.equal(["debug", "warn", "debug", "info"]);
  });

  it("a finding that is resolved while the objects of an application arrive is not logged", async () => {
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

  it("a transient finding that lasts ten seconds is logged, and so is its resolution", async () => {
    const { lines, clock, report } = setUp();
    report([finding("NoEndpoints", "warning")]);
    await clock.advance(ten - 1);
    report([finding("NoEndpoints", "warning"), finding("A")]);
    expect(summaries(lines)).to.deep.equal(["warn finding A"]);
    await clock.advance(1);
    expect(summaries(lines).slice(1)).to.deep.equal(["warn finding NoEndpoints"]);
    report([finding("A")]);
    expect(summaries(lines).slice(2)).to.deep.equal(["info finding resolved NoEndpoints"]);
    report([finding("A"), finding("NoEndpoints", "warning")]);
    await clock.advance(ten);
    expect(summaries(lines).slice(3)).to.deep.equal(["warn finding NoEndpoints"]);
  });

  it("a finding whose cause changes is not logged as resolved", async () => {
    const { lines, clock, report } = setUp();
    report([finding("NoEndpoints", "warning", "no EndpointSlice")]);
    await clock.advance(ten);
    report([finding("NoEndpoints", "warning", "none is ready")]);
    await clock.advance(1);
    report([]);
    expect(summaries(lines)).to.deep.equal(["warn finding NoEndpoints", "info finding resolved NoEndpoints"]);
  });

  it("a protection of another controller that has no effect is logged as an error, other annotations as warnings", () => {
    const { lines, report } = setUp();
    report([finding("ForeignAnnotation"), finding("ForeignAnnotation", "warning", "another")]);
    expect(summaries(lines)).to.deep.equal([
      "error finding ForeignAnnotation",
      "warn finding ForeignAnnotation",
    ]);
  });

  it("nothing is logged after stop", async () => {
    const { lines, clock, report, stop } = setUp();
    report([finding("NoEndpoints", "warning")]);
    stop();
    await clock.advance(ten);
    expect(lines).to.deep.equal([]);
  });

  it("a hundred findings of one object and reason are logged, followed by the number of the others", async () => {
    const { lines, report, clock } = setUp();
    const many = Array.from({ length: 7000 }, (_, index) => ({ ...finding("A"), field: `spec[${index}]` }));
    report([...many, finding("B")]);
    await clock.advance(ten);
    expect(lines).to.have.length(102);
    expect(lines.at(-1)?.message).to.equal("more findings of this kind");
    expect(lines.at(-1)?.fields).to.deep.equal({ reason: "A", object: "Ingress ns/a", findings: 6900 });
    report([finding("B")]);
    expect(lines.slice(102).map(({ message }) => message)).to.deep.equal(
      Array.from({ length: 100 }, () => "finding resolved"),
    );
    report([finding("A"), finding("B")]);
    expect(summaries(lines).at(-1)).to.equal("warn finding A");
  });

  it("findings that follow each other at one field count once towards the limit", () => {
    const { lines, report } = setUp();
    for (let index = 0; index < 300; index++) report([finding("A", "error", `wrong ${index}`)]);
    expect(lines).to.have.length(300);
  });
});
