import { expect } from "chai";
import { describeBindFailure } from "../../src/listeners/bind-failure.ts";

describe("describeBindFailure", () => {
  it("a bind failure is described with its cause, and with the remedy where one is known", async () => {
    const describeCode = (code: string): Promise<string> =>
      describeBindFailure({ port: 1, address: "192.0.2.1", code }, "tcp");
    expect(await describeCode("EADDRINUSE")).to.equal("Port 1 is taken by another process");
    expect(await describeCode("EACCES")).to.equal(
      "Port 1 is reserved for privileged users: --port-map can move the listener to another one",
    );
    expect(await describeCode("EADDRNOTAVAIL")).to.equal("This machine does not have the address 192.0.2.1");
    expect(await describeCode("EMFILE")).to.equal("Port 1 cannot be bound on 192.0.2.1 (EMFILE)");
  });
});
