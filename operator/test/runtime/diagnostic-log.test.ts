import { silentLogger, type LogFields, type Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import { createDiagnosticLog } from "../../src/runtime/diagnostic-log.ts";
import type { Diagnostic } from "../../src/translate/translation.ts";

const finding = (reason: string, severity: Diagnostic["severity"] = "error"): Diagnostic => ({
  object: { kind: "Ingress", namespace: "ns", name: "a" },
  severity,
  reason,
  field: "spec",
  message: "wrong",
});

function setUp() {
  const lines: { readonly level: string; readonly fields: LogFields }[] = [];
  const at = (level: string) => (fields: LogFields) => void lines.push({ level, fields });
  const log: Logger = { ...silentLogger, warn: at("warn"), debug: at("debug") };
  return { lines, report: createDiagnosticLog(log) };
}

describe("createDiagnosticLog", () => {
  it("tells a finding once while it lasts, and again after it was gone", () => {
    const { lines, report } = setUp();
    report([finding("A")]);
    report([finding("A"), finding("B")]);
    report([finding("B"), finding("B")]);
    report([finding("A"), finding("B")]);
    expect(lines.map(({ fields }) => fields["reason"])).to.deep.equal(["A", "B", "A"]);
    expect(lines[0]).to.deep.equal({
      level: "warn",
      fields: { reason: "A", object: "Ingress ns/a", field: "spec", detail: "wrong" },
    });
  });

  it("leaves what is merely good to know to the debug level", () => {
    const { lines, report } = setUp();
    report([finding("A", "info"), finding("B", "warning")]);
    expect(lines.map(({ level }) => level)).to.deep.equal(["debug", "warn"]);
  });
});
