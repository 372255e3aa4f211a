import { silentLogger, type Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { ManifestProblem } from "@svc-gateway/operator/sources/files/place.ts";
import type { Diagnostic } from "@svc-gateway/operator/translate/finding.ts";
import { expect } from "chai";
import { createFindingsLog } from "../../src/standalone/findings-log.ts";

const diagnostic = (name: string): Diagnostic => ({
  object: { kind: "Ingress", namespace: "default", name },
  severity: "error",
  reason: "ServiceNotFound",
  field: "spec.rules[0]",
  message: "Service default/x does not exist",
});

const problem: ManifestProblem = {
  severity: "warning",
  reason: "IgnoredField",
  file: "a.yaml",
  line: 3,
  column: 5,
  message: "spec.x: unknown field",
};

describe("createFindingsLog", () => {
  let lines: { level: string; fields: Readonly<Record<string, unknown>> }[];
  let findings: { report(problems: readonly ManifestProblem[], found: readonly Diagnostic[]): void };
  let line: number;
  beforeEach(() => {
    lines = [];
    line = 12;
    const write =
      (level: string) =>
      (fields: Readonly<Record<string, unknown>>): void =>
        void lines.push({ level, fields });
    const log: Logger = { ...silentLogger, error: write("error"), warn: write("warn"), info: write("info") };
    const ofLog = createFindingsLog(log);
    findings = {
      report: (problems, found) =>
        ofLog.report(problems, found, ({ name }) =>
          name === "elsewhere" ? undefined : { file: "b.yaml", line, column: 1 },
        ),
    };
  });

  it("a finding is logged once with object, field and place, as a warning for invalid declarations", () => {
    findings.report([problem], [diagnostic("web")]);
    findings.report([problem], [diagnostic("web"), diagnostic("web")]);
    expect(lines).to.deep.equal([
      {
        level: "warn",
        fields: {
          event: "manifest_finding",
          reason: "IgnoredField",
          file: "a.yaml",
          line: 3,
          column: 5,
          detail: "spec.x: unknown field",
        },
      },
      {
        level: "warn",
        fields: {
          event: "manifest_finding",
          reason: "ServiceNotFound",
          object: "Ingress default/web",
          field: "spec.rules[0]",
          detail: "Service default/x does not exist",
          file: "b.yaml",
          line: 12,
          column: 1,
        },
      },
    ]);
  });

  it("a finding has the place of its object and is not logged again when the object moves in its file", () => {
    findings.report([], [diagnostic("web"), diagnostic("elsewhere")]);
    line = 40;
    findings.report([], [diagnostic("web"), diagnostic("elsewhere")]);
    expect(lines.map(({ fields }) => [fields["file"], fields["line"], fields["column"]])).to.deep.equal([
      ["b.yaml", 12, 1],
      [undefined, undefined, undefined],
    ]);
  });

  it("findings about unprotected traffic and unusable manifests are logged as errors", () => {
    findings.report(
      [{ ...problem, severity: "error", reason: "InvalidYaml" }],
      [
        { ...diagnostic("web"), reason: "CleartextFallback" },
        { ...diagnostic("web"), reason: "ForeignAnnotation" },
        { ...diagnostic("web"), reason: "ForeignAnnotation", severity: "warning" },
      ],
    );
    expect(lines.map(({ level }) => level)).to.deep.equal(["error", "error", "error", "warn"]);
  });

  it("the number of resolved findings is logged, and a finding that returns is logged again", () => {
    findings.report([], [diagnostic("a"), diagnostic("b")]);
    lines = [];
    findings.report([], [diagnostic("a")]);
    expect(lines).to.deep.equal([{ level: "info", fields: { event: "findings_gone", gone: 1, left: 1 } }]);
    lines = [];
    findings.report([], [diagnostic("a"), diagnostic("b")]);
    expect(lines.map(({ fields }) => fields["object"])).to.deep.equal(["Ingress default/b"]);
  });
});
