import { expect } from "chai";
import { hostPortsOf, localPortsOf } from "../../src/admin/local-ports.ts";

const management = { managementBindAddress: "0.0.0.0", adminPort: 8082, healthPort: 8081 };
const interfaces = (): readonly string[] => ["127.0.0.1", "10.0.0.5"];

describe("the ports of the process itself", () => {
  it("ports that are bound everywhere count at every address of the host", () => {
    expect(localPortsOf(management)).to.deep.equal([8081, 8082]);
    expect(hostPortsOf(management, interfaces)).to.deep.equal([
      { host: "10.0.0.5", ports: [8081, 8082] },
      { host: "127.0.0.1", ports: [8081, 8082] },
    ]);
  });

  it("the port of the console counts where it is bound, and only while there is a console", () => {
    const bound = { ...management, adminUiBindAddress: "127.0.0.1", adminUiPort: 8083 };
    expect(localPortsOf({ ...bound, adminUi: false })).to.deep.equal([8081, 8082]);
    expect(localPortsOf({ ...bound, adminUi: true })).to.deep.equal([8081, 8082, 8083]);
    expect(hostPortsOf({ ...bound, adminUi: true }, interfaces)).to.deep.equal([
      { host: "10.0.0.5", ports: [8081, 8082] },
      { host: "127.0.0.1", ports: [8081, 8082, 8083] },
    ]);
  });

  it("a free port that is not known yet, and ports on other addresses, are left out", () => {
    const elsewhere = { ...management, managementBindAddress: "10.0.0.5", healthPort: 0 };
    expect(localPortsOf(elsewhere)).to.deep.equal([]);
    expect(hostPortsOf(elsewhere, interfaces)).to.deep.equal([{ host: "10.0.0.5", ports: [8082] }]);
  });
});
