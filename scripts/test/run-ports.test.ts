import { expect } from "chai";
import { describeRunPorts, portsOfRun } from "../run-ports.ts";

describe("the ports that make run prints", () => {
  it("the ports that make run prints are the defaults", () => {
    expect(portsOfRun("folder", {})).to.deep.equal({
      http: 8080,
      https: 8443,
      admin: 8082,
      health: 8081,
      management: "127.0.0.1",
    });
  });

  it("the ports that make run prints follow its variables", () => {
    const env = {
      SVC_PORT_MAP: "80=18080",
      SVC_INGRESS_HTTPS_PORT: "8444",
      SVC_ADMIN_PORT: "0",
      SVC_HEALTH_PORT: "9001",
      SVC_MANAGEMENT_BIND_ADDRESS: "127.0.0.2",
    };
    const ports = portsOfRun("folder", env);
    expect(ports).to.deep.equal({
      http: 18_080,
      https: 8444,
      admin: undefined,
      health: 9001,
      management: "127.0.0.2",
    });
    expect(ports && describeRunPorts(ports)).to.equal("on ports 18080 (HTTP) and 8444 (HTTPS)");
  });

  it("the output of make run refers to the log for free ports, and prints none with invalid variables", () => {
    const ports = portsOfRun("folder", { SVC_PORT_MAP: "80=0,443=0" });
    expect(ports && describeRunPorts(ports)).to.equal('on the ports of the log, "listener added"');
    expect(portsOfRun("folder", { SVC_PORT_MAP: "nonsense" })).to.equal(undefined);
  });
});
