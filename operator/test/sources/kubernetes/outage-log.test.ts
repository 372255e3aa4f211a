import { silentLogger, type LogFields, type Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import { createOutageLog } from "../../../src/sources/kubernetes/outage-log.ts";

describe("createOutageLog", () => {
  it("tells the beginning and the end of an outage, and whispers in between", () => {
    const lines: string[] = [];
    const at = (level: string) => (fields: LogFields, message: string) =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
    const log: Logger = { ...silentLogger, warn: at("warn"), info: at("info"), debug: at("debug") };
    const outage = createOutageLog(log, "watch", { kind: "Ingress" });
    outage.works();
    outage.failed({ error: "a" });
    outage.failed({ error: "b" });
    outage.works();
    outage.works();
    expect(lines).to.deep.equal([
      'warn watch fails {"kind":"Ingress","error":"a"}',
      'debug watch fails {"kind":"Ingress","error":"b"}',
      'info watch works again {"kind":"Ingress","failures":2}',
    ]);
  });
});
