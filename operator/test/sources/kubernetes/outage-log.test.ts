import { expect } from "chai";
import { fakeLog } from "../../../../common/test/telemetry/fake-log.ts";
import { createOutageLog } from "../../../src/sources/kubernetes/outage-log.ts";

function setUp() {
  const log = fakeLog();
  const outage = createOutageLog(log, "watch", { kind: "Ingress" });
  const lines = (): readonly string[] =>
    log.lines.map(({ level, message, fields }) => `${level} ${message} ${JSON.stringify(fields)}`);
  return { outage, lines };
}

describe("createOutageLog", () => {
  it("an outage is logged after the second failure and its recovery at info, retries in between at debug", () => {
    const { outage, lines } = setUp();
    outage.works();
    for (const error of ["a", "b", "c"]) outage.failed({ error });
    outage.works();
    outage.works();
    expect(lines()).to.deep.equal([
      'debug watch fails {"kind":"Ingress","error":"a"}',
      'warn watch fails {"kind":"Ingress","error":"b"}',
      'debug watch fails {"kind":"Ingress","error":"c"}',
      'info watch works again {"kind":"Ingress","failures":3}',
    ]);
  });

  it("a single failure that the next try recovers from is logged at debug only", () => {
    const { outage, lines } = setUp();
    outage.failed({ error: "cut" });
    outage.works();
    outage.failed({ error: "cut" });
    outage.works();
    expect(lines()).to.deep.equal([
      'debug watch fails {"kind":"Ingress","error":"cut"}',
      'debug watch fails {"kind":"Ingress","error":"cut"}',
    ]);
  });
});
